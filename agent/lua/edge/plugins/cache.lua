-- Caching (RFC 9111): what is stored, under which key, how long, and who gets it. Fails open: an undecided request goes
-- to the origin, and an unchecked response is not stored.
local lookup = require("edge.cache.lookup")
local response_headers = require("edge.cache.response_headers")
local images = require("edge.cache.images")
local store = require("edge.cache.store")

local _M = { name = "cache", priority = 1000 }

_M.access = lookup.access
_M.header_filter = response_headers.header_filter
_M.origin_access = images.origin_access
_M.origin_header = store.origin_header
return _M
