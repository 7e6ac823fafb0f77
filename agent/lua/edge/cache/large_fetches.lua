-- Hop B: how many large files the node fetches for one visitor. nginx fetches what it stores to its end, even when the
-- visitor has left. So further large files of a visitor with too many are not stored: their fetches end with him.
-- Automatic slices (auto_slices.lua) keep most large files out of here. Bodies of unknown length are not counted: most
-- are pages.
local addresses = require("edge.core.addresses")
local auto_slices = require("edge.cache.auto_slices")
local dict = require("edge.core.dicts").limits
local settings = require("edge.core.settings")
local header, tonumber, var = ngx.header, tonumber, ngx.var

local _M = {}
local MOST = 32
-- Without a further fetch, the count of a killed worker ends then.
local COUNTED_SECONDS = 7200

-- Whether the response may be stored.
function _M.begin(request, response)
    local length, address = tonumber(header["Content-Length"]) or 0, var.http_x_e_address
    if length <= auto_slices.LARGE_BYTES or response.slice or request.simulated or settings.relay or not address then
        return true
    end
    local key = "large|" .. addresses.network(addresses.binary(address))
    local count = dict:incr(key, 1, 0)
    if not count then
        return true
    end
    dict:expire(key, COUNTED_SECONDS)
    ngx.ctx.large_fetch = key
    if count <= MOST then
        return true
    end
    _M.finish()
    return false
end

function _M.finish()
    local key = ngx.ctx.large_fetch
    ngx.ctx.large_fetch = nil
    local count = key and dict:incr(key, -1)
    if count and count <= 0 then
        dict:delete(key)
    end
end
return _M
