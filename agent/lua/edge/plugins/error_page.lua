-- Hop B: the site's error page, or the operator's, in place of an origin's error, or ours. Origin errors that programs
-- read are not replaced: those of methods other than GET and HEAD, and JSON. Fails open: the response stays unchanged.
local error_pages = require("edge.error_pages")
local settings = require("edge.core.settings")
local decision = require("edge.simulate.decision")
local find, lower = string.find, string.lower
local header, var, ipairs = ngx.header, ngx.var, ipairs

-- After the cache plugin, which may close so that a stale response serves, and after our own page.
local _M = { name = "errorPage", priority = 850 }
local READ = { GET = true, HEAD = true }
-- Fields that describe the replaced body or control the cache.
local GONE = {
    "Content-Encoding", "Content-Language", "Content-Disposition", "Content-Range", "Accept-Ranges", "ETag",
    "Last-Modified", "Expires", "Location", "Refresh", "Content-Security-Policy",
    "X-E-V", "X-E-Birth", "X-E-Recipe", "X-E-Hide", "X-E-Browser", "X-E-Tags", "X-E-Length", "Cache-Control", "Vary",
}

-- A media type like application/json or application/problem+json.
local JSON = "[/+]json%f[^%w]"

-- A browser that navigates accepts HTML, too.
local function prefers_json()
    local accept = lower(var.http_accept or "")
    return find(accept, JSON) and not find(accept, "text/html", 1, true)
end

-- Whether the page replaces this error: always our own, and an origin's unless a program reads it.
local function replaces(page, request)
    if ngx.ctx.page then
        return true
    end
    if page.edgeOnly or not READ[request.method] or find(lower(header["Content-Type"] or ""), "^[^;]*" .. JSON) then
        return false
    end
    if prefers_json() then
        -- The next visitor may get the page.
        header["X-Accel-Expires"] = "0"
        return false
    end
    return true
end

function _M.origin_header(site, request)
    -- A relay leaves this to the edge node.
    if ngx.status < 400 or settings.relay or (var.http_x_e_slice or "") ~= "" then
        return nil
    end
    local page, is_sites_page = error_pages.find(site, ngx.status, request.name, request.path)
    if not page or not replaces(page, request) then
        return nil
    end
    for _, name in ipairs(GONE) do
        header[name] = nil
    end
    request.error_page, request.is_sites_error_page = page, is_sites_page
    local body = error_pages.dress(page)
    ngx.ctx.page = body
    header["Content-Length"] = #body
    header["X-E-CC"] = "no-store"
    header["X-Accel-Expires"] = "0"
end

_M.explain = {}
function _M.explain.origin_header(outcome)
    local site, request = outcome.site, outcome.request
    local page = request.error_page
    if not page then
        return site.errorPages and "noRule" or "unused"
    end
    local detail = { status = page.code, target = page.redirect and page.redirect.url }
    if not request.is_sites_error_page then
        return "answered", detail
    end
    return "applied", detail, decision.rule("errorPage", "" .. page.code)
end
return _M
