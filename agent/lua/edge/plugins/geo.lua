-- Region rules of a site. A rule that admits regions admits unknown ones, too. Fails open: a place is a guess.
local geo = require("edge.core.geo")
local memo = require("edge.core.memo")
local reaction = require("edge.core.reaction")
local set = require("edge.core.set")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local ipairs, var = ipairs, ngx.var

local _M = { name = "geo", priority = 4700, restricts_access = true }

local prepared = memo(function(rules)
    local list = {}
    for i, rule in ipairs(rules) do
        list[i] = {
            rule = rule,
            is_black = rule.isBlack,
            continents = set(rule.continents),
            countries = set(rule.countries),
            provinces = set(rule.provinces),
        }
    end
    return list
end)

local function names(rule, place)
    return rule.countries[place.country] or rule.continents[place.continent] or rule.provinces[place.province] or false
end

function _M.access(site, request)
    local rules = site.geos
    if not rules or white.has(site) then
        return nil
    end
    local place = geo.place(var.binary_remote_addr)
    if not place then
        return nil
    end
    for _, made in ipairs(prepared(rules)) do
        if names(made, place) == made.is_black and reaction.is_about(made.rule, request) then
            local answer, target, rule = reaction.of(_M.name, site, request, made.rule)
            if answer then
                return answer, target, rule
            end
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.geos then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    local place = geo.place(var.binary_remote_addr)
    detail.country = place and place.country
    return decision, detail, decisions.rule("geo", outcome.rule)
end
return _M
