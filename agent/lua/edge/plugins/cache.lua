-- Caching (RFC 9111): what is stored, under which key, how long, and who gets it. Fails open: an undecided request goes
-- to the origin, and an unchecked response is not stored.
local auto_slices = require("edge.cache.auto_slices")
local lookup = require("edge.cache.lookup")
local response_headers = require("edge.cache.response_headers")
local images = require("edge.cache.images")
local store = require("edge.cache.store")

local _M = { name = "cache", priority = 1000 }

_M.access = lookup.access
_M.header_filter = response_headers.header_filter
function _M.origin_access(site, request)
    auto_slices.set_if_range(site, request)
    return images.origin_access(site, request)
end
_M.origin_header = store.origin_header
return _M
