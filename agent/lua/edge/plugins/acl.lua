-- Access rules of a site: the first rule that matches decides. A request's rules have a budget of work. Beyond it each
-- condition counts as its rule declares, and the log row says so. Fails closed.
local blocks = require("edge.core.blocks")
local condition_of = require("edge.acl.conditions")
local decisions = require("edge.simulate.decision")
local is_loop = require("edge.acl.loop")
local path_variants = require("edge.core.path_variants")
local counters = require("edge.core.counters")
local record_monitor_match = require("edge.core.monitor_match")
local white = require("edge.core.white")
local work = require("edge.acl.work")
local ipairs, var = ipairs, ngx.var

local _M = { name = "acl", priority = 3900, fails = "closed", of_module = true, restricts_access = true }
local DENY, CLOSE = 929, 444
-- Units of acl/work.lua: about 10 ms.
local BUDGET = 200000

function _M.prepare(doc)
    local list = {}
    for i, rule in ipairs(doc.rules) do
        local any = {}
        for j, group in ipairs(rule.any) do
            any[j] = {}
            for k, condition in ipairs(group) do
                any[j][k] = condition_of(condition, rule.id)
            end
        end
        list[i] = {
            id = rule.id, name = rule.name, any = any, action = rule.action, redirect = rule.redirect,
            monitor = rule.monitor, at_limit = rule.matchesAtLimit,
        }
    end
    return list
end

local function all_hold(group, rule, seen, request)
    for i = 1, #group do
        local holds, err = group[i](seen, request)
        if err then
            if err ~= work.OVER then
                counters.count("aclLimited")
            elseif not seen.over then
                seen.over = rule.id
            end
            holds = rule.at_limit
        end
        if not holds then
            return false
        end
    end
    return true
end

local function matches(request, rule, seen)
    local any = rule.any
    for i = 1, #any do
        if all_hold(any[i], rule, seen, request) then
            return true
        end
    end
    return false
end

local actions = {}
function actions.deny()
    return DENY
end
function actions.drop()
    return CLOSE
end
-- The address may be spared, and the set may be full. The connection is closed all the same.
function actions.blacklist(rule, request)
    if not request.simulated then
        blocks.add_for_site(_M.name, request.site.doc.id, rule.id)
    end
    return CLOSE
end
-- Skips the other rules and the script. Request objects are shared, so the context notes it.
function actions.allow()
    ngx.ctx.acl_allows = true
end
function actions.redirect(rule)
    return rule.redirect.code, rule.redirect.url
end

local function note(rule)
    var.e_cause, var.e_rule = _M.name, rule
end

local function act(rule, request, seen)
    local status, target = actions[rule.action](rule, request)
    if not seen.over then
        return status, target, status and rule.id
    end
    counters.count("aclOver")
    note("over/" .. rule.id)
    return status, target, status and "over/" .. rule.id
end

local function decide(request, module)
    local seen = { left = BUDGET }
    local outcome
    -- Other requests share their object.
    if request.simulated then
        outcome = {}
        request.acl = outcome
    end
    for i = 1, #module do
        local rule = module[i]
        local judge = rule.action == "allow" and path_variants.all or path_variants.any
        -- A redirect to the requested URL would loop. The next rules decide.
        if judge(request, matches, rule, seen) and not (rule.redirect and is_loop(rule.redirect.url, request)) then
            if outcome then
                outcome[#outcome + 1] = rule
            end
            if not rule.monitor then
                return act(rule, request, seen)
            end
            record_monitor_match(_M.name, rule.id, rule.action ~= "allow")
        end
    end
    if seen.over then
        counters.count("aclOver")
        note("over/" .. seen.over)
    end
end

function _M.access(site, request, module)
    if not white.has(site) then
        return decide(request, module)
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.module then
        return "unused"
    end
    local matched = outcome.request.acl
    local last = matched and matched[#matched]
    if not last then
        return "noRule"
    end
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    detail.rule, detail.action = last.name, last.action
    if last.monitor then
        decision, detail.why = "passed", "monitored"
    elseif last.action == "allow" then
        decision = "applied"
    end
    return decision, detail, decisions.rule("acl", last.id)
end
return _M
