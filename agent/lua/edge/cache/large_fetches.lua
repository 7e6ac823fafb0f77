-- Hop B: how many large files the node fetches for one visitor. nginx fetches what it stores to its end, even when the
-- visitor has left. So further large files of a visitor with too many are not stored: their fetches end with him.
-- Automatic slices (auto_slices.lua) keep most large files out of here.
local addresses = require("edge.core.addresses")
local auto_slices = require("edge.cache.auto_slices")
local dict = require("edge.core.dicts").limits
local settings = require("edge.core.settings")
local header, tonumber, var = ngx.header, tonumber, ngx.var

local _M = {}
-- Bodies of unknown length may be large, but most are pages, of which a network of visitors fetches many at once.
local MOST_LARGE, MOST_UNKNOWN = 32, 256
-- Without a further fetch that is stored, the counts of a killed worker end then.
local COUNTED_SECONDS = 7200

-- Whether the response may be stored.
function _M.begin(request, response)
    local length, address = tonumber(header["Content-Length"]), var.http_x_e_address
    local is_small = length and length <= auto_slices.LARGE_BYTES
    if is_small or response.slice or request.simulated or settings.relay or not address then
        return true
    end
    local key = (length and "large|" or "unknown|") .. addresses.network(addresses.binary(address))
    local count = dict:incr(key, 1, 0)
    if not count then
        return true
    end
    ngx.ctx.large_fetch = key
    if count <= (length and MOST_LARGE or MOST_UNKNOWN) then
        dict:expire(key, COUNTED_SECONDS)
        return true
    end
    _M.finish()
    return false
end

-- Deleting may lose a fetch that begins at the same time, so a visitor may have one more.
function _M.finish()
    local key = ngx.ctx.large_fetch
    ngx.ctx.large_fetch = nil
    local count = key and dict:incr(key, -1)
    if count and count <= 0 then
        dict:delete(key)
    end
end
return _M
