-- Explains a plugin's decision from its results and what it left in the request: step, decision, detail and rule.
-- Plugins of rules have their own `explain`, by phase. It runs for simulated requests only.
local birth_of = require("edge.cache.object_age").unpack
local choice = require("edge.origin.choice")
local decisions = require("edge.simulate.decision")
local zones = require("edge.core.zone")
local common, rule = decisions.common, decisions.rule
local header, var = ngx.header, ngx.var
local type, tonumber = type, tonumber

local function module_rule(plugin, outcome)
    local host = outcome.request and outcome.request.host.doc
    return rule("module", host and host.modules and host.modules[plugin.name])
end

local access = {}

function access.status(outcome)
    local decision = common(outcome)
    return decision, { state = outcome.site.status }
end

-- Challenged by a page, or by a redirect that sets a cookie.
function access.antiCC(outcome)
    local zone = zones.get()
    if not outcome.site.antiCCs and (not zone or not zone.doc.antiCC) then
        return "unused"
    end
    local decision, detail = common(outcome)
    if decision == "redirected" and type(outcome.target) == "table" then
        decision, detail = "refused", { status = outcome.answer }
    end
    detail = detail or {}
    detail.why = outcome.request.anti_cc_why
    local id = outcome.rule
    return decision, detail, rule("antiCC", id and not id:find("zone", 1, true) and id or nil)
end

function access.tokenAuth(outcome)
    if not outcome.module then
        return "unused"
    end
    local token = outcome.request.token
    if not token then
        return "noRule"
    end
    local decision, detail = common(outcome)
    detail = detail or {}
    detail.why = outcome.request.token_fault
    return decision, detail, rule("tokenAuth", token.auth.id)
end

function access.https(outcome)
    local wanted = outcome.request.host.doc.https
    if not wanted then
        return "unused"
    end
    local decision, detail = common(outcome)
    return decision, detail or { hsts = outcome.request.scheme == "https" and wanted.hsts or nil }
end

function access.urlRedirect(outcome, plugin)
    if not outcome.module then
        return "unused"
    end
    local made = outcome.request.redirect
    local decision, detail = common(outcome)
    if decision == "passed" then
        return "noRule", nil, module_rule(plugin, outcome)
    end
    return decision, detail, rule("redirect", made and made.id)
end

-- Why a request bypasses the cache.
local function why_past(outcome, made)
    local place = outcome.answer
    if made.never then
        return made.unsafe and "method" or outcome.request.path_variants and "ambiguous" or "rule"
    end
    if made.disk_full then
        return "diskFull"
    end
    if var.e_upgrade ~= "" then
        return "upgrade"
    end
    if var.e_body ~= "" then
        return "body"
    end
    if made.honours_visitor and made.pass_until <= ngx.time() and (var.http_cache_control or var.http_pragma) then
        return "visitor"
    end
    if made.pass_cookies and place == "@pass" and made.pass_until <= ngx.time() and made.personal_until <= ngx.time() then
        return "cookie"
    end
    return "known"
end

function access.cache(outcome)
    local made = outcome.request.cache
    if not outcome.ok or not made then
        return common(outcome)
    end
    local found = made.found
    local detail = { key = var.e_key }
    local by = rule("cacheRule", found and found.id)
    if type(outcome.answer) == "number" then
        return common(outcome)
    end
    if outcome.answer == "@pass" or outcome.answer == "@post" or var.e_bypass ~= "" then
        detail.why = why_past(outcome, made)
        return "past", detail, by
    end
    detail.why = made.version and "purged" or nil
    return outcome.answer == "@slice" and "slices" or "looked", detail, by
end

local origin_access = {}

