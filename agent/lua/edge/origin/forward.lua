-- Turns a visitor's request into an origin request: scheme, port, Host, server name and addresses.
local addresses = require("edge.origin.addresses")
local choice = require("edge.origin.choice")
local docs = require("edge.core.docs")
local proofs = require("edge.anti_cc.proofs")
local steering = require("edge.http.steering_fields")
local upstream_attempts = require("edge.origin.upstream_attempts")
local unseal = require("edge.tls.unseal")
local var, ipairs = ngx.var, ipairs
local find, gsub, lower, match, sub = string.find, string.gsub, string.lower, string.match, string.sub

local _M = {}
local KNOWN = {
    ["x-e-at"] = true, ["x-e-address"] = true, ["x-e-key"] = true, ["x-e-version"] = true,
    ["x-e-state"] = true, ["x-e-vary"] = true, ["x-e-slice"] = true,
    ["x-e-image"] = true, ["x-e-round"] = true, ["x-e-method"] = true, ["x-e-rate"] = true,
}

-- Removes fields that look like ours, and fields that could change a shared cached response.
local function clear_fields(site)
    local passed = steering.passed(site)
    for name in pairs(ngx.req.get_headers(0, true)) do
        local plain = lower(name)
        if find(plain, "^x%-e%-") and not KNOWN[plain] or steering.is_steering(plain) and not passed[plain] then
            ngx.req.clear_header(name)
        end
    end
end

-- Removes visitor fields that the origin must not receive.
function _M.clean(site)
    clear_fields(site)
    proofs.take()
end

local function port_of(origin, upstream, request)
    if origin.scheme == "follow" then
        for _, entry in ipairs(origin.portMap) do
            if entry.from == request.port then
                return entry.to
            end
        end
    end
    return upstream.port
end

-- One address of each origin first: second addresses follow when every origin was tried.
local function peers_of(origin, request)
    local facts = { address = var.http_x_e_address or "", uri = request.uri, simulated = request.simulated }
    local peers, rest, refused = {}, {}, false
    for _, upstream in ipairs(choice.order(origin, facts)) do
        local list, why = addresses.of(upstream.address)
        refused = refused or why == "refused"
        for i, address in ipairs(list) do
            local into = i == 1 and peers or rest
            into[#into + 1] = { upstream = upstream, address = address, port = port_of(origin, upstream, request) }
        end
    end
    for _, peer in ipairs(rest) do
        peers[#peers + 1] = peer
    end
    return peers, refused
end

-- The client certificate that the origin requires. Without it the request fails or is attributed to someone else.
local function show(id)
    local entry = docs.get("cert/" .. id)
    local pair = entry and entry.doc.pairs[1]
    local key, why = pair and unseal.open(pair.key, entry.key)
    if not key then
        ngx.log(ngx.ERR, "cert/", id, " cannot be shown to an origin: ", why or "it is not here")
        return false
    end
    var.o_chain = "data:" .. pair.chainPem
    var.o_key = "data:" .. key
    return true
end

-- How often a request may pass this network, including this time (RFC 8586).
local MOST_PASSES = 4

local function is_loop()
    local _, passes = gsub(var.http_cdn_loop or "", "edgeloom", "")
    return passes > MOST_PASSES
end

-- RFC 9110 9.2.2. Bodies are streamed, so they cannot be repeated.
local IDEMPOTENT = { GET = true, HEAD = true, OPTIONS = true, TRACE = true, PUT = true, DELETE = true }

local function is_repeatable(request)
    return IDEMPOTENT[request.method] and not var.http_transfer_encoding and (var.http_content_length or "0") == "0"
end

local USUAL_PORTS = { http = 80, https = 443 }

-- Host as in the cache key: lower case, without a final dot, and with the connected port unless it is the default.
-- Nothing of the visitor's Host field remains.
local function authority(request)
    if request.port == USUAL_PORTS[request.scheme] then
        return request.name
    end
    return request.name .. ":" .. request.port
end

function _M.origin_access(site, request)
    if is_loop() then
        return 508
    end
    local origin = request.host.doc.origin
    local scheme = origin.scheme == "follow" and request.scheme or origin.scheme
    -- nginx selects verification by location, and this phase restarts there.
    if scheme == "https" and origin.verify and var.o_pool ~= "origin_tls" then
        var.o_pool = "origin_tls"
        return "@verified"
    end
    _M.clean(site)
    local peers, refused = peers_of(origin, request)
    if #peers == 0 then
        ngx.log(ngx.WARN, "no origin of ", request.name, refused and " has an allowed address" or " has an address")
        return 502
    end
    local host = origin.host or authority(request)
    var.o_host = host
    local name = scheme == "https" and (origin.sni or sub(host, 1, (find(host, ":%d+$") or 0) - 1)) or nil
    local keeps = is_repeatable(request)
    if name then
        var.o_scheme = "https"
        var.o_pool = "origin_tls"
        var.o_name = name
    elseif not keeps then
        var.o_pool = "origin_once"
    end
    if name and origin.certID and not show(origin.certID) then
        return 502
    end
    upstream_attempts.begin(origin, peers, keeps and name or nil)
end
return _M
