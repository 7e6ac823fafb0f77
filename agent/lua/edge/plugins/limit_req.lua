-- A site's limits of requests per second with a burst, counted on this node: the generic cell rate algorithm. Each
-- counter is the time at which all allowed requests are worked off at the rate. Fails open.
local counters = require("edge.core.counters")
local decisions = require("edge.simulate.decision")
local rules = require("edge.limits.rules")
local site_counters = require("edge.limits.site_counters")
local white = require("edge.core.white")
local ipairs, max, min, now, sleep = ipairs, math.max, math.min, ngx.now, ngx.sleep

local _M = { name = "limitReq", priority = 3600, restricts_access = true }
local SECOND = 1e6
-- nginx reads the clock once per round of events. Requests of one round do not count as a burst.
local CLOCK_TOLERANCE = 50000
local SHORTEST_WAIT = 1000
local SHORTEST_WINDOW = 60

-- Counters are kept in windows, so that their memory is limited (limits/site_counters.lua). A window begins at the time
-- that the counter of the window before had reached. It is long enough to work off a burst, unless that takes over an
-- hour.
local function window_of(rule)
    return min(max(SHORTEST_WINDOW, 2 * (rule.burst + 1) / rule.rate), site_counters.LONGEST_WINDOW)
end

-- Microseconds until the rate allows this request, which is then counted. Nil: beyond the burst.
local function wait_of(rule, request, moment, address, chosen)
    local step, seconds = SECOND / rule.rate, window_of(rule)
    local site = request.site.doc
    local ends, left, dict, counter = site_counters.add(site, rule, address, chosen, seconds, step, moment)
    if not ends then
        return 0
    end
    if ends - step < moment then
        dict:set(counter, moment + step, left + seconds)
        return 0
    end
    local wait = ends - step - moment
    if wait > rule.burst * step + CLOCK_TOLERANCE then
        dict:incr(counter, -step)
        return nil
    end
    return wait
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
local function expected_wait(rule, moment, address, chosen)
    local ends, before = site_counters.read(rule, address, chosen, window_of(rule))
    local wait = (ends or before or moment) - moment
    return wait <= rule.burst * SECOND / rule.rate + CLOCK_TOLERANCE and max(wait, 0) or nil
end

local function measure(rule, request)
    local moment = now() * SECOND
    local address, chosen = rules.counted_by(rule, request)
    if request.simulated then
        return expected_wait(rule, moment, address, chosen)
    end
    return wait_of(rule, request, moment, address, chosen)
end

function _M.access(site, request)
    if not site.limitReqs or white.has(site) then
        return nil
    end
    local longest, last = 0, nil
    for _, rule in ipairs(rules.about(_M.name, site.limitReqs, request)) do
        local wait = measure(rule, request)
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
