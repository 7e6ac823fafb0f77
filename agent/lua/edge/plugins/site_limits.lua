-- Limits of a site as a whole on this node, for all its visitors: requests at the same time, and bandwidth. Refused
-- requests do not count. Fails open.
local concurrent_requests = require("edge.limits.concurrent_requests")
local decisions = require("edge.simulate.decision")
local floor, header, huge, max = math.floor, ngx.header, math.huge, math.max

-- After refusals by the site's rules, and before limits that let a request wait.
local _M = { name = "siteLimits", priority = 3740 }
local RETRY_SECONDS = 1

function _M.access(site, request)
    local most, bandwidth = site.maxConnections, site.bandwidth
    if not most and not bandwidth then
        return nil
    end
    local key = "site " .. site.id
    local number = concurrent_requests.running_count(key) + 1
    local is_exceeded = number > (most or huge)
    if not request.simulated then
        is_exceeded = not concurrent_requests.try_count(key, most or huge)
    end
    if is_exceeded then
        header["Retry-After"] = RETRY_SECONDS
        return 503
    end
    if bandwidth then
        -- For the plugin `rates`. The response keeps the share that it begins with.
        request.share = max(1, floor(bandwidth / number))
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    local site = outcome.site
    if not site.maxConnections and not site.bandwidth then
        return "unused"
    end
    return decisions.common(outcome)
end
return _M
