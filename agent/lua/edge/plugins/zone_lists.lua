-- The zone's subscribed lists: closes connections of addresses on a block list, and logs the list. The kernel does not
-- have these lists. Fails open.
local always_allowed = require("edge.core.always_allowed")
local counters = require("edge.core.counters")
local docs = require("edge.core.docs")
local record_monitor_match = require("edge.core.monitor_match")
local zone_lists = require("edge.core.zone_lists")
local zones = require("edge.core.zone")
local decisions = require("edge.simulate.decision")
local error, var = error, ngx.var

-- Logs and statistics count all block lists under one cause.
local _M = { name = "zoneLists", cause = "blacklist", priority = 8300, restricts_access = true }
local CLOSE = 444
local NO_ZONE = {}

function _M.access()
    local address = var.binary_remote_addr
    local ref, is_missing = zone_lists.block_of(address)
    if is_missing then
        error("a list is not here", 0)
    end
    if not ref then
        return nil
    end
    local zone = zones.get()
    if always_allowed(zone and zone.doc or NO_ZONE, address) then
        return nil
    end
    if ref.monitor then
        counters.count("blacklistWatched")
        record_monitor_match(_M.name, ref.id, true, _M.cause)
        return nil
    end
    return CLOSE, nil, ref.id
end

_M.explain = {}
function _M.explain.access(outcome)
    if not docs.get("zoneLists") then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("zoneList", outcome.rule)
end
return _M
