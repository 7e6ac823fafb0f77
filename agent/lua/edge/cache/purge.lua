-- Removes single URLs from the cache, in every scheme, port, encoding and variant.
local keys = require("edge.cache.keys")
local requests = require("edge.core.request")
local rules = require("edge.cache.rules")
local site_generation = require("edge.cache.site_generation")
local unlink = require("edge.cache.unlink")
local urls = require("edge.cache.urls")
local docs = require("edge.core.docs")
local paths = require("edge.core.paths")
local match, lower, gsub = string.match, string.lower, string.gsub

local _M = {}

-- The site and the stored URL of a text. nil where this node serves no such site.
local function find(text)
    local host, uri = match(text, "^%a[%w+.-]*://([^/?#]+)([^#]*)")
    if not host then
        return nil
    end
    local name = gsub(gsub(lower(host), ":%d+$", ""), "%.$", "")
    uri = match(uri, "^/") and uri or "/" .. uri
    local entry = requests.host(name)
    local site = entry and docs.get("site/" .. entry.doc.siteID)
    if not site then
        return nil
    end
    local path = ngx.unescape_uri(paths.without_query(uri))
    return site.doc, entry.doc, keys.url(name, rules.find(site.doc, path), uri)
end

-- Returns the number of deleted files. Unknown hosts have none.
function _M.url(text)
    local site, host, url = find(text)
    if not site then
        return 0
    end
    local before = urls.version(url, site_generation.of(site.id)) or ""
    urls.set_lasting_version(site.id, url, urls.new_token())
    local count = unlink.url(site, host, url, before)
    if before ~= "" then
        count = count + unlink.url(site, host, url, "")
    end
    return count
end

-- The object stays and is revalidated by the next request. Slices are not found any more (lookup.lua).
function _M.soft_url(text)
    local site, _, url = find(text)
    if site then
        ngx.update_time()
        urls.soften(site.id, url, ngx.now() * 1000)
    end
end
return _M
