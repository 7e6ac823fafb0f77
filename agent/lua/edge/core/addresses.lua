-- Forms of an address.
local sub = string.sub

local _M = {}
-- ::ffff:0:0/96 (RFC 4291) and 64:ff9b::/96 (NAT64, RFC 6052).
local MAPPED = "\0\0\0\0\0\0\0\0\0\0\255\255"
local NAT64 = "\0\100\255\155\0\0\0\0\0\0\0\0"

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
