-- A site's limits of requests per second with a burst, counted on this node: the generic cell rate algorithm. Each
-- counter is the time at which all allowed requests are worked off at the rate. Fails open.
local counters = require("edge.core.counters")
local decisions = require("edge.simulate.decision")
local dict = require("edge.core.dicts").limits
local rules = require("edge.limits.rules")
local white = require("edge.core.white")
local ipairs, max, now, sleep = ipairs, math.max, ngx.now, ngx.sleep

local _M = { name = "limitReq", priority = 3600, restricts_access = true }
local SECOND = 1e6
-- nginx reads the clock once per round of events. Requests of one round do not count as a burst.
local CLOCK_TOLERANCE = 50000
local SHORTEST_WAIT = 1000
local MIN_SECONDS_KEPT = 60

-- Microseconds until the rate allows this request, which is then counted. Nil: beyond the burst.
local function wait_of(rule, key, moment)
    local step = SECOND / rule.rate
    local seconds = max(MIN_SECONDS_KEPT, 2 * (rule.burst + 1) / rule.rate)
    local ends = dict:incr(key, step, moment, seconds)
    if not ends then
        return 0
    end
    if ends - step < moment then
        dict:set(key, moment + step, seconds)
        return 0
    end
    local wait = ends - step - moment
    if wait > rule.burst * step + CLOCK_TOLERANCE then
        dict:incr(key, -step)
        return nil
    end
    dict:expire(key, seconds)
    return wait
end

local function is_known(key)
    return dict:get(key)
end

-- Requests that wait in this worker, in all and by site. Each holds a connection and memory.
local MOST_WAITING, MOST_OF_SITE = 2000, 200
local waiting, waiting_of = 0, {}

-- Lets the request wait. false: too many already do.
local function queue(site, seconds)
    local count = waiting_of[site] or 0
    if count >= MOST_OF_SITE or waiting >= MOST_WAITING then
        return false
    end
    waiting, waiting_of[site] = waiting + 1, count + 1
    sleep(seconds)
    count = waiting_of[site] - 1
    waiting, waiting_of[site] = waiting - 1, count > 0 and count or nil
    return true
end

-- The same without counting, for simulations.
local function expected_wait(rule, key, moment)
    local wait = (dict:get(key) or moment) - moment
    return wait <= rule.burst * SECOND / rule.rate + CLOCK_TOLERANCE and max(wait, 0) or nil
end

function _M.access(site, request)
    if not site.limitReqs or white.has(site) then
        return nil
    end
    local longest, last = 0, nil
    for _, rule in ipairs(rules.about(_M.name, site.limitReqs, request)) do
        local measure = request.simulated and expected_wait or wait_of
        local wait = measure(rule, rules.counter(rule, request, is_known), now() * SECOND)
        if not wait then
            local status, target, id = rules.refuse(_M.name, rule, request, 1)
            if status then
                return status, target, id
            end
        elseif rule.queue and not rule.monitor then
            if wait > longest then
                longest, last = wait, rule
            end
        end
    end
    if longest >= SHORTEST_WAIT and not request.simulated then
        if not queue(site.id, longest / SECOND) then
            counters.count("limitQueueFull")
            return rules.refuse(_M.name, last, request, 1)
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.limitReqs then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("limitReq", outcome.rule)
end
return _M
