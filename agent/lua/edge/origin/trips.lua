-- The upstream attempts of one request: peers in order, and the outcome of each.
local balancer = require("ngx.balancer")
local choice = require("edge.origin.choice")
local settings = require("edge.core.settings")
local match, var = string.match, ngx.var

local _M = {}
local MOST_TRIES = 6
local WEBSOCKET_SECONDS = 3600
local KEPT_SECONDS, KEPT_REQUESTS = 55, 1000

-- `peers`: { upstream, address, port } in order. `name`: server name of a TLS origin whose connections may be reused.
function _M.begin(origin, peers, name)
    ngx.ctx.trip = { origin = origin, peers = peers, at = 0, name = name }
end

-- TLS connections are reused only within a pool of their server name (see hop.conf).
local function connect(trip, peer)
    if trip.name and settings.poolPerName then
        -- Unverified connections are not reused where verification is required, nor those with another client
        -- certificate.
        local pool = trip.name .. (trip.origin.verify and "|verified" or "") .. "|" .. (trip.origin.certID or "")
        local ok, err = balancer.set_current_peer(peer.address, peer.port, pool)
        return ok and balancer.enable_keepalive(KEPT_SECONDS, KEPT_REQUESTS), err
    end
    return balancer.set_current_peer(peer.address, peer.port)
end

local function leave(trip, well)
    local peer = trip.peers[trip.at]
    if peer and not trip.left then
        trip.left = true
        choice.leave(trip.origin, peer.upstream, well)
    end
end

function _M.balancer()
    local trip = ngx.ctx.trip
    if balancer.get_last_failure() then
        leave(trip, false)
    end
    if trip.at == 0 and #trip.peers > 1 then
        balancer.set_more_tries(math.min(#trip.peers, MOST_TRIES) - 1)
    end
    -- nginx adds an attempt when a kept connection was closed. Then the last peer is used again.
    trip.at = math.min(trip.at + 1, #trip.peers)
    trip.left = nil
    local peer = trip.peers[trip.at]
    local origin = trip.origin
    -- nginx has one timeout for the handshake and the open WebSocket.
    local idle = var.http_upgrade and (origin.websocketTimeoutSeconds or WEBSOCKET_SECONDS) or origin.readTimeoutSeconds
    balancer.set_timeouts(origin.connectTimeoutSeconds, idle, idle)
    choice.enter(origin, peer.upstream)
    local ok, err = connect(trip, peer)
    if not ok then
        ngx.log(ngx.ERR, "origin ", peer.address, ": ", err)
        return ngx.exit(502)
    end
end

function _M.origin_log()
    local trip = ngx.ctx.trip
    if trip then
        local last = match(var.upstream_status or "", "(%d+)%s*$")
        leave(trip, last ~= nil and last ~= "502" and last ~= "504")
    end
end
return _M
