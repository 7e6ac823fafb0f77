-- A site's limits of requests in a sliding window, counted on this node. Refused requests count, too. Fails open.
local count_exceeds = require("edge.limits.count_exceeds")
local decisions = require("edge.simulate.decision")
local rules = require("edge.limits.rules")
local white = require("edge.core.white")
local ipairs = ipairs

local _M = { name = "frequency", priority = 3700, restricts_access = true }

local function is_exceeded(rule, request)
    local address, chosen = rules.counted_by(rule, request)
    return count_exceeds(request, rule, address, chosen, rule.seconds, rule.times)
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
