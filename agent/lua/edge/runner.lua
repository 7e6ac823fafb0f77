-- One function per phase, which runs its plugins by priority. Only here are requests refused and plugin errors caught:
-- they are counted and logged, and the plugin's fail mode decides. "open" (default): the request continues. "closed":
-- 503.
local admin = require("edge.admin")
local certificates = require("edge.tls.certificates")
local challenges = require("edge.tls.challenges")
local closing = require("edge.core.closing")
local counters = require("edge.core.counters")
local requests = require("edge.core.request")
local heartbeats = require("edge.core.heartbeats")
local images = require("edge.cache.images")
local journal = require("edge.cache.journal")
local leaders = require("edge.cache.leaders")
local lookup = require("edge.cache.lookup")
local pages = require("edge.pages")
local pictures = require("edge.anti_cc.pictures")
local preheat = require("edge.core.preheat")
local anti_cc = require("edge.plugins.anti_cc")
local anti_header = require("edge.plugins.anti_header")
local anti_referer = require("edge.plugins.anti_referer")
local blocked_set = require("edge.plugins.blocked")
local cache = require("edge.plugins.cache")
local cors = require("edge.modules.cors")
local custom_header = require("edge.modules.custom_header")
local error_page = require("edge.plugins.error_page")
local error_pages = require("edge.error_pages")
local firewall = require("edge.plugins.firewall")
local hello = require("edge.tls.hello")
local https = require("edge.plugins.https")
local origin = require("edge.plugins.origin")
local own_errors = require("edge.own_errors")
local rates = require("edge.plugins.rates")
local settings = require("edge.core.settings")
local shield = require("edge.plugins.shield")
local shield_ask = require("edge.shield.ask")
local shield_serve = require("edge.shield.serve")
local proxy_rewrite = require("edge.modules.proxy_rewrite")
local status = require("edge.plugins.status")
local token_auth = require("edge.modules.token_auth")
local url_redirect = require("edge.modules.url_redirect")
local concat, gsub, ipairs, loadstring, pcall, type = table.concat, string.gsub, ipairs, loadstring, pcall, type
local unpack, var = unpack, ngx.var

