-- The script of a domain. It has fuel for each request, and its site a budget for each second and worker. A stopped
-- request is handled as the site declares, and its log row says so. Fails closed.
local addresses = require("edge.core.addresses")
local blocks = require("edge.core.blocks")
local counters = require("edge.core.counters")
local changes = require("edge.core.dicts").changes
local decisions = require("edge.simulate.decision")
local is_loop = require("edge.acl.loop")
local record_monitor_match = require("edge.core.monitor_match")
local recent = require("edge.core.recent")
local white = require("edge.core.white")
local script_helpers = require("edge.acl.script_helpers")
local byte, error, loadstring, pcall, setfenv = string.byte, error, loadstring, pcall, setfenv
local time, tostring, var = ngx.time, tostring, ngx.var

local _M = { name = "luaAcl", priority = 3800, fails = "closed", of_module = true, restricts_access = true }
local DENY, CLOSE = 929, 444
local FUEL = 20000
-- For one second; a unit takes about 50 ns.
local BUDGET = 2000000
-- A single address must not use it up for all others.
local SHARE = BUDGET / 10
local OFF_SECONDS = 10
local COUNTED_SECONDS = 3600
local BYTECODE = 27
local SCRIPTS, COST, RUNS = "scripts", "script:cost:", "script:runs:"
local MOST_COUNTED = 1000

-- A script that does not load fails at each request, as its site declares.
local function loaded(doc)
    local chunk, err = nil, "bytecode is no script"
    if byte(doc.code) ~= BYTECODE then
        chunk, err = loadstring(doc.code, "=script")
    end
    if not chunk then
        ngx.log(ngx.ERR, "script ", doc.id, ": ", err)
        return function()
            error("the script is too complex", 0)
        end
    end
    -- The chunk reaches its argument only.
    return setfenv(chunk, {})(script_helpers.helpers)
end

function _M.prepare(doc)
    return {
        id = doc.id, run = loaded(doc), denies = doc.deniesAtLimit, monitor = doc.monitor, second = 0, cost = 0, runs = 0,
    }
end

-- Whether the dictionary counts this script. It also has the marks of documents, which counts must not evict.
local function is_counted(id)
    if changes:get(COST .. id) then
        return true
    end
    return (changes:llen(SCRIPTS) or 0) < MOST_COUNTED and changes:safe_add(COST .. id, 0, COUNTED_SECONDS)
        and changes:safe_add(RUNS .. id, 0, COUNTED_SECONDS) and changes:rpush(SCRIPTS, id)
end

-- For GET /status. A full dictionary loses counts only.
local function report(module)
    if is_counted(module.id) then
        changes:incr(COST .. module.id, module.cost)
        changes:incr(RUNS .. module.id, module.runs)
    end
end

-- By site: what its scripts cost in this second, in all and by address. `off`: until when they do not run.
local budgets = recent.new(2000)
local function budget_of(site, now)
    local budget = budgets:get(site)
    if not budget then
        budget = { second = now, cost = 0, costs = {}, off = 0 }
        budgets:set(site, budget)
    elseif budget.second ~= now then
        budget.second, budget.cost, budget.costs = now, 0, {}
    end
    return budget
end

-- The budget of the site. nil while its scripts are off: they used it within a second.
local function available(module, site)
    local now = time()
    local budget = budget_of(site, now)
    if now < budget.off then
        return nil
    end
    if now ~= module.second then
        if module.runs > 0 then
            report(module)
        end
        module.second, module.cost, module.runs = now, 0, 0
    end
    if budget.cost > BUDGET then
        budget.off = now + OFF_SECONDS
        counters.count("scriptOff")
        ngx.log(ngx.WARN, "scripts of site ", site, " are off: they used their budget, the last one was ", module.id)
        return nil
    end
    return budget
end

local actions = {}
function actions.deny()
    return DENY
end
function actions.drop()
    return CLOSE
end
function actions.blacklist(request, _, _, rule)
    if not request.simulated then
        blocks.add_for_site(_M.name, request.site.doc.id, rule)
    end
    return CLOSE
end
function actions.allow() end
function actions.redirect(request, target, code)
    if not is_loop(target, request) then
        return code, target
    end
end

local function note(module, why)
    var.e_cause, var.e_rule = _M.name, why .. "/" .. module.id
end

-- A stopped script always leaves its mark in the log row, whatever then happens.
local function stopped(module, why)
    counters.count("scriptStopped")
    note(module, why)
    if module.denies and not module.monitor then
        return DENY
    end
end

-- The first path variant that the script does not allow decides. All of them share the fuel.
local function run(module, request, R)
    local variants = request.path_variants
    if not variants then
        return module.run(R)
    end
    local action, target, code
    for i = 1, #variants do
        R.request = variants[i]
        action, target, code = module.run(R)
        if action and action ~= "allow" then
            break
        end
    end
    return action, target, code
end

local function decide(module, request, R)
    local budget = available(module, request.site.doc.id)
    if not budget then
        return "off"
    end
    local network, costs = addresses.network(var.binary_remote_addr), budget.costs
    local spent = costs[network] or 0
    if spent > SHARE then
        return "share"
    end
    local ok, action, target, code = pcall(run, module, request, R)
    local cost = FUEL - R.fuel
    budget.cost, costs[network] = budget.cost + cost, spent + cost
    module.cost, module.runs = module.cost + cost, module.runs + 1
    if not ok then
        R.failure = tostring(action)
        return action == script_helpers.SPENT and "over" or "failed"
    end
    return nil, action, target, code
end

function _M.access(site, request, module)
    if white.has(site) or ngx.ctx.acl_allows then
        return nil
    end
    local R = { fuel = FUEL, entries = 0, seen = {}, request = request, id = module.id }
    local why, action, target, code = decide(module, request, R)
    if request.simulated then
        request.script = { fuel = FUEL - R.fuel, action = action, failure = why and (R.failure or why) }
    end
    if why then
        local status = stopped(module, why)
        return status, nil, status and why .. "/" .. module.id
    end
    if not action then
        return nil
    end
    if module.monitor then
        record_monitor_match(_M.name, module.id, action ~= "allow")
        return nil
    end
    local status
    status, target = actions[action](request, target, code, module.id)
    return status, target, status and module.id
end

-- Units and runs of scripts, each for an hour since its first run.
function _M.costs()
    local all = {}
    for _ = 1, changes:llen(SCRIPTS) or 0 do
        local id = changes:lpop(SCRIPTS)
        local cost = id and changes:get(COST .. id)
        if cost then
            changes:rpush(SCRIPTS, id)
            all[#all + 1] = { module = id, cost = cost, runs = changes:get(RUNS .. id) }
        end
    end
    return all
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.module then
        return "unused"
    end
    local made = outcome.request.script
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    if made then
        detail.fuel, detail.action, detail.error = made.fuel, made.action, made.failure
        if outcome.module.monitor and (made.action or made.failure) then
            detail.why = "monitored"
        elseif made.action == "allow" then
            decision = "applied"
        end
    end
    return decision, detail, decisions.rule("module", outcome.module.id)
end
return _M
