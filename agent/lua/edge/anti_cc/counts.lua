-- Request counters of this node.
local dict = require("edge.core.dicts").anti_cc
local in_window = require("edge.core.sliding_window")
local floor, ipairs, max, now = math.floor, ipairs, math.max, ngx.now

local _M = {}
-- Window of a site's rate in seconds. A shorter one would mistake a page with many files for an attack.
local SPAN = 5
local MINUTE = 60
-- Window of an origin's errors and response times in seconds, and the fewest responses that count.
local ORIGIN_SPAN, LEAST_RESPONSES = 10, 20
-- Addresses that one site may add to the counters in a window, of about sixteen times as many that fit: a counter with
-- the ids of its rule and site takes 256 bytes. So a site under attack leaves room for others.
local SHARE = max(16, floor(dict:capacity() / 4096))

-- Windows of similar lengths have one share, because a site chooses the lengths of its rules.
local function share_window(seconds)
    return seconds <= 10 and 10 or seconds <= 60 and 60 or 300
end

local function may_add(what, site, seconds)
    local added = dict:incr(what .. site .. seconds .. "/" .. floor(now() / seconds), 1, 0, seconds)
    return not added or added <= SHARE
end

-- Requests of an address to a site within the window, including this one. Second result: no memory to count it.
function _M.of_address(rule, site, address, seconds, weight)
    local key = rule .. site .. address
    local at = floor(now() / seconds)
    if weight > 0 and not dict:get(key .. at) and not may_add("$", site, share_window(seconds)) then
        return weight, true
    end
    return in_window(dict, key, seconds, weight)
end

local function raise(key, minutes)
    local ends = now() + minutes * MINUTE
    local until_when = dict:get("!" .. key)
    if not until_when or until_when < ends - SPAN then
        dict:set("!" .. key, ends, minutes * MINUTE)
    end
end

-- Whether a site is under attack: from the rule's rate on, until the rate has stayed below half of it for the rule's
-- minutes. Bad responses of the origin raise it as well.
function _M.is_attacked(rule, site, weight)
    local key = rule.id .. site
    local until_when = dict:get("!" .. key)
    if weight == 0 or rule.rate == 0 then
        return until_when ~= nil
    end
    local count = dict:incr("#" .. key .. floor(now() / SPAN), weight, 0, SPAN * 2) or 0
    local limit = rule.rate * SPAN
    if count > limit or until_when and count > limit / 2 then
        raise(key, rule.minutes)
        return true
    end
    return until_when ~= nil
end

-- Counts a response of a site's origin, and raises the rules whose share of errors or mean time is exceeded.
function _M.note_origin(rules, site, is_error, milliseconds)
    local at = "@" .. site .. floor(now() / ORIGIN_SPAN)
    local responses = dict:incr(at .. "n", 1, 0, ORIGIN_SPAN * 2) or 0
    local errors = dict:incr(at .. "e", is_error and 1 or 0, 0, ORIGIN_SPAN * 2) or 0
    local sum = dict:incr(at .. "t", milliseconds, 0, ORIGIN_SPAN * 2) or 0
    if responses < LEAST_RESPONSES then
        return
    end
    for _, rule in ipairs(rules) do
        local fails = rule.errors > 0 and errors * 100 >= rule.errors * responses
        local is_slow = rule.slow > 0 and sum >= rule.slow * responses
        if fails or is_slow then
            raise(rule.id .. site, rule.minutes)
        end
    end
end

-- Challenges of all sites that this address failed within a minute, including this one. Beyond the site's share, new
-- addresses are not counted.
function _M.unproven(site, address)
    local key = "?" .. address
    local count = dict:incr(key, 1)
    if not count and may_add("$?", site, MINUTE) then
        count = dict:incr(key, 1, 0, MINUTE)
    end
    return count or 0
end

function _M.proven(address)
    dict:delete("?" .. address)
end

-- Whether this proof is used here for the first time. Several rules of one request may use it.
function _M.is_new(proof, seconds)
    local ctx = ngx.ctx
    if ctx.proof ~= proof then
        if not dict:add("=" .. proof, true, seconds) then
            return false
        end
        ctx.proof = proof
    end
    return true
end
return _M
