-- Closes connections of visitors that the zone or the site blocks, and logs the cause. The kernel drops most before.
-- Fails open.
local blocks = require("edge.core.blocks")
local var = ngx.var

local _M = { name = "blocked", priority = 8500, restricts_access = true }
local CLOSE = 444

function _M.access(site)
    local cause = blocks.cause(site.id)
    if cause then
        var.e_cause = cause
        return CLOSE
    end
end
return _M
