-- Edge node, hop B: sends a request to a relay instead of the origin. It names the documents that decided it and the
-- required freshness, so that a relay that missed a change or purge cannot bring back old content. Without a relay's
-- response the request goes to the origin, so no request fails because of relays.
local balancer = require("ngx.balancer")
local counters = require("edge.core.counters")
local documents = require("edge.shield.documents")
local forward = require("edge.origin.forward")
local keys = require("edge.cache.keys")
local purge_timestamps = require("edge.shield.purge_timestamps")
local relays = require("edge.shield.relays")
local requests = require("edge.core.request")
local tags = require("edge.cache.tags")
local upstream_attempts = require("edge.origin.upstream_attempts")
local urls = require("edge.cache.urls")
local joined = require("edge.http.cache_control").joined
local zones = require("edge.core.zone")
local header, var, start_time = ngx.header, ngx.var, ngx.req.start_time
local floor, max, match, tonumber = math.floor, math.max, string.match, tonumber

local _M = {}
local ORIGIN = "@origin"
local CONNECT_SECONDS = 1
-- Longer than the relay's own timeout.
local GRACE_SECONDS = 5

local function age_in_ms(purged_at, requested_at)
    return purged_at and max(0, floor(requested_at - purged_at)) or "-"
end

-- In the location of relays. Returns the next location, if another.
function _M.access()
    local request = requests:inner()
    local key = var.http_x_e_key
    local zone = zones.get()
    local decided = request and documents.of(request)
    local list = decided and zone and relays.choose(zone.doc.relays, keys.url_of(key), request.site.doc.id) or {}
    if #list == 0 then
        var.o_relay = "none"
        return ORIGIN
    end
    forward.clean(request.site.doc)
    local requested_at = start_time() * 1000
    local hard, soft = purge_timestamps.of(request.site.doc.id, keys.url_of(key), request.name .. request.path)
    var.o_documents = decided
    var.o_fresh = (hard or soft) and age_in_ms(hard, requested_at) .. "," .. age_in_ms(soft, requested_at) or ""
    ngx.ctx.request = request
    ngx.ctx.shield = { list = list, at = 0, site_id = request.site.doc.id, origin = request.host.doc.origin }
end

-- A relay that accepted the connection and stayed silent may have waited for this site's origin, so it is skipped for
-- that site only.
local function failed(id, site_id, connected)
    relays.failed(id, connected ~= "-" and site_id or "")
end

function _M.balancer()
    local attempts = ngx.ctx.shield
    if balancer.get_last_failure() then
        failed(attempts.list[attempts.at].id, attempts.site_id, upstream_attempts.last_value(var.upstream_connect_time))
    elseif attempts.at == 0 and #attempts.list > 1 then
        balancer.set_more_tries(#attempts.list - 1)
    end
    attempts.at = attempts.at < #attempts.list and attempts.at + 1 or attempts.at
    local relay, wait = attempts.list[attempts.at], attempts.origin.readTimeoutSeconds + GRACE_SECONDS
    var.o_relay = relay.id
    balancer.set_timeouts(CONNECT_SECONDS, wait, wait)
    local ok, err = balancer.set_current_peer(relay.address, relay.port)
    if not ok then
        ngx.log(ngx.ERR, "relay ", relay.address, ": ", err)
        return ngx.exit(502)
    end
end

-- In the location of origins: whether the request went to a relay before. Records a relay's failure.
function _M.was_tried(site_id)
    local id = var.o_relay
    if id == "" then
        return false
    end
    if match(var.upstream_header_time or "", "%-$") then
        failed(id, site_id, match(var.upstream_connect_time or "", "([^%s,]+)$"))
    end
    return true
end

-- Whether the response is older than a purge on this node. Tag purges are sent to the relay with the next request, as a
-- URL purge.
local function is_obsolete(request, requested_at, list)
    local site_id, url = request.site.doc.id, keys.url_of(var.http_x_e_key)
    local hard, soft = purge_timestamps.of(site_id, url, request.name .. request.path)
    if requested_at <= max(hard or 0, soft or 0) then
        return true
    end
    hard, soft = purge_timestamps.of_tags(site_id, list)
    local tagged = max(hard or 0, soft or 0)
    if requested_at <= tagged then
        urls.set_version(site_id, url, urls.new_token(tagged))
        return true
    end
    return false
end

-- The facts in a relay's response: { lifetime, requested_at }, in seconds by this node's clock.
-- "close" for an invalid or obsolete response: hop A then repeats the request. nil without a relay.
function _M.response(request)
    local attempts = ngx.ctx.shield
    if not attempts then
        return nil
    end
    local lifetime, before = match(var.upstream_http_x_e_relay or "", "^([%d-]+),(%d+)$")
    if not before then
        if ngx.status == 903 then
            relays.failed(attempts.list[attempts.at].id, "")
        end
        return "close"
    end
    relays.answered(attempts.list[attempts.at].id, attempts.site_id)
    -- Counted back from the time of our request, so that the response never seems younger than it is.
    local requested_at = start_time() * 1000 - before
    local text = joined(header["Cache-Tag"])
    if is_obsolete(request, requested_at, text and tags.list(text) or {}) then
        counters.count("relayObsolete")
        return "close"
    end
    return { lifetime = tonumber(lifetime), requested_at = requested_at / 1000 }
end
return _M
