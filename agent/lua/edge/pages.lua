-- The few pages that the edge itself answers.
local _M = {}
local texts = {
    [502] = { "Bad Gateway", "The origin of this site does not answer." },
    [503] = { "Service Unavailable", "This site cannot be served right now. Please try again in a moment." },
    [504] = { "Gateway Timeout", "The origin of this site takes too long to answer." },
    [903] = { "Unknown Domain", "No site of this name is served here." },
    [904] = { "Site Out Of Service", "This site is currently not in service." },
}
local form = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><title>%d %s</title></head>
<body><h1>%d %s</h1><p>%s</p><p>Request %s</p></body></html>
]]

function _M.send(status)
    local text = texts[status] or texts[503]
    ngx.status = status
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    ngx.header["Cache-Control"] = "no-store"
    -- The id is hexadecimal and made here: nothing of the request is shown.
    local id = ngx.var.http_x_request_id
    if not ngx.var.http_x_e_at then
        id = ngx.var.request_id
    end
    ngx.print(form:format(status, text[1], status, text[1], text[2], id or ""))
    return ngx.exit(ngx.OK)
end
return _M
