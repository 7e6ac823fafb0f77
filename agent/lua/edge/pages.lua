-- The few pages that the edge itself answers.
local error_pages = require("edge.error_pages")

local _M = {}
local texts = {
    [403] = { "Forbidden", "The owner of this site does not allow this request." },
    [502] = { "Bad Gateway", "The origin of this site does not answer." },
    [503] = { "Service Unavailable", "This site cannot be served right now. Please try again in a moment." },
    [504] = { "Gateway Timeout", "The origin of this site takes too long to answer." },
    [508] = { "Loop Detected", "The origin of this site leads back to this network." },
    [903] = { "Unknown Domain", "No site of this name is served here." },
    [904] = { "Site Out Of Service", "This site is currently not in service." },
}
local form = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><title>%d %s</title></head>
<body><h1>%d %s</h1><p>%s</p><p>Request %s</p></body></html>
]]

-- The body of a page; sets its type. `id`: made by us, so nothing of the request is shown.
function _M.prepare(status, id)
    local text = texts[status] or texts[503]
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    return form:format(status, text[1], status, text[1], text[2], id)
end

-- A plain text that is meant for a machine.
function _M.say(text)
    ngx.header["Content-Type"] = "text/plain"
    ngx.header["Cache-Control"] = "no-store"
    ngx.print(text)
    return ngx.exit(ngx.OK)
end

local CLOSE = 444

-- `page`: the owner's, in place of ours.
function _M.send(status, id, page)
    if status == CLOSE then
        return ngx.exit(CLOSE)
    end
    ngx.status = status
    ngx.header["Cache-Control"] = "no-store"
    ngx.print(page and error_pages.dress(page) or _M.prepare(status, id))
    return ngx.exit(ngx.OK)
end
return _M
