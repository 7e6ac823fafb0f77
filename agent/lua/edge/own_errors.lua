-- Hop A: pages for errors that nginx generates before or instead of our plugins.
local docs = require("edge.core.docs")
local error_pages = require("edge.error_pages")
local pages = require("edge.pages")
local paths = require("edge.core.paths")
local requests = require("edge.core.request")
local header, var, match, sub = ngx.header, ngx.var, string.match, string.sub

local _M = {}
-- Fields of the replaced cached response, and fields that nginx adds again.
local GONE = {
    "Content-Encoding", "Content-Disposition", "Content-Language", "ETag", "Last-Modified", "Expires", "Cache-Control",
    "Vary", "X-Request-Id", "Alt-Svc", "Strict-Transport-Security", "Set-Cookie",
}

-- See error_page in listeners.conf.
local UNREADABLE = "//unreadable"

local LONGEST_METHOD, LONGEST_PATH = 32, 2048

-- Otherwise the access log would contain GET and the error page's location. nginx keeps a line that it could not parse.
-- An HTTP/2 request that is refused early has no line: its method is unknown.
local function log_what_was_asked()
    local line = var.request or ""
    local path = match(var.request_uri or "", "^/[^?%c]*") or match(line, "^%S+ (/[^?%s%c]*)")
    var.e_method = sub(match(line, "^([%a_-]+) ") or "", 1, LONGEST_METHOD)
    pcall(ngx.req.set_uri, sub(path or "/", 1, LONGEST_PATH))
    ngx.req.set_uri_args("")
end

-- Attributes a request to the site of its name if nginx refused it before our plugins ran.
local function log_site(host, site)
    if var.e_site == "" then
        var.e_site, var.e_domain = site.id, host.domainID
        var.e_mask = site.logMask or ""
    end
end

local function custom_page(status)
    docs.sync()
    local name = var.host
    local host = requests.host(name)
    local site = host and docs.get("site/" .. host.doc.siteID)
    if site then
        log_site(host.doc, site.doc)
    end
    return error_pages.find(site and site.doc, status, name, paths.without_query(var.request_uri or ""))
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
    return pages.send(status, var.request_id, custom_page(status), kind)
end

-- Part of a response that has begun: it is aborted, so that the visitor notices. The visitor did not leave (log.conf).
function _M.send_for_slice()
    if ngx.is_subrequest then
        var.e_completion = "OK"
        return ngx.exit(ngx.ERROR)
    end
    return _M.send()
end
return _M
