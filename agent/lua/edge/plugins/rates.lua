-- Bandwidth limits of responses, cached or not: the first of the site's rules that matches the path. The plugin
-- `site_limits` has set the limit of all the site's responses; a rule may only lower it. Fails open.
local memo = require("edge.core.memo")
local paths = require("edge.core.paths")
local path_variants = require("edge.core.path_variants")
local decision = require("edge.simulate.decision")
local floor, ipairs, min, var = math.floor, ipairs, math.min, ngx.var

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

function _M.access(site, request)
    if not site.rates then
        return nil
    end
    local rule = request.rate
    if rule == nil then
        rule = choose(site.rates, request)
        request.rate = rule
    end
    local rate_of_all = site.responseRate
    if rule and rate_of_all then
        -- Without `after`: a part at full speed would exceed the limit of all responses.
        var.limit_rate = min(rule.rate * KIB, rate_of_all)
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
    local rate_of_all = outcome.site.responseRate
    local rate = rate_of_all and min(found.rate, floor(rate_of_all / KIB)) or found.rate
    return "applied", { rate = rate, after = rate_of_all and 0 or found.after }, decision.rule("rate", found.id)
end
return _M
