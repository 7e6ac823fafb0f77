-- Counts the request, and returns whether the sliding window then has more than `max` requests. Simulations only read.
-- In a replay no limit is exceeded: the present counts are not those of the logged requests.
local dict = require("edge.core.dicts").limits
local in_window = require("edge.core.sliding_window")

return function(request, key, seconds, max)
    if request.replayed then
        return false
    end
    if request.simulated then
        return in_window(dict, key, seconds, 0) + 1 > max
    end
    return in_window(dict, key, seconds, 1) > max
end
