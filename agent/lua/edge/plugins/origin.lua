-- Chooses the origin. Fails closed: without a choice there is no origin to ask.
local choice = require("edge.origin.choice")
local failure = require("edge.origin.failure")
local forward = require("edge.origin.forward")
local upstream_attempts = require("edge.origin.upstream_attempts")

local _M = { name = "origin", priority = 900, fails = "closed" }

_M.origin_access = forward.origin_access
_M.balancer = upstream_attempts.balancer
_M.origin_header = failure.origin_header
_M.origin_body = failure.origin_body
_M.origin_log = upstream_attempts.origin_log
_M.init_worker = choice.init_worker
return _M
