-- Whether the cache's disk has room. nginx breaks off responses that it stores to a full disk, so nothing is stored
-- below the reserve. Storing resumes at twice the reserve, which is nginx's `min_free`, so the state does not flicker.
-- All workers share it.
local ffi = require("ffi")
local dict = require("edge.core.dicts").changes
local settings = require("edge.core.settings")
local now = ngx.now

ffi.cdef "int statvfs(const char *path, void *buffer);"
-- struct statvfs of 64-bit Linux begins with 14 numbers of 8 bytes.
local buffer = ffi.new("uint64_t[32]")
local FRAGMENT_BYTES, AVAILABLE = 1, 4
local LOOK_EVERY_SECONDS = 0.05
local KEY = "disk_full"

local _M = { is_full = false }
local looked_at, free = 0, math.huge

function _M.look()
    local reserve = settings.cache_reserve
    if not reserve or ffi.C.statvfs(settings.dir .. "/cache/objects", buffer) ~= 0 then
        return
    end
    looked_at = now()
    free = tonumber(buffer[FRAGMENT_BYTES] * buffer[AVAILABLE])
    if free < reserve and not _M.is_full then
        dict:set(KEY, true)
    elseif free >= 2 * reserve then
        dict:delete(KEY)
    end
    _M.is_full = dict:get(KEY) == true
end

-- Whether a body of this size may be stored. nil: unknown size.
function _M.has_room_for(bytes)
    local reserve = settings.cache_reserve
    if not reserve then
        return true
    end
    if now() - looked_at > LOOK_EVERY_SECONDS then
        _M.look()
    end
    return not _M.is_full and free - (bytes or 0) >= reserve
end
return _M
