-- Looks up an address's score in the risk pack (format: packages/contract/src/edge/risk-pack.ts). The master reads it
-- once as an immutable string, so workers share its memory. Binary search in place.
local bit = require("bit")
local ffi = require("ffi")
local byte, sub, rshift = string.byte, string.sub, bit.rshift

local _M = {}
local HEADER = 24
local MAGIC = "EDGERISK"

-- Keeps the memory alive that the pointers below refer to.
local loaded
local four, six
-- Why the present pack is not used. nil: it is used, or there is none.
_M.fault = nil
_M.ranges = 0

local function words(text)
    return ffi.cast("const uint32_t *", text)
end

local function whole(text)
    if #text < HEADER or sub(text, 1, 8) ~= MAGIC then
        return nil, "it is no risk pack"
    end
    local header = words(text)
    local form, n, m = header[2], header[3], header[4]
    if form ~= 1 or #text ~= HEADER + 9 * n + 17 * m then
        return nil, "it is torn or of a later form"
    end
    if ngx.crc32_long(sub(text, HEADER + 1)) ~= header[5] then
        return nil, "it is damaged"
    end
    return n, m
end

-- An unreadable pack blocks nobody. The last one stays in use, and the agent reports the error.
function _M.load(path)
    local file = io.open(path, "rb")
    if not file then
        return
    end
    local text = file:read("*a") or ""
    file:close()
    local n, m = whole(text)
    if not n then
        _M.fault = m
        return
    end
    loaded = text
    local at = words(text) + HEADER / 4
    local scores = ffi.cast("const uint8_t *", text) + HEADER + 8 * n + 16 * m
    four = { n = n, first = at, last = at + n, score = scores }
    at = at + 2 * n
    six = { n = m, first = at, first_low = at + m, last = at + 2 * m, last_low = at + 3 * m, score = scores + n }
    _M.ranges = n + m
end

local function of_four(a, b, c, d)
    local address = ((a * 256 + b) * 256 + c) * 256 + d
    local first = four.first
    local low, high = 0, four.n
    while low < high do
        local middle = rshift(low + high, 1)
        if first[middle] <= address then
            low = middle + 1
        else
            high = middle
        end
    end
    if low > 0 and address <= four.last[low - 1] then
        return four.score[low - 1]
    end
    return 0
end

-- The upper half as two numbers, since one double cannot hold it.
local function of_six(upper, lower)
    local first, first_low = six.first, six.first_low
    local low, high = 0, six.n
    while low < high do
        local middle = rshift(low + high, 1)
        local begins = first[middle]
        if begins < upper or begins == upper and first_low[middle] <= lower then
            low = middle + 1
        else
            high = middle
        end
    end
    if low > 0 then
        local ends = six.last[low - 1]
        if upper < ends or upper == ends and lower <= six.last_low[low - 1] then
            return six.score[low - 1]
        end
    end
    return 0
end

-- From 0 (unknown) to 100. Addresses as in nginx: 4 bytes, or 16 for IPv6.
function _M.score(address)
    if not loaded then
        return 0
    end
    if #address == 4 then
        return of_four(byte(address, 1, 4))
    end
    local a, b, c, d, e, f, g, h = byte(address, 1, 8)
    local upper, lower = ((a * 256 + b) * 256 + c) * 256 + d, ((e * 256 + f) * 256 + g) * 256 + h
    -- IPv4-mapped IPv6.
    if upper == 0 and lower == 0 and sub(address, 9, 12) == "\0\0\255\255" then
        return of_four(byte(address, 13, 16))
    end
    return of_six(upper, lower)
end
return _M
