-- The pages that a site's owner puts in place of answers with certain codes.
local memo = require("edge.core.memo")
local header, ipairs = ngx.header, ipairs

local _M = {}

local by_code = memo(function(pages)
    local map = {}
    for _, page in ipairs(pages) do
        map[page.code] = page
    end
    return map
end)

-- nil where there is none. Where a page sends visitors fails as it fails: they would go round and round.
function _M.find(site, status, name, path)
    local page = site.errorPages and by_code(site.errorPages)[status]
    local redirect = page and page.redirect
    if redirect and redirect.host == name and redirect.path == path then
        return nil
    end
    return page
end

-- The body of the answer, whose status, type and policy are set here.
function _M.dress(page)
    if page.redirect then
        ngx.status = 302
        header["Location"] = page.redirect.url
        return ""
    end
    header["Content-Type"] = "text/html; charset=utf-8"
    header["Content-Security-Policy"] = page.csp
    return page.html
end
return _M
