-- Takes the files of a URL from the disk. That it cannot be reached any more is the version's work (urls.lua); the file
-- must go because a restart forgets versions.
local keys = require("edge.cache.keys")
local settings = require("edge.core.settings")
local md5, sub, remove = ngx.md5, string.sub, os.remove

local _M = {}
local ENCODINGS = { "", "b", "g", "bg" }

local function file_of(key)
    local hash = md5(key)
    return settings.dir .. "/cache/objects/" .. sub(hash, 32) .. "/" .. sub(hash, 30, 31) .. "/" .. hash
end

-- How many files of the URL under that version there were.
function _M.url(site, host, url, version)
    local prefix, count = keys.prefix(site, host), 0
    for _, port in ipairs(settings.ports) do
        local at = (port.tls and "https:" or "http:") .. port.port
        for _, encoding in ipairs(ENCODINGS) do
            if remove(file_of(keys.key(prefix, at, encoding, version, url))) then
                count = count + 1
            end
        end
    end
    return count
end
return _M
