-- The facts about a request that its first line and its site determine. Equal facts share one object, which is cached.
-- Plugins may add what they derive from configuration alone.
local docs = require("edge.core.docs")
local modules = require("edge.core.modules")
local ports = require("edge.core.ports")
local path_variants = require("edge.core.path_variants")
local recent = require("edge.core.recent")
local settings = require("edge.core.settings")
local token_auth = require("edge.plugins.token_auth")
local challenges = require("edge.tls.challenges")
local misdirected = require("edge.tls.misdirected")
local find, sub = string.find, string.sub
local get_method, var = ngx.req.get_method, ngx.var

local _M = {}
local KEPT = 3000
local LONGEST = 1024
local remembered, sets = recent.new(KEPT), recent.new(KEPT)

-- Only valid names: nothing that could leave the folder or address the wildcard directly.
local function is_name(name)
    return #name <= 253 and not find(name, "[^a-z0-9._-]") and find(name, ".", 1, true)
        and not find(name, "..", 1, true) and sub(name, 1, 1) ~= "."
end

local function host_of(name, get)
    local host, why = get("host/" .. name)
    if host or why ~= "absent" then
        return host, why
    end
    return get("host/*" .. sub(name, (find(name, ".", 1, true))))
end

-- The host document of a name: its own, or the wildcard's one level up. `get`: reads documents.
function _M.host(name, get)
    if not is_name(name) then
        return nil, "absent"
    end
    return host_of(name, get or docs.get)
end

-- The modules of the requested name. Every response needs them, so they are cached until anything changes.
function _M:modules_by_name(name)
    local known = sets:get(name)
    if known and known.news == docs.news then
        return known.set
    end
    local set, is_lasting = _M.modules_of(name, docs.get)
    if is_lasting then
        sets:set(name, { set = set, news = docs.news })
    end
    return set
end

-- Second result: whether it is valid until anything changes.
function _M.modules_of(name, get)
    local host = host_of(name, get)
    local set = host and modules.of(host, get)
    return set, set and not host.suspect and modules.is_lasting(set)
end

-- `at`: "scheme:port" of the visitor's request.
local function facts_of(name, at, tick, get)
    local host, why = _M.host(name, get)
    if not host then
        return nil, why
    end
    local site
    site, why = get("site/" .. host.doc.siteID)
    if not site then
        return nil, why
    end
    local colon = find(at, ":", 1, true)
    local port = tonumber(sub(at, colon + 1))
    if not ports.is_open(site.doc, port) then
        return nil, "absent", site.doc
    end
    local assigned = modules.of(host, get)
    if assigned and assigned.lacking then
        return nil, "lacking"
    end
    local path = var.uri
    return {
        name = name,
        host = host,
        site = site,
        modules = assigned,
        at = at,
        scheme = sub(at, 1, colon - 1),
        port = port,
        method = get_method(),
        path = path,
        uri = var.request_uri,
        args = var.args,
        -- The wildcard's result is valid until a document of the exact name appears.
        epoch = host.doc.name ~= name and docs.epoch or nil,
        tick = tick,
    }
end

local function add_path_variants(request)
    request.path_variants = path_variants.of(request)
    request.challenged = path_variants.all(request, challenges.is_asked)
end

function _M.describe(name, at, tick, get)
    local request, why, closed = facts_of(name, at, tick, get)
    if request then
        add_path_variants(request)
    end
    return request, why, closed
end

local function is_current(request)
    return not request.host.stale and not request.site.stale and not (request.handshake and request.handshake.stale)
        and (not request.epoch or request.epoch == docs.epoch)
        and (not request.modules or modules.is_current(request.modules))
end

-- A visitor's request.
function _M.visiting(name, at, tick, get)
    local request, why, closed = facts_of(name, at, tick, get)
    if not request then
        return nil, why, closed
    end
    -- The token is removed before the request to a relay.
    local guard = not settings.relay and request.modules and request.modules.tokenAuth
    if not guard or challenges.is_asked(request) then
        add_path_variants(request)
    end
    if guard then
        -- Adds the variants of the path without its token.
        token_auth.read(guard, request)
    end
    request.encoding = var.e_encoding
    request.names_fields = var.e_named ~= ""
    request.has_weak_range = var.e_weak_range ~= ""
    request.odd = var.http_if_modified_since ~= nil or var.http_upgrade ~= nil or var.e_body ~= "" or var.e_forged ~= ""
    return request
end

-- By all deciding facts. nil, the reason, and the site that does not serve on this port.
local function recall(facts, at)
    local tick = docs.sync()
    local request = remembered:get(facts)
    if request and (request.tick == tick or is_current(request)) then
        request.tick = tick
        return request
    end
    local why, closed
    request, why, closed = _M.visiting(var.host, at or var.scheme .. ":" .. var.server_port, tick, docs.get)
    if not request then
        return nil, why, closed
    end
    if not at and request.scheme == "https" then
        request.misdirected, request.handshake = misdirected.is(request.name, request.host, _M.host)
        -- The name of the handshake may get another document.
        request.epoch = request.epoch or request.misdirected ~= nil and docs.epoch or nil
    end
    if #facts <= LONGEST and not request.host.suspect and not request.site.suspect then
        remembered:set(facts, request)
    end
    return request
end

-- On hop A. nginx combines all facts in one variable.
function _M:visitor()
    return recall(var.e_facts)
end

-- On a relay: facts from the edge node's hop B.
function _M.relayed()
    local at = var.http_x_e_at or "http:0"
    return recall(at .. " " .. var.e_facts, at)
end

-- On hop B: facts from hop A.
function _M:inner()
    return _M.describe(var.host, var.http_x_e_at or "http:0", docs.sync(), docs.get)
end
return _M
