-- Deletes the files of a URL. The version (urls.lua) already makes them unreachable, but a restart loses versions.
local keys = require("edge.cache.keys")
local settings = require("edge.core.settings")
local stored = require("edge.cache.stored")

local _M = {}
local ENCODINGS = { "", "b", "g", "bg" }

-- Returns the number of files of the URL under this version.
function _M.url(site, host, url, version)
    local prefix, count = keys.prefix(site, host, keys.target(url)), 0
    for _, port in ipairs(settings.ports) do
        local at = (port.tls and "https:" or "http:") .. port.port
        for _, encoding in ipairs(ENCODINGS) do
            if stored.remove(stored.path(keys.key(prefix, at, encoding, version, url))) then
                count = count + 1
            end
        end
    end
    return count
end
return _M
