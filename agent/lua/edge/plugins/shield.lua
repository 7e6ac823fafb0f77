-- Sends cacheable misses to a relay instead of the origin, where the site enables it and the zone has relays. Fails
-- open: the request goes to the origin. Relays use no relays, so there are no loops.
local relay_request = require("edge.shield.relay_request")
local settings = require("edge.core.settings")
local zones = require("edge.core.zone")
local var = ngx.var

-- Before plugins that rewrite the origin request: these run in the location that requests the origin.
local _M = { name = "shield", priority = 950 }
local FOR_STORE = { MISS = true, EXPIRED = true }

function _M.origin_access(site, request)
    if not site.shield or settings.relay or request.simulated or not FOR_STORE[var.http_x_e_state or ""] or relay_request.was_tried(site.id)
        or var.http_content_length or var.http_transfer_encoding then
        return nil
    end
    local zone = zones.get()
    if zone and zone.doc.relays and zone.doc.relays[1] then
        return "@relay"
    end
end
return _M
