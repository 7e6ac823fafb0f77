-- Hop B: how many large files the node fetches for one visitor. nginx fetches what it stores to its end, even when the
-- visitor has left. So further large files of a visitor with too many are not stored: their fetches end with him.
-- Automatic slices (auto_slices.lua) keep most large files out of here.
local addresses = require("edge.core.addresses")
local auto_slices = require("edge.cache.auto_slices")
local dict = require("edge.core.dicts").limits
local settings = require("edge.core.settings")
local header, tonumber, var = ngx.header, tonumber, ngx.var

local _M = {}
local MOST = 32
-- Longer than any fetch. The count of a killed worker ends then.
local COUNTED_SECONDS = 7200

-- Whether the response may be stored. Those of unknown length may be large.
function _M.begin(response)
    local length, address = tonumber(header["Content-Length"]), var.http_x_e_address
    if response.slice or length and length <= auto_slices.LARGE_BYTES or settings.relay or not address then
        return true
    end
    local key = "large|" .. addresses.network(addresses.binary(address))
    local count = dict:incr(key, 1, 0, COUNTED_SECONDS)
    if count and count > MOST then
        dict:incr(key, -1)
        return false
    end
    ngx.ctx.large_fetch = count and key
    return true
end

function _M.finish()
    if ngx.ctx.large_fetch then
        dict:incr(ngx.ctx.large_fetch, -1)
    end
end
return _M
