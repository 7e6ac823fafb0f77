-- How much is asked, on this node, in memory of a fixed size. Windows slide over two buckets: what came in this one, and of the
-- one before as much as still lies within the window.
local dict = require("edge.core.dicts").anti_cc
local floor, now = math.floor, ngx.now

local _M = {}
-- Seconds over which a site's rate is measured: shorter, and a page with many files would look like an attack.
local SPAN = 5
local MINUTE = 60

-- What one address asked of one site within the window, this time included; and whether there was no room for it to be known.
-- `weight` 0 only looks.
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

-- Whether a site is under attack: since it was asked more often than the rule says, until it has been asked less than half as often
-- for as many minutes as the rule says.
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

-- How often this address was asked for a proof within a minute and gave none, this time included.
function _M.unproven(address)
    return dict:incr("?" .. address, 1, 0, MINUTE) or 0
end

function _M.proven(address)
    dict:delete("?" .. address)
end

-- Whether it is the first time here that this proof is shown.
function _M.is_new(proof, seconds)
    return dict:add("=" .. proof, true, seconds) or false
end
return _M
