-- Counts the request, and returns whether the sliding window then has more than `max` requests: those of the current
-- window, and the part of the one before that is still in it. Simulations only read. In a replay no limit is exceeded:
-- the present counts are not those of the logged requests.
local site_counters = require("edge.limits.site_counters")

-- `owner`, `address`, `chosen`: as in site_counters.lua.
return function(request, owner, address, chosen, seconds, max)
    if request.replayed then
        return false
    end
    local count, before, left
    if request.simulated then
        count, before, left = site_counters.read(owner, address, chosen, seconds)
        count = (count or 0) + 1
    else
        local dict, name, _
        count, left, dict, _, name = site_counters.add(request.site.doc, owner, address, chosen, seconds, 1)
        before = site_counters.before(dict, name, seconds)
    end
    return (count or 0) + (before or 0) * left / seconds > max
end
