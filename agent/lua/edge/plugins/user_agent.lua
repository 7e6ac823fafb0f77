-- User agent rules of a site. A request without User-Agent is compared as an empty text. Fails closed.
local reaction = require("edge.core.reaction")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local ipairs, var = ipairs, ngx.var

local _M = { name = "userAgent", priority = 4600, fails = "closed", restricts_access = true }

function _M.access(site, request)
    local rules = site.userAgents
    if not rules or white.has(site) then
        return nil
    end
    local agent = var.http_user_agent or ""
    for _, rule in ipairs(rules) do
        if reaction.matches(agent, rule.pattern, rule.id) and reaction.is_about(rule, request) then
            local answer, target, id = reaction.of(_M.name, site, request, rule)
            if answer then
                return answer, target, id
            end
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.userAgents then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("userAgent", outcome.rule)
end
return _M
