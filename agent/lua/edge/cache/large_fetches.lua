-- Hop B: how many large responses the node fetches for one visitor. nginx fetches a response that it stores to its end,
-- even when the visitor has left. So for a visitor with too many such fetches, further large responses are not stored,
-- and their fetches end when the visitor leaves. A response is large above a size, or when its length is unknown.
-- Slices are exempt, into which auto_slices.lua divides most large files.
local addresses = require("edge.core.addresses")
local auto_slices = require("edge.cache.auto_slices")
local dict = require("edge.core.dicts").limits
local settings = require("edge.core.settings")
local header, tonumber, var = ngx.header, tonumber, ngx.var

local _M = {}
-- Bodies of unknown length may be large, but most are pages, of which a network of visitors fetches many at once.
local MAX_LARGE_FETCHES, MAX_UNKNOWN_LENGTH_FETCHES = 32, 256
-- A killed worker's fetches are no longer counted when the visitor has had no further fetch stored for this long.
local COUNT_TTL_SECONDS = 7200

-- A relay is exempt because it stores for the visitors of all edge nodes.
local function is_exempt(length, request, response)
    local is_small = length and length <= auto_slices.LARGE_BYTES
    return is_small or response.slice or request.simulated or settings.relay
end

-- Counts the fetch of the current response. Returns whether the response may be stored.
function _M.count_fetch(request, response)
    local length, address = tonumber(header["Content-Length"]), var.http_x_e_address
    if is_exempt(length, request, response) or not address then
        return true
    end
    local key = (length and "large|" or "unknown|") .. addresses.network(addresses.binary(address))
    local count = dict:incr(key, 1, 0)
    if not count then
        return true
    end
    ngx.ctx.large_fetch = key
    if count <= (length and MAX_LARGE_FETCHES or MAX_UNKNOWN_LENGTH_FETCHES) then
        dict:expire(key, COUNT_TTL_SECONDS)
        return true
    end
    _M.uncount_fetch()
    return false
end

-- Deleting may lose a fetch that begins at the same time, so a visitor may have one more.
function _M.uncount_fetch()
    local key = ngx.ctx.large_fetch
    ngx.ctx.large_fetch = nil
    local count = key and dict:incr(key, -1)
    if count and count <= 0 then
        dict:delete(key)
    end
end
return _M
