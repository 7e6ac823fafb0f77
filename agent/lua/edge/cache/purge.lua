-- Takes single URLs out of the store, in every scheme, port, encoding and variant, at once and for good.
local keys = require("edge.cache.keys")
local requests = require("edge.core.request")
local rules = require("edge.cache.rules")
local unlink = require("edge.cache.unlink")
local urls = require("edge.cache.urls")
local docs = require("edge.core.docs")
local match, lower, gsub = string.match, string.lower, string.gsub

local _M = {}

-- How many files went. A URL of a host that is not here has none.
function _M.url(text)
    local host, uri = match(text, "^%a[%w+.-]*://([^/?#]+)([^#]*)")
    if not host then
        return 0
    end
    local name = gsub(gsub(lower(host), ":%d+$", ""), "%.$", "")
    uri = match(uri, "^/") and uri or "/" .. uri
    local entry = requests.host(name)
    local site = entry and docs.get("site/" .. entry.doc.siteID)
    if not site then
        return 0
    end
    local path = ngx.unescape_uri((gsub(uri, "%?.*", "")))
    local url = keys.url(name, rules.find(site.doc, path), uri)
    local before = urls.version(url) or ""
    urls.set_lasting_version(site.doc.id, url, urls.new_token())
    local count = unlink.url(site.doc, entry.doc, url, before)
    if before ~= "" then
        count = count + unlink.url(site.doc, entry.doc, url, "")
    end
    return count
end
return _M
