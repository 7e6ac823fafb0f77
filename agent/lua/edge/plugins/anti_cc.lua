-- Challenges visitors who send too many requests, or everyone while a site is under attack: by the zone's rule, and by
-- the site's own. Fails open: an error must not close every site of the zone.
local blocks = require("edge.core.blocks")
local bots = require("edge.core.bots")
local challenge = require("edge.anti_cc.challenge")
local counters = require("edge.core.counters")
local record_monitor_match = require("edge.core.monitor_match")
local counts = require("edge.anti_cc.counts")
local memo = require("edge.core.memo")
local networks = require("edge.core.networks")
local paths = require("edge.core.paths")
local path_variants = require("edge.core.path_variants")
local proofs = require("edge.anti_cc.proofs")
local set = require("edge.core.set")
local site_rules = require("edge.anti_cc.site_rules")
local zones = require("edge.core.zone")
local ipairs, match, ngx, sub, time, tonumber, var = ipairs, string.match, ngx, string.sub, ngx.time, tonumber, ngx.var

local _M = { name = "antiCC", priority = 3500, restricts_access = true }
local CLOSE, SEE_OTHER = 444, 303
local REDIRECT_MODE = 4
-- A visitor with a pass may send this many times more requests, by the zone's rule.
local PROVEN_TIMES = 10
-- An address's limit where everyone is challenged.
local LEAST_REQUESTS = 100
-- Static files count less and are not challenged for a site's load: pages have many, and they cannot show a challenge.
local PART_WEIGHT = 0.1
local MINUTE = 60

local prepared = memo(function(setting)
    return {
        id = "zone",
        is_zone = true,
        watches = setting.monitor,
        mode = setting.mode,
        level = setting.difficulty,
        requests = setting.requests,
        seconds = setting.seconds,
        rate = setting.siteRate,
        can_raise = setting.siteRate > 0,
        minutes = setting.siteMinutes,
        pass_seconds = setting.passSeconds,
        fails = setting.fails,
        block_seconds = setting.blockSeconds,
        parts = set(setting.extensions),
        prefixes = setting.paths,
        whitelist = setting.whitelist,
    }
end)

-- The zone's rule, looked up again after a change.
local zone_rule, seen
local function rule_at(tick)
    if tick ~= seen then
        local zone = zones.get()
        local setting = zone and zone.doc.antiCC
        zone_rule, seen = setting and prepared(setting) or nil, tick
    end
    return zone_rule
end

local function is_exempt(request, rule)
    for _, prefix in ipairs(rule.prefixes) do
        if sub(request.path, 1, #prefix) == prefix then
            return true
        end
    end
    return false
end

local function is_file(request, rule)
    return rule.parts[paths.extension(request.path)]
end

-- 0: not covered by the zone's rule. Depends on the path only, so it is cached with the request.
local function weigh(rule, request)
    if path_variants.all(request, is_exempt, rule) then
        return 0
    end
    -- ACME validations and preflight requests cannot solve challenges, and are rare.
    local is_part = path_variants.all(request, is_file, rule) or request.challenged or request.method == "OPTIONS"
    return is_part and PART_WEIGHT or 1
end

local function weight_of(rule, request)
    local field = rule.is_zone and "anti_cc" or "site_anti_cc"
    local cached = request[field]
    if not cached or cached.of ~= rule then
        cached = { of = rule, weight = weigh(rule, request) }
        request[field] = cached
    end
    return cached.weight
end

-- Requests of a pass are counted by its secret, so that a neighbour behind the same address does not count.
local function counted_as(visitor, pass)
    return pass and pass.secret ~= proofs.NO_SECRET and pass.secret or visitor.network
end

-- Why this visitor is challenged: "address", "site", "everyone", or "memory" when there was no room to count.
local function reason(rule, visitor, weight, pass, only_looks)
    local is_attacked = rule.can_raise and counts.is_attacked(rule, visitor.site, only_looks and 0 or weight)
    -- Attackers also request static files, so these count fully under attack.
    local counted = only_looks and 0 or is_attacked and not pass and 1 or weight
    local count, full = counts.of_address(rule.id, visitor.site, counted_as(visitor, pass), rule.seconds, counted)
    if pass and not rule.is_zone then
        return nil
    end
    local limit = rule.requests > 0 and rule.requests or LEAST_REQUESTS
    if count > limit * (pass and PROVEN_TIMES or 1) then
        return "address"
    end
    if pass then
        return nil
    end
    if weight == 1 and (rule.requests == 0 or is_attacked) then
        return is_attacked and "site" or "everyone"
    end
    return full and "memory" or nil
end

-- Too many challenges of the zone that stay unsolved block the address. A crawler cannot solve them, and sends several
-- requests before its verdict arrives.
local function is_blocked(rule, visitor)
    if not rule.is_zone or rule.fails == 0 or bots.is_verification_pending() then
        return false
    end
    return counts.unproven(visitor.site, visitor.network) > rule.fails and blocks.add(_M.name, rule.block_seconds)
end

local function ask(rule, visitor)
    local status, target = challenge.ask(visitor, rule)
    if not status or status == SEE_OTHER then
        counts.proven(visitor.network)
    elseif is_blocked(rule, visitor) then
        counters.count("antiCCBlocked")
        return CLOSE
    end
    return status, target
end

local function check(rule, visitor, request)
    local weight = weight_of(rule, request)
    if weight == 0 then
        return nil
    end
    local pass = challenge.pass_of(visitor, rule)
    -- The pass of a redirect was never shown before, so its first use counts here.
    if pass and rule.mode == REDIRECT_MODE and not request.simulated then
        if pass.issued > time() - MINUTE then
            counts.proven(visitor.network)
        end
        local status, target = challenge.unmark(visitor)
        if status then
            return status, target, rule.id
        end
    end
    local why = reason(rule, visitor, weight, pass, request.simulated)
    if request.simulated then
        request.anti_cc_why = why or pass and "pass" or nil
    end
    if not why or rule.whitelist and networks(rule.whitelist, visitor.address) then
        return nil
    end
    if rule.watches then
        counters.count("antiCCWatched")
        record_monitor_match(_M.name, rule.is_zone and why or rule.id, true)
        return nil
    end
    local status, target
    if request.simulated then
        status, target = challenge.question(visitor, rule, false)
    else
        status, target = ask(rule, visitor)
    end
    return status, target, status and (rule.is_zone and "zone/" .. why or rule.id)
end

function _M.access(site, request)
    local of_zone, of_site = rule_at(request.tick), site.antiCCs and site_rules.find(site, request)
    if not of_zone and not of_site or not proofs.are_possible() then
        return nil
    end
    local visitor = challenge.visitor(site, proofs.take())
    if bots.is_unchallenged(request) then
        if request.simulated then
            request.anti_cc_why = "bot"
        end
        return nil
    end
    local status, target, id
    if of_zone then
        status, target, id = check(of_zone, visitor, request)
    end
    if not status and of_site then
        status, target, id = check(of_site, visitor, request)
    end
    return status, target, id
end

-- Responses of origins raise the site's rules that ask for it.
function _M.origin_log()
    local request = ngx.ctx.request
    local rules = request and site_rules.watching(request.site.doc)
    if not rules then
        return
    end
    local status = tonumber(match(var.upstream_status or "", "(%d+)%s*$"))
    local seconds = tonumber(match(var.upstream_header_time or "", "([%d.]+)%s*$")) or 0
    counts.note_origin(rules, request.site.doc.id, not status or status >= 500, seconds * 1000)
end
return _M
