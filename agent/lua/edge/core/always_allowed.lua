-- Addresses that no list of a zone blocks: this machine, the allow list, and the zone's relays.
local memo = require("edge.core.memo")
local networks = require("edge.core.networks")
local ipairs = ipairs

local LOCAL = { "127.0.0.1", "::1" }

local addresses_of = memo(function(relays)
    local list = {}
    for i, relay in ipairs(relays) do
        list[i] = relay.address
    end
    return list
end)

-- `doc`: the zone's. `address`: in the form of $binary_remote_addr.
return function(doc, address)
    local firewall, relays = doc.firewall, doc.relays
    return networks(LOCAL, address)
        or firewall ~= nil and networks(firewall.whitelist, address)
        or relays ~= nil and networks(addresses_of(relays), address)
end
