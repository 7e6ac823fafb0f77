-- Age and freshness lifetime of a response (RFC 9111 4.2). Pure.
local dates = require("edge.http.dates")
local match, tonumber, type, min, max, floor = string.match, tonumber, type, math.min, math.max, math.floor

local _M = {}
local MOST = 2147483648
local GUESSED_AT_MOST = 86400

-- Seconds since the response left its origin: the larger of its Age and the difference to its Date.
function _M.age(headers, now, delay)
    local value = headers["Age"]
    if type(value) == "table" then
        value = value[1]
    end
    local stated = value and tonumber(match(value, "^%s*(%d+)%s*$") or match(value, "^%s*(%d+)%s*,")) or 0
    local date = dates.parse(headers["Date"]) or now
    return min(max(stated + delay, now - date, 0), MOST)
end

-- The origin's freshness lifetime in seconds. nil: none stated. A targeted field takes precedence over all others.
function _M.lifetime(headers, control, targeted, now)
    local stated = control["s-maxage"] or control["max-age"]
    if stated then
        return max(stated, 0)
    end
    local expires = headers["Expires"]
    if not expires or targeted then
        return nil
    end
    local at = dates.parse(expires)
    return at and max(at - (dates.parse(headers["Date"]) or now), 0) or 0
end

-- Heuristic lifetime: a tenth of the time since the last modification (RFC 9111 4.2.2).
function _M.guessed(headers, now)
    local modified = dates.parse(headers["Last-Modified"])
    if not modified then
        return nil
    end
    return min(max(floor(((dates.parse(headers["Date"]) or now) - modified) / 10), 0), GUESSED_AT_MOST)
end
return _M
