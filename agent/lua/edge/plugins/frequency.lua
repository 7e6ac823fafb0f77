-- A site's limits of requests in a sliding window, counted on this node. Refused requests count, too. Fails open.
local count_exceeds = require("edge.limits.count_exceeds")
local decisions = require("edge.simulate.decision")
local dict = require("edge.core.dicts").limits
local rules = require("edge.limits.rules")
local white = require("edge.core.white")
local floor, ipairs, now = math.floor, ipairs, ngx.now

local _M = { name = "frequency", priority = 3700, restricts_access = true }

-- The keys are those of core/sliding_window.lua.
local function is_known(key, rule)
    local at = floor(now() / rule.seconds)
    return dict:get(key .. at) or dict:get(key .. at - 1)
end

local function is_exceeded(rule, request)
    return count_exceeds(request, rules.counter(rule, request, is_known), rule.seconds, rule.times)
end

function _M.access(site, request)
    if not site.frequencies or white.has(site) then
        return nil
    end
    for _, rule in ipairs(rules.about(_M.name, site.frequencies, request)) do
        if is_exceeded(rule, request) then
            local status, target, id = rules.refuse(_M.name, rule, request, rule.seconds)
            if status then
                return status, target, id
            end
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.frequencies then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("frequency", outcome.rule)
end
return _M
