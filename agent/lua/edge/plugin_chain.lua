-- The plugins of each phase in order of priority, and how they run. An error of a plugin ends here: it is counted and
-- logged, and the plugin's fail mode decides. "open" (default): the request continues. "closed": 503.
local abuse_ip = require("edge.plugins.abuse_ip")
local acl = require("edge.plugins.acl")
local anti_cc = require("edge.plugins.anti_cc")
local anti_header = require("edge.plugins.anti_header")
local anti_referer = require("edge.plugins.anti_referer")
local blacklist = require("edge.plugins.blacklist")
local blocked_set = require("edge.plugins.blocked")
local cache = require("edge.plugins.cache")
local cors = require("edge.plugins.cors")
local crawlers = require("edge.plugins.crawlers")
local custom_header = require("edge.plugins.custom_header")
local error_page = require("edge.plugins.error_page")
local firewall = require("edge.plugins.firewall")
local frequency = require("edge.plugins.frequency")
local geo = require("edge.plugins.geo")
local https = require("edge.plugins.https")
local limit_conn = require("edge.plugins.limit_conn")
local limit_req = require("edge.plugins.limit_req")
local lua_acl = require("edge.plugins.lua_acl")
local origin = require("edge.plugins.origin")
local proxy_rewrite = require("edge.plugins.proxy_rewrite")
local rates = require("edge.plugins.rates")
local robots = require("edge.plugins.robots")
local shield = require("edge.plugins.shield")
local site_limits = require("edge.plugins.site_limits")
local status = require("edge.plugins.status")
local token_auth = require("edge.plugins.token_auth")
local url_redirect = require("edge.plugins.url_redirect")
local user_agent = require("edge.plugins.user_agent")
local waf = require("edge.plugins.waf")
local zone_lists = require("edge.plugins.zone_lists")
local counters = require("edge.core.counters")
local settings = require("edge.core.settings")
local trails = require("edge.core.trails")
local concat, gsub, ipairs, loadstring, pcall = table.concat, string.gsub, ipairs, loadstring, pcall
local unpack = unpack

