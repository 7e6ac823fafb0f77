-- Whether a relay is asked in the origin's place: for what this node would store and does not have, where the site wants it
-- and the zone has any. Fails open: the origin is asked. A relay asks no relay, so there is no way round.
local ask = require("edge.shield.ask")
local settings = require("edge.core.settings")
local zones = require("edge.core.zone")
local var = ngx.var

-- Before whatever changes the request for the origin: that is done where the origin is asked.
local _M = { name = "shield", priority = 950 }
local FOR_STORE = { MISS = true, EXPIRED = true }

function _M.origin_access(site, request)
    if not site.shield or settings.relay or request.simulated or not FOR_STORE[var.http_x_e_state or ""] or ask.was_tried(site.id)
        or var.http_content_length or var.http_transfer_encoding then
        return nil
    end
    local zone = zones.get()
    if zone and zone.doc.relays and zone.doc.relays[1] then
        return "@relay"
    end
end
return _M
