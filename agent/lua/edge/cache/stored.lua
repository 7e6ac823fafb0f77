-- Reads a file of nginx's cache: when it was stored, its tags, and until when it is fresh. nginx reads that number each
-- time it serves the file and rewrites it in place after a 304.
local ffi = require("ffi")
local settings = require("edge.core.settings")
local tags = require("edge.cache.tags")
local open, remove, md5 = io.open, os.remove, ngx.md5
local byte, sub, match = string.byte, string.sub, string.match
local floor, min, tonumber = math.floor, math.min, tonumber

ffi.cdef [[
typedef struct {
    uint64_t version;
    int64_t valid_sec, updating_sec, error_sec, last_modified, date;
    uint32_t crc32;
    uint16_t valid_msec, header_start, body_start;
} edgeloom_stored_head;
]]
local head_of = ffi.typeof("const edgeloom_stored_head *")
local seconds = ffi.typeof("int64_t[1]")
local HEAD_BYTES = 332
-- Offsets in the header: whether there are variants, and the hash of this one.
local VARIES, VARIANT = 188, 317
-- Version of this layout, since nginx 1.11.10.
local KNOWN_VERSION = 5

local _M = {}

local function path_of(hash)
    return settings.dir .. "/cache/objects/" .. sub(hash, 32) .. "/" .. sub(hash, 30, 31) .. "/" .. hash
end

function _M.path(key)
    return path_of(md5(key))
end

local function look(path)
    local file = open(path, "rb")
    if not file then
        return nil
    end
    local bytes = file:read(HEAD_BYTES)
    if not bytes or #bytes < HEAD_BYTES then
        file:close()
        return nil
    end
    local head = ffi.cast(head_of, bytes)
    local found = { known = head.version == KNOWN_VERSION, date = 0, valid = 0, on_error_until = 0, tags = {} }
    if found.known then
        found.variant = byte(bytes, VARIES) > 0 and sub(bytes, VARIANT, VARIANT + 15) or nil
        found.date = tonumber(head.date) * 1000
        found.valid = tonumber(head.valid_sec)
        found.on_error_until = tonumber(head.valid_sec + head.error_sec)
        file:seek("set", head.header_start)
        local text = file:read(head.body_start - head.header_start)
        local field = text and match(text, "\r\n[Xx]%-[Ee]%-[Tt]ags: ([^\r\n]*)")
        if field then
            found.requested_at, found.tags = tags.read(field)
        end
        found.expires = text and match(text, "\r\n[Xx]%-[Aa]ccel%-[Ee]xpires: ([^\r\n]*)")
        found.age = text and tonumber(match(text, "\r\n[Xx]%-[Ee]%-[Bb]irth: (%d+)"))
        found.validator = text and (match(text, "\r\n[Ee][Tt][Aa][Gg]: ([^\r\n]*)")
            or match(text, "\r\n[Ll]ast%-[Mm]odified: ([^\r\n]*)"))
    end
    file:close()
    return found
end

-- The file that nginx is about to open for a key and, with variants, for a variant hash: { path, known, date, valid,
-- on_error_until, expires, requested_at, tags, validator, age }, or nil. `requested_at` and `date`: milliseconds.
-- `valid`: last second of freshness. `on_error_until`: last second of serving stale on errors. `age`: as object_age.lua
-- packs it.
function _M.find(key, hash)
    local path = _M.path(key)
    local found = look(path)
    if found and found.variant then
        -- Variants have separate files.
        local made = ngx.md5_bin(key) .. "x-e-vary:" .. hash .. "\r\n"
        if ngx.md5_bin(made) ~= found.variant then
            path = path_of(md5(made))
            found = look(path)
        end
    end
    if found then
        found.path = path
    end
    return found
end

-- Makes the file stale: it is revalidated before it is served. Times of serving stale count from now, too.
function _M.soften(path, at)
    local file = open(path, "r+b")
    if not file then
        return
    end
    local bytes = file:read(HEAD_BYTES)
    if bytes and #bytes == HEAD_BYTES then
        local head = ffi.cast(head_of, bytes)
        local stale = min(tonumber(head.valid_sec), floor(at / 1000) - 1)
        file:seek("set", 8)
        file:write(ffi.string(seconds(stale), 8))
    end
    file:close()
end

_M.remove = remove
return _M