function origin_access.origin(outcome)
    if outcome.answer == "@verified" then
        return nil
    end
    local decision, detail = common(outcome)
    local attempts = ngx.ctx.attempts
    local peer = decision == "passed" and attempts and attempts.peers[1]
    if not peer then
        return decision, detail
    end
    return "chosen", {
        address = peer.address .. ":" .. peer.port, name = peer.upstream.address, backup = peer.upstream.backup,
        others = #attempts.peers - 1, resting = choice.resting(attempts.origin), scheme = var.o_scheme, serverName = var.o_name ~= "" and var.o_name or nil,
        method = attempts.origin.method,
    }, rule("upstream", peer.upstream.id)
end

-- A simulation asks neither a relay nor an origin.
function origin_access.shield(outcome)
    local zone = zones.get()
    if not outcome.site.shield or not zone or not zone.doc.relays or not zone.doc.relays[1] then
        return "unused"
    end
    return "applied", { relays = #zone.doc.relays }
end

function origin_access.proxyRewrite(outcome, plugin)
    if not outcome.module then
        return "unused"
    end
    local at = outcome.request.rewritten
    if not at then
        return "noRule", nil, module_rule(plugin, outcome)
    end
    return "applied", { rule = at, path = var.uri, query = var.args, host = var.o_host }, module_rule(plugin, outcome)
end

function origin_access.customHeader(outcome, plugin)
    local changes = outcome.module and outcome.module.request
    if not changes then
        return "unused"
    end
    return "applied", { changes = #changes }, module_rule(plugin, outcome)
end

local origin_header = {}

function origin_header.cache(outcome)
    if outcome.answer == "close" then
        return "closed", { status = ngx.status }
    end
    local response = outcome.request.response
    if not outcome.ok or not response then
        return common(outcome)
    end
    local detail = {
        status = response.status, why = response.why, compressed = response.compressed,
        browserSeconds = header["X-E-Browser"], vary = response.names, tags = header["X-E-Tags"] and "yes" or nil,
        webp = response.webp and "yes" or nil,
    }
    local by = rule("cacheRule", response.rule and response.rule.id)
    if not response.expires then
        return "renewed", detail, by
    end
    if response.expires == "0" then
        detail.why = detail.why or "noTime"
        return "notStored", detail, by
    end
    local packed = tonumber(header["X-E-Birth"])
    local _, lifetime = birth_of(packed or 0)
    detail.seconds = packed and lifetime
    detail.strippedCookies = response.rule and response.rule.stripCookies and "yes" or nil
    detail.stale = header["Cache-Control"]
    return "stored", detail, by
end

local header_filter = {}

function header_filter.https()
    return var.e_hsts ~= "" and "applied" or nil, { hsts = var.e_hsts }
end

function header_filter.cors(outcome)
    if not outcome.module then
        return nil
    end
    local allowed = header["Access-Control-Allow-Origin"]
    return allowed and "applied" or "noRule", { origin = var.http_origin, allowed = allowed }
end

function header_filter.customHeader(outcome)
    local changes = outcome.module and outcome.module.response
    return changes and "applied" or nil, { changes = changes and #changes }
end

local phases = {
    access = access, origin_access = origin_access, origin_header = origin_header, header_filter = header_filter,
}
-- Steps that need no explanation, or have another name in a later phase.
local SILENT = { header_filter = { cache = true }, origin_access = { cache = true }, origin_header = { origin = true } }
local NAMES = {
    origin_access = { customHeader = "requestHeaders" },
    origin_header = { cache = "keep" },
    header_filter = { https = "hsts", cors = "corsAnswer", customHeader = "responseHeaders" },
}

return function(phase, plugin, outcome)
    local name = plugin.name
    if SILENT[phase] and SILENT[phase][name] and outcome.ok then
        return nil
    end
    local step = NAMES[phase] and NAMES[phase][name] or name
    local by_name = plugin.explain and plugin.explain[phase] or phases[phase][name]
    if by_name and outcome.ok then
        local decision, detail, by = by_name(outcome, plugin)
        return decision and step, decision, detail, by
    end
    if plugin.of_module and not outcome.module and outcome.ok then
        return step, "unused"
    end
    local decision, detail = common(outcome)
    return step, decision, detail, rule("rule", outcome.rule) or module_rule(plugin, outcome)
end
