-- Forms of an address.
local ffi = require("ffi")
local find, sub = string.find, string.sub

ffi.cdef "int inet_pton(int family, const char *text, void *binary);"

local _M = {}
local INET, INET6 = 2, 10
local buffer = ffi.new("char[16]")
-- ::ffff:0:0/96 (RFC 4291) and 64:ff9b::/96 (NAT64, RFC 6052).
local MAPPED = "\0\0\0\0\0\0\0\0\0\0\255\255"
local NAT64 = "\0\100\255\155\0\0\0\0\0\0\0\0"

-- The form of $binary_remote_addr. Other texts stay.
function _M.binary(text)
    local is_six = find(text, ":", 1, true) ~= nil
    local is_address = ffi.C.inet_pton(is_six and INET6 or INET, text, buffer) == 1
    return is_address and ffi.string(buffer, is_six and 16 or 4) or text
end

-- IPv4 in IPv6 becomes IPv4. `address`: in the form of $binary_remote_addr.
function _M.plain(address)
    if #address == 16 then
        local head = sub(address, 1, 12)
        if head == MAPPED or head == NAT64 then
            return sub(address, 13)
        end
    end
    return address
end
-- The key of one visitor: an IPv4 address, or the network of one IPv6 subscriber.
function _M.network(address)
    address = _M.plain(address)
    return #address == 16 and sub(address, 1, 8) or address
end
return _M
