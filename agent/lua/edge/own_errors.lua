-- Hop A: pages for errors that nginx generates before or instead of our plugins.
local docs = require("edge.core.docs")
local error_pages = require("edge.error_pages")
local pages = require("edge.pages")
local requests = require("edge.core.request")
local header, var, match = ngx.header, ngx.var, string.match

local _M = {}
-- Fields of the replaced cached response, and fields that nginx adds again.
local GONE = {
    "Content-Encoding", "Content-Disposition", "Content-Language", "ETag", "Last-Modified", "Expires", "Cache-Control",
    "Vary", "X-Request-Id", "Alt-Svc", "Strict-Transport-Security", "Set-Cookie",
}

-- See error_page in listeners.conf.
local UNREADABLE = "//unreadable"

-- Otherwise the access log would contain the error page's location.
local function log_what_was_asked()
    local path = match(var.request_uri or "", "^/[^?%c]*")
    pcall(ngx.req.set_uri, path or "/")
    ngx.req.set_uri_args("")
end

local function page_of_site(status)
    docs.sync()
    local name = var.host
    local host = requests.host(name)
    local site = host and docs.get("site/" .. host.doc.siteID)
    return site and error_pages.find(site.doc, status, name, match(var.request_uri or "", "^[^?]*"))
end

function _M.send()
    local status = ngx.status
    for i = 1, #GONE do
        header[GONE[i]] = nil
    end
    var.e_cache_control = ""
    local kind = var.uri == UNREADABLE and tonumber(var.args) or nil
    if var.uri == UNREADABLE then
        log_what_was_asked()
    end
    return pages.send(status, var.request_id, page_of_site(status), kind)
end

-- Part of a response that has begun: it is aborted, so that the visitor notices.
function _M.send_for_slice()
    if ngx.is_subrequest then
        return ngx.exit(ngx.ERROR)
    end
    return _M.send()
end
return _M
