-- Request counters of this node, in a fixed amount of memory. Windows slide over two buckets: the current one, and the
-- part of the previous one that is still in the window.
local dict = require("edge.core.dicts").anti_cc
local floor, now = math.floor, ngx.now

local _M = {}
-- Window of a site's rate in seconds. A shorter one would mistake a page with many files for an attack.
local SPAN = 5
local MINUTE = 60

-- Requests of an address to a site within the window, including this one. Second result: no memory to count it.
-- `weight` 0 only reads.
function _M.of_address(key, seconds, weight)
    local moment = now() / seconds
    local at = floor(moment)
    local count, full
    if weight > 0 then
        local _, forced
        count, _, forced = dict:incr(key .. at, weight, 0, seconds * 2)
        full = forced or not count
    else
        count = dict:get(key .. at)
    end
    local before = dict:get(key .. at - 1) or 0
    return (count or 0) + before * (1 - (moment - at)), full
end

-- Whether a site is under attack: from the rule's rate on, until the rate has stayed below half of it for the rule's
-- minutes.
function _M.is_attacked(site, rate, minutes, weight)
    local moment = now()
    local until_when = dict:get("!" .. site)
    if weight == 0 then
        return until_when ~= nil
    end
    local count = dict:incr("#" .. site .. floor(moment / SPAN), weight, 0, SPAN * 2) or 0
    local limit = rate * SPAN
    if count > limit or until_when and count > limit / 2 then
        local ends = moment + minutes * MINUTE
        if not until_when or until_when < ends - SPAN then
            dict:set("!" .. site, ends, minutes * MINUTE)
        end
        return true
    end
    return until_when ~= nil
end

-- Challenges that this address failed within a minute, including this one.
function _M.unproven(address)
    return dict:incr("?" .. address, 1, 0, MINUTE) or 0
end

function _M.proven(address)
    dict:delete("?" .. address)
end

-- Whether this proof is used here for the first time.
function _M.is_new(proof, seconds)
    return dict:add("=" .. proof, true, seconds) or false
end
return _M
