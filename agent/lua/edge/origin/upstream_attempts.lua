-- The upstream attempts of one request: peers in order, and the outcome of each.
local balancer = require("ngx.balancer")
local choice = require("edge.origin.choice")
local settings = require("edge.core.settings")
local find, gsub, match, var = string.find, string.gsub, string.match, ngx.var

local _M = {}
local MOST_TRIES = 6
-- A request on a keepalive connection that its origin had closed fails within this time. If it took longer, the origin
-- may have worked on it, and is not asked twice.
local MOST_CLOSED_SECONDS = 1
local WEBSOCKET_SECONDS = 3600
local KEPT_SECONDS, KEPT_REQUESTS = 55, 1000

-- `peers`: { upstream, address, port } in order. `name`: server name of a TLS origin whose connections may be reused.
function _M.begin(origin, peers, name)
    ngx.ctx.attempts = { origin = origin, peers = peers, at = 0, name = name, tries = 0 }
end

-- $upstream_addr, with the name behind each address of an origin that has one: `10.0.0.1:443 (origin.example.com)`.
function _M.addresses()
    local attempts, addresses, i = ngx.ctx.attempts, var.upstream_addr, 0
    local names = attempts and attempts.names
    if not addresses or not names then
        return addresses
    end
    return (gsub(addresses, "[^, :][^, ]*", function(address)
        i = i + 1
        return names[i] and address .. " (" .. names[i] .. ")"
    end))
end

local function note_name(attempts, upstream)
    attempts.tries = attempts.tries + 1
    if find(upstream.address, "%a") and not find(upstream.address, ":", 1, true) then
        attempts.names = attempts.names or {}
        attempts.names[attempts.tries] = upstream.address
    end
end

-- TLS connections are reused only within a pool of their server name (see hop.conf).
local function connect(attempts, peer)
    if attempts.name and settings.poolPerName then
        -- Unverified connections are not reused where verification is required, nor those with another client
        -- certificate.
        local pool = attempts.name .. (attempts.origin.verify and "|verified" or "") .. "|" .. (attempts.origin.certID or "")
        local ok, err = balancer.set_current_peer(peer.address, peer.port, pool)
        return ok and balancer.enable_keepalive(KEPT_SECONDS, KEPT_REQUESTS), err
    end
    return balancer.set_current_peer(peer.address, peer.port)
end

local function count(attempts, well)
    local peer = attempts.peers[attempts.at]
    if peer and not attempts.is_counted then
        attempts.is_counted = true
        choice.leave(attempts.origin, peer.upstream, well)
    end
end

-- In the balancer phase: the value of the last attempt in an nginx variable with those of all. nginx writes " : "
-- behind it before the address of the next one is known.
function _M.last_value(text)
    return match(text or "", "([^%s,]+) : $")
end
local last_value = _M.last_value

-- Whether the last attempt's connection was soon closed without a response, and took no time to connect, as keepalive
-- connections do. Connections to an origin nearby may take none, either.
local function is_kept_connection_closed()
    return last_value(var.upstream_status) == "502" and last_value(var.upstream_connect_time) == "0.000"
        and last_value(var.upstream_bytes_received) == "0"
        and (tonumber(last_value(var.upstream_response_time)) or MOST_CLOSED_SECONDS) < MOST_CLOSED_SECONDS
end

-- The same peer is used once more. nginx adds an attempt for a keepalive connection only. If it was none, the attempts
-- for the other peers must remain.
local function repeat_peer(attempts)
    count(attempts, true)
    attempts.repeated_at = attempts.at
    if #attempts.peers > 1 then
        balancer.set_more_tries(1)
    end
end

local function advance(attempts)
    if attempts.at == 0 and #attempts.peers > 1 then
        balancer.set_more_tries(math.min(#attempts.peers, MOST_TRIES) - 1)
    end
    -- nginx adds an attempt when a keepalive connection was closed. Then the last peer is used again.
    attempts.at = math.min(attempts.at + 1, #attempts.peers)
end

function _M.balancer()
    local attempts = ngx.ctx.attempts
    local has_failed = balancer.get_last_failure()
    if has_failed and attempts.repeated_at ~= attempts.at and is_kept_connection_closed() then
        repeat_peer(attempts)
    else
        if has_failed then
            count(attempts, false)
        end
        advance(attempts)
    end
    attempts.is_counted = nil
    local peer = attempts.peers[attempts.at]
    local origin = attempts.origin
    note_name(attempts, peer.upstream)
    -- nginx has one timeout for the handshake and the open WebSocket.
    local idle = var.http_upgrade and (origin.websocketTimeoutSeconds or WEBSOCKET_SECONDS) or origin.readTimeoutSeconds
    balancer.set_timeouts(origin.connectTimeoutSeconds, idle, idle)
    choice.enter(origin, peer.upstream)
    local ok, err = connect(attempts, peer)
    if not ok then
        ngx.log(ngx.ERR, "origin ", peer.address, ": ", err)
        return ngx.exit(502)
    end
end

function _M.origin_log()
    local attempts = ngx.ctx.attempts
    if attempts then
        local last = match(var.upstream_status or "", "(%d+)%s*$")
        count(attempts, last ~= nil and last ~= "502" and last ~= "504")
    end
end
return _M
