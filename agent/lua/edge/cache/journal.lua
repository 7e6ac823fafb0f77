-- What was purged, on disk: versions live in memory, and after a restart an object that was on its way into the store
-- while its URL was purged would be found again under its old name. Read by the master before workers start.
local cjson = require("cjson.safe")
local settings = require("edge.core.settings")
local open, rename, time, ipairs, type = io.open, os.rename, ngx.time, ipairs, type

local _M = {}
-- Longer than an unreachable object stays on disk.
local KEPT_SECONDS = 30 * 86400
local COMPACTED_BYTES = 4 * 1024 * 1024

local function path()
    return settings.dir .. "/cache/purged"
end

-- One write below the size that the system keeps whole, so that workers do not cut into each other.
function _M.add(entry)
    local file = open(path(), "a")
    if not file then
        ngx.log(ngx.ERR, "cannot write ", path())
        return
    end
    entry.time = time()
    file:setvbuf("full", 65536)
    file:write(cjson.encode(entry), "\n")
    file:close()
end

local function latest(lines)
    local entries, order = {}, {}
    for line in lines do
        local entry = cjson.decode(line)
        if type(entry) == "table" and entry.site and (entry.time or 0) > time() - KEPT_SECONDS then
            local name = entry.url or entry.site
            if not entries[name] then
                order[#order + 1] = name
            end
            entries[name] = entry
        end
    end
    return entries, order
end

-- Calls `each` with what still counts.
function _M.replay(each)
    local file = open(path(), "r")
    if not file then
        return
    end
    local entries, order = latest(file:lines())
    file:close()
    for _, name in ipairs(order) do
        each(entries[name])
    end
end

-- By a worker, which owns the folder: what no longer counts goes.
function _M.compact()
    local file = open(path(), "r")
    if not file or file:seek("end") < COMPACTED_BYTES then
        return file and file:close()
    end
    file:seek("set")
    local entries, order = latest(file:lines())
    file:close()
    local shorter = open(path() .. ".new", "w")
    if not shorter then
        return
    end
    for _, name in ipairs(order) do
        shorter:write(cjson.encode(entries[name]), "\n")
    end
    shorter:close()
    rename(path() .. ".new", path())
end
return _M
