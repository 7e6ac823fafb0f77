-- Challenges visitors who send too many requests, or everyone while a site is under attack. Fails open: an error must
-- not close every site of the zone.
local blocks = require("edge.core.blocks")
local counters = require("edge.core.counters")
local counts = require("edge.anti_cc.counts")
local memo = require("edge.core.memo")
local networks = require("edge.core.networks")
local page = require("edge.anti_cc.page")
local paths = require("edge.core.paths")
local proofs = require("edge.anti_cc.proofs")
local set = require("edge.core.set")
local zones = require("edge.core.zone")
local header, ipairs, sub, time, var = ngx.header, ipairs, string.sub, ngx.time, ngx.var

local _M = { name = "antiCC", priority = 3500, guards = true }
local CHALLENGE, CLOSE = 978, 444
local REDIRECT_MODE = 4
-- A visitor with a pass may send this many times more requests.
local PROVEN_TIMES = 10
-- An address's limit where everyone is challenged.
local LEAST_REQUESTS = 100
-- Static files count less and are not challenged for a site's load: pages have many, and they cannot show a challenge.
local PART_WEIGHT = 0.1
-- Redirects that set a cookie, per minute, before the page reports that cookies are required.
local MOST_REDIRECTS = 5
local RETRY_SECONDS = "60"
local MINUTE = 60

local prepared = memo(function(setting)
    return {
        id = "zone",
        watches = setting.monitor,
        mode = setting.mode,
        level = setting.difficulty,
        requests = setting.requests,
        seconds = setting.seconds,
        rate = setting.siteRate,
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
local rule, seen
local function rule_at(tick)
    if tick ~= seen then
        local zone = zones.get()
        local setting = zone and zone.doc.antiCC
        rule, seen = setting and prepared(setting) or nil, tick
    end
    return rule
end

-- 0: not covered by the rule. Depends on the path only, so it is cached with the request.
local function weigh(of, request)
    for _, prefix in ipairs(of.prefixes) do
        if sub(request.path, 1, #prefix) == prefix then
            return 0
        end
    end
    -- ACME validations and preflight requests cannot solve challenges, and are rare.
    local is_part = of.parts[paths.extension(request.path)] or request.challenged or request.method == "OPTIONS"
    return is_part and PART_WEIGHT or 1
end

local function weight_of(of, request)
    local cached = request.anti_cc
    if not cached or cached.of ~= of then
        cached = { of = of, weight = weigh(of, request) }
        request.anti_cc = cached
    end
    return cached.weight
end

-- IPv6: the network of one subscriber.
local function network_of(address)
    return #address == 16 and sub(address, 1, 8) or address
end

-- Why this visitor is challenged: "address", "site", "everyone", or "memory" when there was no room to count.
local function reason(of, site, network, weight, is_proven, only_looks)
    local is_attacked = of.rate > 0 and counts.is_attacked(site.id, of.rate, of.minutes, only_looks and 0 or weight)
    -- Attackers also request static files, so these count fully under attack.
    local counted = only_looks and 0 or is_attacked and not is_proven and 1 or weight
    local count, full = counts.of_address(of.id .. site.id .. network, of.seconds, counted)
    local limit = of.requests > 0 and of.requests or LEAST_REQUESTS
    if count > limit * (is_proven and PROVEN_TIMES or 1) then
        return "address"
    end
    if is_proven then
        return nil
    end
    if weight == 1 and (of.requests == 0 or is_attacked) then
        return is_attacked and "site" or "everyone"
    end
    return full and "memory" or nil
end

-- The requested URL on this host only, whatever its path begins with.
local function same_place()
    local uri = var.request_uri
    if sub(uri, 1, 1) ~= "/" then
        return "/"
    end
    local second = sub(uri, 2, 2)
    return (second == "/" or second == "\\") and "/." .. uri or uri
end

local function redirect(of, bearer, unproven, why)
    if unproven > MOST_REDIRECTS then
        return CHALLENGE, page.needing_cookies(), why
    end
    var.e_pass = proofs.pass(of.mode, of.pass_seconds, bearer)
    local method = ngx.req.get_method()
    return (method == "GET" or method == "HEAD") and 302 or 307, same_place(), why
end

local function question(of, bearer, failed, unproven, why)
    header["Retry-After"] = RETRY_SECONDS
    header["X-Robots-Tag"] = "noindex"
    if of.mode == REDIRECT_MODE then
        return redirect(of, bearer, unproven, why)
    end
    return CHALLENGE, page.asking(of.mode, of.level, bearer, failed), why
end

local function ask(of, network, bearer, failed, why)
    local unproven = counts.unproven(network)
    if of.fails > 0 and unproven > of.fails and blocks.add(_M.name, of.block_seconds) then
        counters.count("antiCCBlocked")
        return CLOSE, nil, why
    end
    counters.count("antiCCAsked")
    return question(of, bearer, failed, unproven, why)
end

-- A proof used before does not count: it may have been copied.
local function proves(answer, of, bearer)
    local stands_for, seconds = proofs.judge(answer, of.mode, bearer)
    return stands_for and counts.is_new(stands_for, seconds)
end

function _M.access(site, request)
    local of = rule_at(request.tick)
    if not of then
        return nil
    end
    local cookies, pass, answer = var.http_cookie, nil, nil
    if cookies and proofs.are_shown(cookies) then
        pass, answer = proofs.take()
    end
    local weight = weight_of(of, request)
    if weight == 0 or not proofs.are_possible() then
        return nil
    end
    local address = var.binary_remote_addr
    local network = network_of(address)
    local bearer = (pass or answer) and proofs.bearer(site.id, network)
    local ends = pass and proofs.holds(pass, of.mode, bearer)
    local is_proven = ends ~= nil
    -- The pass of a redirect was never shown before, so its first use counts here.
    if is_proven and of.mode == REDIRECT_MODE and ends > time() + of.pass_seconds - MINUTE and not request.simulated then
        counts.proven(network)
    end
    local why = reason(of, site, network, weight, is_proven, request.simulated)
    if request.simulated then
        request.anti_cc_why = why or is_proven and "pass" or nil
    end
    if not why or networks(of.whitelist, address) then
        return nil
    end
    if of.watches then
        counters.count("antiCCWatched")
        var.e_cause, var.e_rule = _M.name, "monitor/" .. why
        return nil
    end
    bearer = bearer or proofs.bearer(site.id, network)
    why = of.id .. "/" .. why
    if request.simulated then
        return question(of, bearer, false, 1, why)
    end
    if answer and not is_proven and proves(answer, of, bearer) then
        counters.count("antiCCPassed")
        counts.proven(network)
        var.e_pass = proofs.pass(of.mode, of.pass_seconds, bearer)
        return nil
    end
    return ask(of, network, bearer, answer ~= nil, why)
end
return _M
