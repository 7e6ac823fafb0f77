-- Packs three facts of a stored response into one number: when it left its origin, its lifetime, and whether its
-- headers need the slow path. A hit reads one variable and compares once.
local floor, min = math.floor, math.min

local _M = {}
local EPOCH = 1600000000
local CLOSER = 4194304
local SHIFT = CLOSER * 2
-- 48 days. For longer lifetimes the displayed `ttl` is inexact.
local MOST = CLOSER - 1

function _M.pack(generated_at, lifetime, closer)
    return string.format("%.0f", (generated_at - EPOCH) * SHIFT + (closer and CLOSER or 0) + min(floor(lifetime), MOST))
end

-- generated_at, lifetime, closer
function _M.unpack(packed)
    local since = floor(packed / SHIFT)
    local rest = packed - since * SHIFT
    if rest >= CLOSER then
        return since + EPOCH, rest - CLOSER, true
    end
    return since + EPOCH, rest, false
end
return _M
