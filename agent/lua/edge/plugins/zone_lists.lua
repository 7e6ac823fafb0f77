-- The zone's subscribed lists: closes connections of addresses on a block list, and logs the list. The kernel does not
-- have these lists. Fails open.
local always_allowed = require("edge.core.always_allowed")
local counters = require("edge.core.counters")
local record_monitor_match = require("edge.core.monitor_match")
local zone_lists = require("edge.core.zone_lists")
local zones = require("edge.core.zone")
local error, var = error, ngx.var

local _M = { name = "zone_lists", priority = 8300, restricts_access = true }
local CLOSE = 444
local CAUSE = "blacklist"
local NO_ZONE = {}

function _M.access()
    local address = var.binary_remote_addr
    local ref, is_missing = zone_lists.find(address)
    if is_missing then
        error("a list is not here", 0)
    end
    if not ref or not ref.isBlack then
        return nil
    end
    local zone = zones.get()
    if always_allowed(zone and zone.doc or NO_ZONE, address) then
        return nil
    end
    if ref.monitor then
        counters.count("blacklistWatched")
        record_monitor_match(CAUSE, ref.id, true)
        return nil
    end
    var.e_cause, var.e_rule = CAUSE, ref.id
    return CLOSE
end
return _M
