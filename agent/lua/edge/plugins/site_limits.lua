-- Limits of a site for all its visitors: how many requests this node answers at the same time, and how fast it sends
-- each response. Refused requests do not count. Fails open.
local concurrent_requests = require("edge.limits.concurrent_requests")
local decisions = require("edge.simulate.decision")
local header, var = ngx.header, ngx.var

-- After refusals by the site's rules, and before limits that let a request wait.
local _M = { name = "siteLimits", priority = 3740, restricts_access = true }
local RETRY_SECONDS = 1
local BYTES_PER_MEGABIT = 125000

local function is_exceeded(site, request)
    if request.replayed then
        return false
    end
    local key = "site " .. site.id
    if request.simulated then
        return concurrent_requests.running_count(key) >= site.maxConnections
    end
    return not concurrent_requests.try_count(key, site.maxConnections)
end

function _M.access(site, request)
    if site.maxConnections and is_exceeded(site, request) then
        var.e_cause = _M.name
        header["Retry-After"] = RETRY_SECONDS
        return 503
    end
    if site.responseRate then
        var.limit_rate = site.responseRate
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    local max, rate = outcome.site.maxConnections, outcome.site.responseRate
    if not max and not rate then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    if decision == "refused" then
        return decision, { status = detail.status, max = max }
    end
    if decision == "passed" and rate then
        return "applied", { mbps = rate / BYTES_PER_MEGABIT }
    end
    return decision, detail
end
return _M
