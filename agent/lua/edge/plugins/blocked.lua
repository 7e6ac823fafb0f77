-- Whether the visitor is in the zone's block set: his connection is closed, and the log says what he was blocked for. The kernel
-- drops most of them before; this is for those where it cannot. Fails open.
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
