-- Custom error pages: the site's, else the operator's.
local docs = require("edge.core.docs")
local memo = require("edge.core.memo")
local header, ipairs = ngx.header, ipairs

local DEFAULTS = "errorPages"

local _M = {}

local by_code = memo(function(pages)
    local map = {}
    for _, page in ipairs(pages) do
        map[page.code] = page
    end
    return map
end)

local function page_of_operator(status)
    local defaults = docs.get(DEFAULTS)
    return defaults and by_code(defaults.doc.pages)[status]
end

function _M.has_any(site)
    return site.errorPages ~= nil or docs.get(DEFAULTS) ~= nil
end

-- `site`: may be nil. Returns nil where there is none. The redirect target of an error page shows no error page, or
-- visitors would loop.
function _M.find(site, status, name, path)
    local page = site and site.errorPages and by_code(site.errorPages)[status] or page_of_operator(status)
    local redirect = page and page.redirect
    if redirect and redirect.host == name and redirect.path == path then
        return nil
    end
    return page
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
