-- Before a reload each response carries "Connection: close". Old workers close idle connections at once, and a request
-- in transit on one would be lost. Applies to workers of this generation only.
local changes = require("edge.core.dicts").changes
local settings = require("edge.core.settings")
local now = ngx.now

local _M = {}
local ends_at

local function key()
    return "closing:" .. settings.generation
end

-- The caller then calls docs.tick(), so that workers read it.
function _M.begin(seconds)
    changes:set(key(), now() + seconds, seconds)
end

function _M.sync()
    ends_at = changes:get(key())
end

function _M.is_on()
    return ends_at and now() < ends_at
end
return _M
