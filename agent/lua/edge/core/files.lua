-- Reads a document file: a header line `edgeloom 1 <revision> <crc32> <bytes>`, then the body. Returns body and
-- revision, or nil and "absent", or nil, "corrupt" and the reason.
local settings = require("edge.core.settings")
local open, find, sub, md5, crc32 = io.open, string.find, string.sub, ngx.md5, ngx.crc32_long
local tonumber = tonumber

local _M = {}

function _M.path(key)
    local slash = find(key, "/", 1, true)
    if not slash then
        return settings.dir .. "/docs/" .. key
    end
    local name = sub(key, slash + 1)
    return settings.dir .. "/docs/" .. sub(key, 1, slash) .. sub(md5(name), 1, 2) .. "/" .. name
end

function _M.read(key)
    local file = open(_M.path(key), "rb")
    if not file then
        return nil, "absent"
    end
    local text, err = file:read("*a")
    file:close()
    if not text then
        return nil, "corrupt", err
    end
    local _, last, revision, sum, length = find(text, "^edgeloom 1 (%d+) (%x%x%x%x%x%x%x%x) (%d+)\n")
    if not last then
        return nil, "corrupt", "no header"
    end
    if #text - last ~= tonumber(length) then
        return nil, "corrupt", "length"
    end
    local body = sub(text, last + 1)
    if crc32(body) ~= tonumber(sum, 16) then
        return nil, "corrupt", "checksum"
    end
    return body, tonumber(revision)
end
return _M
