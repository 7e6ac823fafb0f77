-- Closes connections of visitors in the zone's block set and logs the cause. The kernel drops most of them before.
-- Fails open.
local blocks = require("edge.core.blocks")
local var = ngx.var

local _M = { name = "blocked", priority = 8500, guards = true }
local CLOSE = 444

function _M.access()
    local cause = blocks.cause()
    if cause then
        var.e_cause = cause
        return CLOSE
    end
end
return _M
