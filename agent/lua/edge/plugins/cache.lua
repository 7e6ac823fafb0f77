-- What is stored, under which name, for how long, and who may be answered from it (RFC 9111). Fails open: a request
-- that cannot be decided goes to the origin, and an answer that cannot be judged is not stored.
local lookup = require("edge.cache.lookup")
local answer = require("edge.cache.answer")
local images = require("edge.cache.images")
local store = require("edge.cache.store")

local _M = { name = "cache", priority = 1000 }

_M.access = lookup.access
_M.header_filter = answer.header_filter
_M.origin_access = images.origin_access
_M.origin_header = store.origin_header
return _M
