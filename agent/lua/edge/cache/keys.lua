-- The name of a stored object: `<site>.<versions>|<scheme>:<port>|<encodings>|<version of the URL>|<URL>`.
-- The URL is the host and what the rule leaves of path and query. It stands last: it alone may hold a bar. Where cookies
-- tell objects apart, `~` and a mark of them stand behind the encodings. They and pieces of a file (nginx adds the range
-- to the key) are not taken from the disk one by one: a purged URL's version makes them unreachable, and marks of
-- cookies do not outlive the dictionaries.
local rules = require("edge.cache.rules")
local urls = require("edge.cache.urls")
local find, sub = string.find, string.sub

local _M = {}

function _M.url(name, rule, uri)
    return name .. rules.key_uri(rule, uri)
end

-- What is the same for all objects of a host.
function _M.prefix(site, host)
    return site.id .. "." .. site.cacheVersion .. "." .. urls.site_moves(site.id) .. "." .. host.cacheVersion
end

function _M.key(prefix, at, encoding, version, url)
    return prefix .. "|" .. at .. "|" .. encoding .. "|" .. version .. "|" .. url
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
