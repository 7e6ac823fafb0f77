-- Applies a matching rule of a site's firewall: refuses, challenges, or only logs.
local blacklist = require("edge.plugins.blacklist")
local bots = require("edge.core.bots")
local challenges = require("edge.anti_cc.challenge")
local counters = require("edge.core.counters")
local record_monitor_match = require("edge.core.monitor_match")
local patterns = require("edge.core.patterns")
local proofs = require("edge.anti_cc.proofs")
local path_variants = require("edge.core.path_variants")
local zones = require("edge.core.zone")
local var = ngx.var

local _M = {}
local REDIRECT_MODE, SHIELD_MODE = 4, 1
local LEVEL = 4
local PASS_SECONDS = 3600

-- A pattern that reaches the match limit counts as matching, since these rules protect.
function _M.matches(text, pattern, id)
    local from, err = patterns.find(text, pattern, id)
    return from ~= nil or err ~= nil
end

local function covers(request, rule)
    return _M.matches(request.path, rule.url, rule.id)
end

-- Whether the rule is about this path.
function _M.is_about(rule, request)
    return not rule.url or path_variants.any(request, covers, rule)
end

local function challenge(site, rule, request)
    local zone = zones.get()
    local of_zone = zone and zone.doc.antiCC
    local asked = {
        -- A redirect proves only that cookies are kept, which the shield proves, too.
        mode = rule.blockType == REDIRECT_MODE and SHIELD_MODE or rule.blockType,
        level = of_zone and of_zone.difficulty or LEVEL,
        pass_seconds = PASS_SECONDS,
    }
    local visitor = challenges.visitor(site, proofs.peek())
    if challenges.pass_of(visitor, asked) then
        return nil
    end
    local status, target
    if request.simulated then
        status, target = challenges.question(visitor, asked, false)
    else
        status, target = challenges.ask(visitor, asked)
    end
    return status, target, status and rule.id
end

-- Without the zone's key nothing can be signed, and validations of certificates cannot solve challenges.
local function is_refusal(rule)
    return rule.blockType == 0 or not proofs.are_possible()
end

local function is_unchallenged(request)
    return request.challenged or bots.is_unchallenged(request)
end

-- The results of a plugin. `name`: its name. `rule.status`: of refusals, 403 by default.
function _M.of(name, site, request, rule)
    if blacklist.is_exempt(var.binary_remote_addr) then
        return nil
    end
    if rule.monitor then
        counters.count(name .. "Watched")
        record_monitor_match(name, rule.id, is_refusal(rule) or not is_unchallenged(request))
        return nil
    end
    if is_refusal(rule) then
        return rule.status or 403, nil, rule.id
    end
    if is_unchallenged(request) then
        return nil
    end
    return challenge(site, rule, request)
end
return _M
