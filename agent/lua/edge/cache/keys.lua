-- Cache keys: `<site>.<versions>|<scheme>:<port>|<encodings>|<version of the URL>|<URL>`. The URL is host, path and
-- query after the rule, and comes last because it may contain a bar. A hash of key cookies follows the encodings as
-- `~…`, and of the ETag for slices without a rule. The time of a soft purge follows the version of slices as `~…`.
-- Objects with cookies and slices are purged by version, not by file.
local marks = require("edge.cache.marks")
local paths = require("edge.core.paths")
local rules = require("edge.cache.rules")
local site_generation = require("edge.cache.site_generation")
local find, match, sub, unescape_uri = string.find, string.match, string.sub, ngx.unescape_uri

local _M = {}

function _M.url(name, rule, uri)
    return name .. rules.key_uri(rule, uri)
end

-- Returns the text that prefix purges compare: host and decoded path without query.
function _M.target(url)
    return unescape_uri(paths.without_query(url))
end

-- The shared prefix of all keys of a host that purges do not distinguish. `marked`: from marks.of.
function _M.prefix(site, host, target, marked)
    marked = marked or marks.of(site.id, target)
    local prefix = site.id .. "." .. site.cacheVersion .. "." .. site_generation.of(site.id) .. "." .. host.cacheVersion
    return marked and marked.version ~= "" and prefix .. "." .. marked.version or prefix
end

function _M.key(prefix, at, encoding, version, url)
    return prefix .. "|" .. at .. "|" .. encoding .. "|" .. version .. "|" .. url
end

-- The documents and versions of site and host that decisions about a URL depend on. `key`: a key or its prefix.
function _M.scope(request, key)
    return match(key, "^[^|]*") .. " " .. (request.site.sum or "") .. "." .. (request.host.sum or "")
end

-- The hash of the ETag in the key of an automatic slice.
function _M.etag_hash(key)
    return match(key, "^[^|]*|[^|]*|[^|~]*~(%x+)|")
end

function _M.url_of(key)
    local at = 0
    for _ = 1, 4 do
        at = find(key, "|", at + 1, true)
        if not at then
            return nil
        end
    end
    return sub(key, at + 1)
end
return _M