local _M = {}
local plugins = {
    status, anti_referer, anti_header, https, rates, cache, shield, origin, error_page, cors, custom_header, url_redirect, proxy_rewrite,
    token_auth, anti_cc,
}
-- Zones without a block set do not pay for it.
if settings.blocks then
    plugins[#plugins + 1] = blocked_set
end
-- Where the kernel drops blocked packets, no such request arrives.
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
        return answer, target, rule, "$name"
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
local function steps_of(list, phase)
    local functions, names, texts = {}, {}, {}
    for i, plugin in ipairs(list) do
        functions[i], names[i] = plugin[phase], "act" .. i
        local said = { at = i, next = i + 1, name = plugin.name, not_here = NOT_HERE }
        texts[#list - i + 1] = gsub(plugin.of_module and OF_MODULE or PLAIN, "%$([%a_]+)", said)
    end
    local text = "local " .. concat(names, ", ") .. " = ...\nlocal function step" .. #list + 1 .. "() end\n"
        .. concat(texts) .. "return step1"
    return assert(loadstring(text, "=" .. phase))(unpack(functions))
end

local function with_steps(list, phase)
    list.steps, list.all.steps = steps_of(list, phase), steps_of(list.all, phase)
    return list
end

-- `all`: includes plugins of modules. Unassigned modules cost a domain nothing.
local function taking_part(phase)
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

local function failed(plugin, err)
    counters.count("pluginFailed")
    ngx.log(ngx.ERR, plugin.name, ": ", err)
    return plugin.fails == "closed" and 503 or nil
end

-- Runs code that is no plugin: errors are counted and logged, and the request continues. Returns the results of
-- `action`, or nil.
local function attempt(name, action, ...)
    local ok, answer = pcall(action, ...)
    if ok then
        return answer
    end
    failed({ name = name }, answer)
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
            return answer, target, rule, plugin.name
        end
    end
end

-- Between pcall and steps, and not a tail call: a trace of a step returns to here and could not return to pcall.
local function run(steps, trail, site, request, set)
    local answer, target, rule, name = steps(trail, site, request, set)
    return answer, target, rule, name
end

local function visit_for(list, phase, site, request, set, watch)
    if watch then
        return watch:around(phase, visit, list.all, phase, site, request, set or NO_MODULES, watch, 1)
    end
    local these, trail = set and list.all or list, { at = 0 }
    local ok, answer, target, rule, name = pcall(run, these.steps, trail, site, request, set)
    if ok then
        return answer, target, rule, name
    end
    local plugin = these[trail.at]
    answer = failed(plugin, answer)
    if answer then
        return answer, nil, nil, plugin.name
    end
    return visit(these, phase, site, request, set or NO_MODULES, nil, trail.at + 1)
end

local function end_with(answer, id, target, page)
    if target then
        return ngx.redirect(target, answer)
    end
    if type(answer) == "string" then
        return ngx.exec(answer)
    end
    if answer == ngx.HTTP_NO_CONTENT then
        return ngx.exit(answer)
    end
    return pages.send(answer, id, page)
end

-- The log names the plugin and the rule. The response is not stored, since it depends on the visitor.
local function blocked(cause, rule)
    var.e_cause, var.e_rule = cause, rule
    ngx.header["Cache-Control"] = "no-store"
end

-- The list without access restrictions.
local function trusting(list)
    local kept = { all = {} }
    for _, plugin in ipairs(list.all) do
        if not plugin.guards then
            kept.all[#kept.all + 1] = plugin
            if not plugin.of_module then
                kept[#kept + 1] = plugin
            end
        end
    end
    return with_steps(kept, "access")
end

-- The site is unknown, or its documents cannot be served.
local function status_of(why)
    return why == "absent" and 903 or 503
end

local access = taking_part("access")
local own_access = trusting(access)
-- `watch`, here and below: see simulate/simulation.lua. nil for visitors.
function _M.access(watch)
    local request, why, closed = (watch or requests):visitor()
    if closing.is_on() and not watch and not ngx.req.is_internal() and string.sub(var.server_protocol, 1, 6) == "HTTP/1" then
        var.e_uri = var.request_uri
        return ngx.exec("@last")
    end
    if not request then
        local page = closed and error_pages.find(closed, 903, var.host, var.uri)
        return end_with(status_of(why), var.request_id, nil, page)
    end
    local site = request.site.doc
    local proof = request.challenged and challenges.answer(request)
    if proof then
        if watch then
            watch:tell("challenge", "answered")
        end
        return pages.say(proof)
    end
    var.e_site = site.id
    var.e_domain = request.host.doc.domainID
    if request.modules and request.modules.filters then
        var.e_modules = request.name
    end
    if request.place then
        var.e_uri = request.uri
    end
    local list = var.http_x_e_preheat and preheat.is_ours() and own_access or access
    local answer, target, rule, cause = visit_for(list, "access", site, request, request.modules, watch)
    answer = answer or request.place
    if answer then
        if rule then
            blocked(cause, rule)
        end
        if type(target) == "table" then
            return end_with(answer, var.request_id, nil, target)
        end
        local page = error_pages.find(site, answer, request.name, request.path)
        return end_with(answer, var.request_id, target, page)
    end
end

local header_filter = taking_part("header_filter")
function _M.header_filter(watch)
    local name = var.e_modules
    local set = name ~= "" and (watch or requests):modules_by_name(name)
    visit_for(header_filter, "header_filter", nil, nil, set, watch)
end

local origin_access = taking_part("origin_access")
function _M.origin_access(watch)
    local ending = not watch and attempt("leaders", leaders.elect)
    if ending then
        return ngx.exit(ending)
    end
    local request, why = (watch or requests):inner()
    local answer = status_of(why)
    if request then
        ngx.ctx.request = request
        answer = visit_for(origin_access, "origin_access", request.site.doc, request, request.modules, watch)
    end
    if answer then
        return end_with(answer, var.http_x_request_id or "")
    end
end

-- Hop A, while another request fetches the same object.
function _M.wait()
    local ok, place = pcall(lookup.wait)
    if not ok then
        failed({ name = "leaders" }, place)
        var.e_round = "alone"
    elseif place then
        return ngx.exec(place)
    end
end

-- Hop B again, to ask a relay.
function _M.to_relay()
    local place = shield_ask.access()
    if place then
        return ngx.exec(place)
    end
end

function _M.relay_balancer()
    return shield_ask.balancer()
end

-- Requests of edge nodes to a relay.
function _M.relay_access()
    local answer = shield_serve.access()
    if answer == 903 then
        return end_with(answer, var.request_id)
    end
    if answer then
        return type(answer) == "string" and ngx.exec(answer) or ngx.exit(answer)
    end
end

function _M.relay_header()
    shield_serve.header_filter()
end

-- Hop A does not store responses that the cache plugin has not checked. After a 304, 0 would renew the stored response,
-- and @1 does not.
local function forbid_storing()
    local renews = ngx.status == 304 and var.http_x_e_state == "EXPIRED"
    ngx.header["X-Accel-Expires"] = renews and "@1" or "0"
end

local origin_header = taking_part("origin_header")
function _M.origin_header(watch)
    local request = ngx.ctx.request
    forbid_storing()
    local answer = request and visit_for(origin_header, "origin_header", request.site.doc, request, nil, watch) or nil
    if answer == 503 then
        forbid_storing()
    end
    attempt("leaders", leaders.decide, answer and answer ~= 503)
    if answer and answer ~= 503 then
        -- Close without a response: hop A may serve a stale one.
        return ngx.exit(ngx.ERROR)
    end
end

-- Hop B, for responses from the image service.
function _M.image_header()
    local ok, closes = pcall(images.received)
    if not ok then
        failed({ name = "images" }, closes)
        forbid_storing()
        closes = nil
    end
    attempt("leaders", leaders.decide, closes)
    if closes then
        return ngx.exit(ngx.ERROR)
    end
end

function _M.origin_body()
    origin.origin_body()
    if ngx.arg[2] then
        attempt("leaders", leaders.note_whole)
    end
end

local origin_log = taking_part("origin_log")
function _M.origin_log()
    visit_for(origin_log, "origin_log")
    attempt("leaders", leaders.release)
end

function _M.balancer()
    return origin.balancer()
end

-- A handshake that cannot be inspected follows the zone's settings.
function _M.hello()
    local ok, answer = pcall(hello.limit)
    if not ok then
        failed({ name = "hello" }, answer)
    elseif answer then
        return ngx.exit(ngx.ERROR)
    end
end

function _M.certificate()
    local ok, err = pcall(certificates.choose)
    if not ok then
        failed({ name = "certificates" }, err)
    end
end

function _M.own_error()
    return own_errors.send()
end

function _M.slice_error()
    return own_errors.send_for_slice()
end

function _M.admin()
    return admin.serve()
end

function _M.init_worker()
    origin.init_worker()
    pictures.init_worker()
    heartbeats.start()
    if ngx.worker.id() == 0 then
        journal.compact()
        ngx.timer.every(60, journal.compact)
    end
end
return _M
