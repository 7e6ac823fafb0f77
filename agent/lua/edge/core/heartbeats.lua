-- Each worker writes the time once a second, so that the agent can distinguish hung from idle workers, and checks the
-- cache's disk space.
local changes = require("edge.core.dicts").changes
local disk = require("edge.cache.disk")
local settings = require("edge.core.settings")

local _M = {}
local EVERY = 1

local function key_of(id)
    return "beat:" .. settings.generation .. ":" .. id
end

local function beat(premature)
    if not premature then
        changes:set(key_of(ngx.worker.id()), ngx.worker.pid() .. "|" .. ngx.now(), 86400)
        disk.look()
    end
end

function _M.start()
    beat()
    ngx.timer.every(EVERY, beat)
end

-- For each worker of this generation: its pid, and the seconds since its last heartbeat.
function _M.all()
    ngx.update_time()
    local found, now = {}, ngx.now()
    for id = 0, ngx.worker.count() - 1 do
        local pid, at = string.match(changes:get(key_of(id)) or "", "^(%d+)|([%d.]+)$")
        if pid then
            found[#found + 1] = { pid = tonumber(pid), silent = math.max(0, now - tonumber(at)) }
        end
    end
    return found
end
return _M
