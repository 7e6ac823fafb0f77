-- Addresses that no list of a zone blocks: this machine, the allow lists, the zone's relays and trusted proxies.
local memo = require("edge.core.memo")
local networks = require("edge.core.networks")
local zone_lists = require("edge.core.zone_lists")
local ipairs, var = ipairs, ngx.var

local LOCAL = { "127.0.0.1", "::1" }

local addresses_of = memo(function(relays)
    local list = {}
    for i, relay in ipairs(relays) do
        list[i] = relay.address
    end
    return list
end)

-- A proxy itself, such as its health check. Visitors whose address it names are never meant.
local function is_proxy(trusted, address)
    return var.realip_remote_addr == var.remote_addr and networks(trusted.networks, address)
end

-- `doc`: the zone's. `address`: in the form of $binary_remote_addr.
return function(doc, address)
    local firewall, relays, trusted = doc.firewall, doc.relays, doc.visitorAddress
    return networks(LOCAL, address)
        or firewall ~= nil and networks(firewall.whitelist, address)
        or relays ~= nil and networks(addresses_of(relays), address)
        or trusted ~= nil and is_proxy(trusted, address)
        or zone_lists.is_allowed(address)
end
