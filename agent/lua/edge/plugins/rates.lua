-- Bandwidth limits of responses, cached or not: the first of the site's rules that matches the path, and the response's
-- share of the site's bandwidth (plugin `site_limits`). Fails open.
local memo = require("edge.core.memo")
local paths = require("edge.core.paths")
local path_variants = require("edge.core.path_variants")
local decision = require("edge.simulate.decision")
local ipairs, min, var = ipairs, math.min, ngx.var

-- Before the cache plugin, which may redirect the request internally.
local _M = { name = "rates", priority = 1500 }
local KIB = 1024

local prepared = memo(function(rules)
    local list = {}
    for i, rule in ipairs(rules) do
        list[i] = { id = rule.id, is_about = paths.matcher(rule), rate = rule.rate, after = rule.after }
    end
    return list
end)

local function covers(request, rule)
    local is_about, err = rule.is_about(request.path, paths.extension(request.path))
    return is_about or err
end

local function choose(rules, request)
    for _, rule in ipairs(prepared(rules)) do
        if path_variants.any(request, covers, rule) then
            return rule
        end
    end
    return false
end

local function rule_of(site, request)
    local rule = request.rate
    if rule == nil then
        rule = choose(site.rates, request)
        request.rate = rule
    end
    return rule
end

function _M.access(site, request)
    local share = request.share
    local rule = site.rates and rule_of(site, request)
    if share then
        -- An initial part without a limit would exceed the share.
        var.limit_rate = rule and min(share, rule.rate * KIB) or share
    elseif rule then
        -- nginx applies limit_rate_after only together with limit_rate.
        var.limit_rate = rule.rate * KIB
        var.e_rate_after = rule.after * KIB
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.rates then
        return "unused"
    end
    local found = outcome.request.rate
    if not found then
        return "noRule"
    end
    return "applied", { rate = found.rate, after = found.after }, decision.rule("rate", found.id)
end
return _M
