-- One function per nginx phase. Each runs the phase's plugins (plugin_chain.lua) and acts on their result.
local admin = require("edge.admin")
local certificates = require("edge.tls.certificates")
local challenges = require("edge.tls.challenges")
local closing = require("edge.core.closing")
local concurrent_requests = require("edge.limits.concurrent_requests")
local requests = require("edge.core.request")
local fields = require("edge.http.fields")
local heartbeats = require("edge.core.heartbeats")
local images = require("edge.cache.images")
local purge_log = require("edge.cache.purge_log")
local large_fetches = require("edge.cache.large_fetches")
local leaders = require("edge.cache.leaders")
local lookup = require("edge.cache.lookup")
local pages = require("edge.pages")
local pictures = require("edge.anti_cc.pictures")
local preheat = require("edge.core.preheat")
local error_pages = require("edge.error_pages")
local hello = require("edge.tls.hello")
local origin = require("edge.plugins.origin")
local plugin_chain = require("edge.plugin_chain")
local own_errors = require("edge.own_errors")
local relay_request = require("edge.shield.relay_request")
local shield_serve = require("edge.shield.serve")
local trails = require("edge.core.trails")
local uploads = require("edge.uploads")
local attempt, report_error, run_plugins = plugin_chain.attempt, plugin_chain.report_error, plugin_chain.run
local pcall, type, var = pcall, type, ngx.var

local _M = {}
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

-- Notes the decisions about the request, and how long they took, for its log line.
local function log_decisions(request, trail, answer, rule)
    local lasting = request.trail
    if lasting == nil then
        lasting = trails.lasting(request)
    end
    local added = trails.added()
    if trail.is_timed or type(answer) == "number" then
        var.e_trail = trails.text(trail, answer, rule, lasting, added)
    elseif lasting then
        var.e_trail = added and added .. ";" .. lasting:sub(2) or lasting
    end
end

-- The site is unknown, or its documents cannot be served.
local function status_of(why)
    return why == "absent" and 903 or 503
end

-- RFC 9113 8.2.2: HTTP/2 and HTTP/3 have no upgrades.
local function is_malformed()
    return var.http_upgrade ~= nil and string.sub(var.server_protocol, 1, 6) ~= "HTTP/1"
end

local access = plugin_chain.of("access")
local own_access = plugin_chain.without_access_restrictions(access)
-- `watch`, here and below: see simulate/simulation.lua. nil for visitors.
function _M.access(watch)
    local request, why, closed_site = (watch or requests):visitor()
    if closing.is_on() and not watch and not ngx.req.is_internal() and string.sub(var.server_protocol, 1, 6) == "HTTP/1" then
        var.e_uri = var.request_uri
        return ngx.exec("@last")
    end
    if not request then
        local answer = status_of(why)
        return end_with(answer, var.request_id, nil, error_pages.find(closed_site, answer, var.host, var.uri))
    end
    if request.names_fields then
        fields.remove_named_by_visitor()
    end
    if request.has_weak_range then
        fields.remove_range()
    end
    local site = request.site.doc
    local proof = request.challenged and challenges.answer(request)
    if proof then
        if watch then
            watch:record("challenge", "answered")
        end
        return pages.say(proof)
    end
    var.e_site = site.id
    if site.logMask then
        var.e_mask = site.logMask
    end
    var.e_domain = request.host.doc.domainID
    if request.modules and request.modules.filters then
        var.e_modules = request.name
    end
    if request.place then
        var.e_uri = request.uri
    end
    if request.odd and is_malformed() or request.path_variants and request.path_variants.too_many then
        return end_with(400, var.request_id, nil, error_pages.find(site, 400, request.name, request.path))
    end
    local list = access
    if var.http_x_e_preheat and preheat.is_ours() then
        list = own_access
        if not watch then
            var.e_preheat = "true"
        end
    end
    local answer, target, rule, cause, trail = run_plugins(list, "access", site, request, request.modules, watch)
    if trail then
        -- An error of the log must not fail the request.
        attempt("trail", log_decisions, request, trail, answer, rule)
    end
    answer = answer or request.place
    if not watch and type(answer) ~= "number" then
        uploads.read(request)
    end
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

local header_filter = plugin_chain.of("header_filter")
function _M.header_filter(watch)
    local name = var.e_modules
    local set = name ~= "" and (watch or requests):modules_by_name(name)
    run_plugins(header_filter, "header_filter", nil, nil, set, watch)
    if not watch then
        attempt("limitConn", concurrent_requests.release_stale)
    end
end

-- Hop A, at the end of each visitor's request.
function _M.log()
    attempt("limitConn", concurrent_requests.release_request)
end

local origin_access = plugin_chain.of("origin_access")
function _M.origin_access(watch)
    local ending = not watch and attempt("leaders", leaders.elect)
    if ending then
        return ngx.exit(ending)
    end
    local request, why = (watch or requests):inner()
    local answer = status_of(why)
    if request then
        ngx.ctx.request = request
        answer = run_plugins(origin_access, "origin_access", request.site.doc, request, request.modules, watch)
    end
    if answer then
        return end_with(answer, var.http_x_request_id or "")
    end
end

-- Hop A, while another request fetches the same object.
function _M.wait()
    local ok, place = pcall(lookup.wait)
    if not ok then
        report_error("leaders", place)
        var.e_round = "alone"
    elseif place then
        return ngx.exec(place)
    end
end

-- Hop B again, for the request to a relay.
function _M.to_relay()
    local place = relay_request.access()
    if place then
        return ngx.exec(place)
    end
end

function _M.relay_balancer()
    return relay_request.balancer()
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

local origin_header = plugin_chain.of("origin_header")
function _M.origin_header(watch)
    local request = ngx.ctx.request
    forbid_storing()
    local answer = request and run_plugins(origin_header, "origin_header", request.site.doc, request, nil, watch) or nil
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
        report_error("images", closes)
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

local origin_log = plugin_chain.of("origin_log")
function _M.origin_log()
    run_plugins(origin_log, "origin_log")
    attempt("large_fetches", large_fetches.uncount_fetch)
    attempt("leaders", leaders.release)
end

function _M.balancer()
    return origin.balancer()
end

-- A handshake that cannot be inspected follows the zone's settings.
function _M.hello()
    local ok, answer = pcall(hello.limit)
    if not ok then
        report_error("hello", answer)
    elseif answer then
        return ngx.exit(ngx.ERROR)
    end
end

function _M.certificate()
    local ok, err = pcall(certificates.choose)
    if not ok then
        report_error("certificates", err)
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
    concurrent_requests.init_worker()
    if ngx.worker.id() == 0 then
        purge_log.compact()
        ngx.timer.every(60, purge_log.compact)
    end
end

function _M.exit_worker()
    purge_log.exit_worker()
    concurrent_requests.exit_worker()
end
return _M
