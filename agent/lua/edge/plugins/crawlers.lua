-- Applies a site's rules by crawler category: limit, challenge, 402 or 403. A site may have a rule for impostors.
-- Otherwise the rule of the crawler that they name applies. Fails open: any client can choose not to be a crawler.
local blacklist = require("edge.plugins.blacklist")
local bots = require("edge.core.bots")
local count_exceeds = require("edge.limits.count_exceeds")
local memo = require("edge.core.memo")
local reaction = require("edge.core.reaction")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local header, ipairs, var = ngx.header, ipairs, ngx.var

local _M = { name = "crawlers", priority = 4650, restricts_access = true }
local LIMIT, MINUTE, RETRY_SECONDS = "limit", 60, "60"
local TOO_MANY = 429
local REFUSAL, SHIELD = 0, 1
local STATUSES = { limit = TOO_MANY, pay = 402, block = 403 }

local by_category = memo(function(rules)
    local map = {}
    for _, rule in ipairs(rules) do
        map[rule.category] = {
            id = rule.id,
            monitor = rule.monitor,
            per_minute = rule.action == LIMIT and rule.perMinute or nil,
            -- The keys are those that core/reaction.lua reads.
            blockType = rule.action == "challenge" and SHIELD or REFUSAL,
            status = STATUSES[rule.action],
        }
    end
    return map
end)

local function rule_for(site, bot)
    local rules = by_category(site.crawlers)
    return bot.state == "impostor" and rules.impostor or rules[bot.category]
end

-- Counts the request, also if the rule only monitors. Verified crawlers have counters of their own, so that others in
-- their name cannot use up their limit.
local function count_within_limit(rule, bot, request)
    return not count_exceeds(request, rule, bot.name .. bot.state, nil, MINUTE, rule.per_minute)
end

function _M.access(site, request)
    if not site.crawlers or white.has(site) then
        return nil
    end
    local bot = bots.of(request)
    local rule = bot and rule_for(site, bot)
    -- Exempt visitors must not use up the crawler's limit.
    if not rule or blacklist.is_exempt(var.binary_remote_addr) then
        return nil
    end
    if rule.per_minute and count_within_limit(rule, bot, request) then
        return nil
    end
    local status, target, id = reaction.of(_M.name, site, request, rule)
    if status == TOO_MANY then
        header["Retry-After"] = RETRY_SECONDS
    end
    return status, target, id
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.crawlers then
        return "unused"
    end
    local bot = bots.of(outcome.request)
    if not bot then
        return "noRule"
    end
    local decision, detail = decisions.common(outcome)
    -- The page of a challenge is the outcome's target, so decisions.common takes it for a redirect.
    if decision == "redirected" then
        decision, detail = "refused", { status = outcome.answer }
    end
    detail = detail or {}
    detail.name, detail.state = bot.name, bot.state
    return decision, detail, decisions.rule(_M.name, outcome.rule)
end
return _M
