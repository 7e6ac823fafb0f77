-- Counts in a shared dictionary, in a fixed amount of memory. Windows slide over two buckets: the current one, and the
-- part of the previous one that is still in the window.
local floor, now = math.floor, ngx.now

-- The sum within the window after adding `weight`. Second result: no memory to count it. `weight` 0 only reads.
return function(dict, key, seconds, weight)
    local moment = now() / seconds
    local at = floor(moment)
    local count, full
    if weight > 0 then
        local _, forced
        count, _, forced = dict:incr(key .. at, weight, 0, seconds * 2)
        full = forced or not count
    else
        count = dict:get(key .. at)
    end
    local before = dict:get(key .. at - 1) or 0
    return (count or 0) + before * (1 - (moment - at)), full
end
