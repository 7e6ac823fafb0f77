-- Whether an address is in one of many networks: one lookup per prefix length, however many networks there are.
-- Addresses are bytes, as in nginx (4, or 16 for IPv6).
local ffi = require("ffi")
local memo = require("edge.core.memo")
local plain = require("edge.core.addresses").plain
local C = ffi.C
local byte, char, match, sub = string.byte, string.char, string.match, string.sub
local floor, ipairs, tonumber = math.floor, ipairs, tonumber

ffi.cdef([[ int inet_pton(int family, const char *text, void *bytes); ]])

local FAMILIES = { { find = ":", number = 10, bytes = 16 }, { find = ".", number = 2, bytes = 4 } }
local MAPPED_BITS = 96
local out = ffi.new("unsigned char[16]")

local function bytes_of(text)
    for _, family in ipairs(FAMILIES) do
        if text:find(family.find, 1, true) then
            return C.inet_pton(family.number, text, out) == 1 and ffi.string(out, family.bytes) or nil
        end
    end
end

local function masked(address, bits)
    local whole = floor(bits / 8)
    local rest = bits - whole * 8
    if rest == 0 then
        return sub(address, 1, whole)
    end
    local unit = 2 ^ (8 - rest)
    return sub(address, 1, whole) .. char(floor(byte(address, whole + 1) / unit) * unit)
end

-- By the length of addresses: the networks by prefix length.
local prepared = memo(function(list)
    local made = { [4] = {}, [16] = {} }
    for _, cidr in ipairs(list) do
        local text, length = match(cidr, "^([^/]+)/?(%d*)$")
        local address = text and bytes_of(text)
        if address then
            local bits = tonumber(length) or #address * 8
            local short = plain(address)
            if #short < #address and bits >= MAPPED_BITS then
                address, bits = short, bits - MAPPED_BITS
            end
            local of_length = made[#address]
            of_length[bits] = of_length[bits] or {}
            of_length[bits][masked(address, bits)] = true
        end
    end
    return made
end)

-- IPv4 in IPv6 is IPv4, in lists and in requests.
return function(list, address)
    address = plain(address)
    for bits, has in pairs(prepared(list)[#address] or {}) do
        if has[masked(address, bits)] then
            return true
        end
    end
    return false
end
