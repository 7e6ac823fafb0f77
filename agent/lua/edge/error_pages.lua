-- Custom error pages: the site's, else the operator's.
local docs = require("edge.core.docs")
local memo = require("edge.core.memo")
local header, ipairs = ngx.header, ipairs

local DEFAULTS = "errorPages"
-- The installation of nodes requests this name and expects 903 (PROBE_NAME in apps/api/src/install/scripts.ts).
local PROBE_NAME = "probe.edgeloom.invalid"

local _M = {}

local by_code = memo(function(pages)
    local map = {}
    for _, page in ipairs(pages) do
        map[page.code] = page
    end
    return map
end)

local function page_of_site(site, status)
    return site and site.errorPages and by_code(site.errorPages)[status]
end

local function page_of_operator(status, name)
    local defaults = name ~= PROBE_NAME and docs.get(DEFAULTS)
    return defaults and by_code(defaults.doc.pages)[status] or nil
end

-- `site`: may be nil. Returns nil where there is none, else the page and whether it is the site's. The target of a
-- redirect shows no error page, or visitors would loop.
function _M.find(site, status, name, path)
    local sites_page = page_of_site(site, status)
    local page = sites_page or page_of_operator(status, name)
    local redirect = page and page.redirect
    if redirect and redirect.host == name and redirect.path == path then
        return nil
    end
    return page, sites_page ~= nil
end

-- Returns the body. Sets status, content type and policy of the response.
function _M.dress(page)
    header["Content-Type"] = "text/html; charset=utf-8"
    if page.redirect then
        ngx.status = 302
        header["Location"] = page.redirect.url
        return ""
    end
    header["Content-Security-Policy"] = page.csp
    return page.html
end
return _M
