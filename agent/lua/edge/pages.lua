-- The edge's built-in pages.
local error_pages = require("edge.error_pages")

local _M = {}
local texts = {
    [400] = { "Bad Request", "The request cannot be read." },
    [402] = { "Payment Required", "The owner of this site asks crawlers to pay for access." },
    [403] = { "Forbidden", "The owner of this site does not allow this request." },
    [405] = { "Method Not Allowed", "This method is not served here." },
    [411] = { "Length Required", "The request has a body of unknown length." },
    [412] = { "Precondition Failed", "A condition of the request does not hold." },
    [413] = { "Content Too Large", "The body of the request is larger than this site takes." },
    [414] = { "URI Too Long", "The address of the request is too long." },
    [415] = { "Unsupported Media Type", "The body of the request is of a type that is not taken here." },
    [416] = { "Range Not Satisfiable", "The file does not have the part that was asked for." },
    [421] = { "Misdirected Request", "This connection is for another name. Please try again on a new one." },
    [429] = { "Too Many Requests", "Too many requests came from this address. Please try again in a moment." },
    [494] = { "Bad Request", "The header or a cookie of the request is too long." },
    [495] = { "Bad Request", "The certificate of the visitor is not valid." },
    [496] = { "Bad Request", "The visitor showed no certificate." },
    [497] = { "Bad Request", "This port answers HTTPS only." },
    [500] = { "Internal Server Error", "The request could not be answered." },
    [501] = { "Not Implemented", "The request asks for what is not served here." },
    [502] = { "Bad Gateway", "The origin of this site does not answer." },
    [503] = { "Service Unavailable", "This site cannot be served right now. Please try again in a moment." },
    [504] = { "Gateway Timeout", "The origin of this site takes too long to answer." },
    [505] = { "HTTP Version Not Supported", "This version of HTTP is not served here." },
    [508] = { "Loop Detected", "The origin of this site leads back to this network." },
    [929] = { "Access Limited", "The owner of this site limits access to it. Please try again in a moment." },
    [903] = { "Unknown Domain", "No site of this name is served here." },
    [904] = { "Site Out Of Service", "This site is currently not in service." },
}
local form = [[<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="robots" content="noindex"><title>%d %s</title></head>
<body><h1>%d %s</h1><p>%s</p><p>Request %s</p></body></html>
]]

-- The body of a page. Sets its content type. `id`: created by us, so nothing of the request is shown. `kind`: nginx's
-- internal status.
function _M.prepare(status, id, kind)
    local text = texts[kind or status] or texts[503]
    ngx.header["Content-Type"] = "text/html; charset=utf-8"
    return form:format(status, text[1], status, text[1], text[2], id)
end

-- A text file. Its content type and validators are set by the caller.
local function send_file(status, text)
    ngx.status = status
    ngx.print(text)
    return ngx.exit(ngx.OK)
end

-- A plain text for programs.
function _M.say(text)
    ngx.header["Content-Type"] = "text/plain"
    ngx.header["Cache-Control"] = "no-store"
    ngx.print(text)
    return ngx.exit(ngx.OK)
end

local CLOSE, REFUSED = 444, 403

-- Whether this connection is a proxy's, which carries other visitors' requests. Simulated requests come by a socket.
local function is_proxied()
    local peer = ngx.var.realip_remote_addr
    return peer ~= nil and peer ~= "unix:" and peer ~= ngx.var.remote_addr
end

-- `page`: an error page of the site or the operator, which replaces the default page, or `{ file = text }`.
function _M.send(status, id, page, kind)
    if page and page.file then
        return send_file(status, page.file)
    end
    if status == CLOSE then
        if not is_proxied() then
            return ngx.exit(CLOSE)
        end
        -- A proxy that loses connections takes the node out of use for everybody.
        status = REFUSED
    end
    ngx.status = status
    ngx.header["Cache-Control"] = "no-store"
    ngx.print(page and error_pages.dress(page) or _M.prepare(status, id, kind))
    return ngx.exit(ngx.OK)
end
return _M
