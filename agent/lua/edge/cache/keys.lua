-- The name of a stored object: `<site>.<versions>|<scheme>:<port>|<encodings>|<version of the URL>|<URL>`.
-- The URL is the host and what the rule leaves of path and query. It stands last: it alone may hold a bar. Where cookies
-- tell objects apart, `~` and a mark of them stand behind the encodings. They and pieces of a file (nginx adds the range
-- to the key) are not taken from the disk one by one: a purged URL's version makes them unreachable, and marks of
-- cookies do not outlive the dictionaries.
local marks = require("edge.cache.marks")
local rules = require("edge.cache.rules")
local urls = require("edge.cache.urls")
local find, match, sub, unescape_uri = string.find, string.match, string.sub, ngx.unescape_uri

local _M = {}

function _M.url(name, rule, uri)
    return name .. rules.key_uri(rule, uri)
end

-- What purges by prefix compare: host and path, without escapes and query.
function _M.target(url)
    return unescape_uri((match(url, "^[^?]*")))
end

-- What is the same for all objects of a host that no purge tells apart. `marked`: what marks.of says of the target.
function _M.prefix(site, host, target, marked)
    marked = marked or marks.of(site.id, target)
    local prefix = site.id .. "." .. site.cacheVersion .. "." .. urls.site_moves(site.id) .. "." .. host.cacheVersion
    return marked and marked.version ~= "" and prefix .. "." .. marked.version or prefix
end

function _M.key(prefix, at, encoding, version, url)
    return prefix .. "|" .. at .. "|" .. encoding .. "|" .. version .. "|" .. url
end

-- What a decision about a URL depends on, beside the URL: the site's and the host's documents and versions. `key`: a key or
-- its prefix.
function _M.scope(request, key)
    return match(key, "^[^|]*") .. " " .. (request.site.sum or "") .. "." .. (request.host.sum or "")
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
