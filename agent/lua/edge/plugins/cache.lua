-- Caching (RFC 9111): what is stored, under which key, how long, and who gets it. Fails open: an undecided request goes
-- to the origin, and an unchecked response is not stored.
local lookup = require("edge.cache.lookup")
local response_headers = require("edge.cache.response_headers")
local images = require("edge.cache.images")
local parts = require("edge.cache.parts")
local store = require("edge.cache.store")

local _M = { name = "cache", priority = 1000 }

_M.access = lookup.access
_M.header_filter = response_headers.header_filter
function _M.origin_access(site, request)
    parts.origin_access(site, request)
    return images.origin_access(site, request)
end
_M.origin_header = store.origin_header
return _M