local _M = {}
local plugins = {
    status, anti_referer, anti_header, https, rates, cache, shield, origin, error_page, cors, custom_header, url_redirect, proxy_rewrite,
    token_auth, anti_cc, frequency, limit_conn, limit_req, blacklist, abuse_ip, geo, user_agent, acl, lua_acl, waf,
    crawlers, robots, site_limits, zone_lists,
}
-- Zones without a block set do not pay for it.
if settings.blocks then
    plugins[#plugins + 1] = blocked_set
end
-- Where the kernel drops blocked packets, no such request arrives, unless through a proxy.
if settings.refuses then
    plugins[#plugins + 1] = firewall
end
table.sort(plugins, function(a, b) return a.priority > b.priority end)

-- The form of this code decides what LuaJIT can compile. A loop over plugins compiles for one of them only, and a trace
-- cannot continue after a pcall returns. So a phase's plugins are steps that call each other, generated here, under a
-- single pcall. `trail` records progress. Steps instead of one function: after a loop within a plugin the next step
-- starts a new trace.
local NOT_HERE = "its module is not here"
local PLAIN = [[
local function step$at(trail, site, request, set)
    trail.at = $at
    local answer, target, rule = act$at(site, request)
    if answer then
        return answer, target, rule, "$cause"
    end
    return step$next(trail, site, request, set)
end
]]
local OF_MODULE = [[
local function step$at(trail, site, request, set)
    trail.at = $at
    local module = set.$name
    if module then
        local answer, target, rule = act$at(site, request, module)
        if answer then
            return answer, target, rule, "$name"
        end
    elseif set.missing and set.missing.$name then
        error("$not_here", 0)
    end
    return step$next(trail, site, request, set)
end
]]
-- In the access phase, for the decision trail.
local TIMED_MODULE = [[
local function step$at(trail, site, request, set)
    trail.at = $at
    local module = set.$name
    if module then
        local from = now()
        local answer, target, rule = act$at(site, request, module)
        trail[$at] = now() - from
        trail.is_timed = true
        if answer then
            return answer, target, rule, "$name"
        end
    elseif set.missing and set.missing.$name then
        error("$not_here", 0)
    end
    return step$next(trail, site, request, set)
end
]]
-- In logs and statistics. Plugins of modules have their names.
local function cause_of(plugin)
    return plugin.cause or plugin.name
end

local function steps_of(list, phase)
    local of_module = phase == "access" and TIMED_MODULE or OF_MODULE
    local functions, names, texts = {}, {}, {}
    for i, plugin in ipairs(list) do
        functions[i], names[i] = plugin[phase], "act" .. i
        local values = { at = i, next = i + 1, name = plugin.name, cause = cause_of(plugin), not_here = NOT_HERE }
        texts[#list - i + 1] = gsub(plugin.of_module and of_module or PLAIN, "%$([%a_]+)", values)
    end
    names[#list + 1], functions[#list + 1] = "now", trails.now
    local text = "local " .. concat(names, ", ") .. " = ...\nlocal function step" .. #list + 1 .. "() end\n"
        .. concat(texts) .. "return step1"
    return assert(loadstring(text, "=" .. phase))(unpack(functions))
end

local function with_steps(list, phase)
    list.steps, list.all.steps = steps_of(list, phase), steps_of(list.all, phase)
    return list
end

-- `all`: includes plugins of modules. Unassigned modules cost a domain nothing.
function _M.of(phase)
    local list = { all = {} }
    for i = 1, #plugins do
        local plugin = plugins[i]
        if plugin[phase] then
            list.all[#list.all + 1] = plugin
            if not plugin.of_module then
                list[#list + 1] = plugin
            end
        end
    end
    return with_steps(list, phase)
end

function _M.report_error(name, err)
    counters.count("pluginFailed")
    ngx.log(ngx.ERR, name, ": ", err)
end
local report_error = _M.report_error

-- Returns 503 for a plugin that fails closed.
local function failed(plugin, err)
    report_error(plugin.name, err)
    return plugin.fails == "closed" and 503 or nil
end

-- Runs code that is no plugin: errors are counted and logged, and the request continues. Returns the results of
-- `action`, or nil.
function _M.attempt(name, action, ...)
    local ok, answer = pcall(action, ...)
    if ok then
        return answer
    end
    report_error(name, answer)
end

-- A plugin returns nothing to continue, a status to refuse, "@name" to continue in another location, or a status with a
-- redirect target or a page. Third result: the id of the tenant's rule. Module plugins receive their prepared module.
-- `watch`: the observer of a simulated request.
local NO_MODULES = {}
local function visit(list, phase, site, request, set, watch, from)
    for i = from, #list do
        local plugin = list[i]
        local module = plugin.of_module and set[plugin.name]
        local ok, answer, target, rule = true, nil, nil, nil
        if module or not plugin.of_module then
            ok, answer, target, rule = pcall(plugin[phase], site, request, module)
        elseif set.missing and set.missing[plugin.name] then
            ok, answer = false, NOT_HERE
        end
        if not ok then
            answer, target, rule = failed(plugin, answer), nil, nil
        end
        if watch then
            watch:saw(phase, plugin, {
                ok = ok, answer = answer, target = target, rule = rule, site = site, request = request, module = module,
            })
        end
        if answer then
            return answer, target, rule, cause_of(plugin)
        end
    end
end

-- Between pcall and steps, and not a tail call: a trace of a step returns to here and could not return to pcall.
local function call(steps, trail, site, request, set)
    local answer, target, rule, name = steps(trail, site, request, set)
    return answer, target, rule, name
end

-- Fifth result: the trail, in the access phase.

function _M.run(list, phase, site, request, set, watch)
    if watch then
        return watch:around(phase, visit, list.all, phase, site, request, set or NO_MODULES, watch, 1)
    end
    local these = set and list.all or list
    local trail = { at = 0, from = phase == "access" and trails.now() or 0, list = these }
    local ok, answer, target, rule, name = pcall(call, these.steps, trail, site, request, set)
    if ok then
        return answer, target, rule, name, trail
    end
    local plugin = these[trail.at]
    answer = failed(plugin, answer)
    if answer then
        return answer, nil, nil, plugin.name, trail
    end
    return visit(these, phase, site, request, set or NO_MODULES, nil, trail.at + 1)
end

-- The list without access restrictions.
function _M.without_access_restrictions(list)
    local allowed = { all = {} }
    for _, plugin in ipairs(list.all) do
        if not plugin.restricts_access then
            allowed.all[#allowed.all + 1] = plugin
            if not plugin.of_module then
                allowed[#allowed + 1] = plugin
            end
        end
    end
    return with_steps(allowed, "access")
end

return _M
