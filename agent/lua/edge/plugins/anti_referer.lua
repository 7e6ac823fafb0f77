-- Refuses requests by Referer. The first of the domain's rules that matches the path decides. The domain's own pages
-- are always allowed. Fails closed.
local memo = require("edge.core.memo")
local paths = require("edge.core.paths")
local path_variants = require("edge.core.path_variants")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local find, sub, lower, match = string.find, string.sub, string.lower, string.match
local ipairs, var = ipairs, ngx.var

local _M = { name = "antiReferer", priority = 4200, fails = "closed", restricts_access = true }
local LONGEST = 253

-- nil without a host. Text before an @ is user information.
local function host_of(referer)
    local place = match(referer, "^[Hh][Tt][Tt][Pp][Ss]?://([^/?#\\]*)")
    local host = place and match(match(place, "^.*@(.*)$") or place, "^[^:]+")
    return host and lower(sub(host, -1) == "." and sub(host, 1, -2) or host)
end

-- Patterns by the text after their star.
local function prepare(rule)
    local made = {
        id = rule.id,
        is_black = rule.isBlack,
        allows_empty = rule.allowEmpty,
        redirect = rule.redirect,
        is_about = paths.matcher(rule),
        exact = {},
        one = {},
        any = {},
    }
    for _, pattern in ipairs(rule.referers) do
        if sub(pattern, 1, 3) == "**." then
            made.any[sub(pattern, 4)] = true
        elseif sub(pattern, 1, 2) == "*." then
            made.one[sub(pattern, 3)] = true
        else
            made.exact[pattern] = true
        end
    end
    return made
end

local prepared = memo(function(rules)
    local list = {}
    for i, rule in ipairs(rules) do
        list[i] = prepare(rule)
    end
    return list
end)

local function after_dot(name)
    local dot = find(name, ".", 1, true)
    return dot and sub(name, dot + 1)
end

local function lists(rule, host)
    if rule.exact[host] then
        return true
    end
    local rest = #host <= LONGEST and after_dot(host)
    if rest and rule.one[rest] then
        return true
    end
    while rest do
        if rule.any[rest] then
            return true
        end
        rest = after_dot(rest)
    end
    return false
end

-- At the match limit the rule counts as matching the path.
local function covers(request, rule)
    local is_about, err = rule.is_about(request.path, paths.extension(request.path))
    return is_about or err
end

-- An ambiguous path must also be written as in the target.
local function is_target(redirect, request)
    return redirect.host == request.name and redirect.path == request.path
        and (not request.path_variants or sub(redirect.url, -#request.uri) == request.uri)
end

-- false: no rule. The redirect target of a rule is exempt, or visitors would loop.
local function choose(rules, request)
    for _, rule in ipairs(prepared(rules)) do
        if path_variants.any(request, covers, rule) then
            local redirect = rule.redirect
            return not (redirect and is_target(redirect, request)) and rule
        end
    end
    return false
end

-- Most requests come from the domain's own pages and are recognised without patterns.
local function is_own(referer, name)
    local at = find(referer, "://", 1, true)
    local scheme = at and sub(referer, 1, at - 1)
    return (scheme == "https" or scheme == "http") and sub(referer, at + 3, at + 3 + #name) == name .. "/"
end

local function lets_in(rule, name)
    local referer = var.http_referer
    if referer and is_own(referer, name) then
        return true
    end
    local host = referer and host_of(referer)
    if not host then
        return rule.allows_empty
    end
    return host == name or lists(rule, host) ~= rule.is_black
end

function _M.access(site, request)
    local rules = request.host.doc.antiReferers
    if not rules or white.has(site) then
        return nil
    end
    local rule = request.anti_referer
    if rule == nil then
        rule = choose(rules, request)
        request.anti_referer = rule
    end
    if not rule or lets_in(rule, request.name) then
        return nil
    end
    if rule.redirect then
        return 302, rule.redirect.url, rule.id
    end
    return 403, nil, rule.id
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.request.host.doc.antiReferers then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    local found = outcome.request.anti_referer
    detail = detail or {}
    detail.referer = var.http_referer
    return found and decision or "noRule", detail, decisions.rule("antiReferer", found and found.id)
end
return _M
