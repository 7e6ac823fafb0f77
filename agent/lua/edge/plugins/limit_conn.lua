-- A site's limits of requests at the same time, counted on this node. Refused requests do not count. Fails open.
local concurrent_requests = require("edge.limits.concurrent_requests")
local decisions = require("edge.simulate.decision")
local rules = require("edge.limits.rules")
local white = require("edge.core.white")
local ipairs = ipairs

-- Before the limits that may let a request wait, so that waiting requests count.
local _M = { name = "limitConn", priority = 3750, restricts_access = true }
local RETRY_SECONDS = 1

local function is_exceeded(rule, request)
    local address, chosen = rules.counted_by(rule, request)
    local key = rule.id .. (chosen or address)
    if request.simulated then
        return concurrent_requests.running_count(key) >= rule.max
    end
    return not concurrent_requests.try_count(key, rule.max)
end

function _M.access(site, request)
    if not site.limitConns or white.has(site) then
        return nil
    end
    for _, rule in ipairs(rules.about(_M.name, site.limitConns, request)) do
        if is_exceeded(rule, request) then
            local status, target, id = rules.refuse(_M.name, rule, request, RETRY_SECONDS)
            if status then
                return status, target, id
            end
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.limitConns then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("limitConn", outcome.rule)
end
return _M
