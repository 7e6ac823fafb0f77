-- How many requests of a visitor this node is answering, by the keys of limits/rules.lua. There is at most one
-- counter per running request and rule, so visitors who choose what they are counted by cannot fill the dictionary.
--
-- A request is uncounted once, at the latest when nginx logs it. A killed worker uncounts nothing, so its death starts
-- a new round: all counters are new, and each worker adds its own requests to them. Counters of former rounds stay
-- until the dictionary is full and drops them. They have no lifetime, since a request may last for any time.
local dicts = require("edge.core.dicts")
local ffi = require("ffi")
local changes, dict = dicts.changes, dicts.limits
local header, next, pairs, tonumber, tostring, var = ngx.header, next, pairs, tonumber, tostring, ngx.var

ffi.cdef "int kill(int pid, int sig);"

local _M = {}
-- Each worker has its pid in the first free slot. Its own number would not do: after a reload its successor has the
-- same, while it still answers requests.
local ROUND, SLOT, SLOTS = "limitRound", "limitPid:", "limitPids"
local EVERY_SECONDS = 1
local STALE = { STALE = true, UPDATING = true }
-- The same as nginx's `slice 1m` (cache-conf.ts).
local SLICE_BYTES = 1024 * 1024
local round
-- The requests of this worker: their number by key, and the keys of each.
local count_of, keys_of = {}, {}
local last_id = 0
local own_slot

local function counter(key)
    return "running:" .. round .. ":" .. key
end

local function join_round()
    local current = changes:get(ROUND) or 0
    if current ~= round then
        round = current
        for key, count in pairs(count_of) do
            dict:incr(counter(key), count, 0)
        end
    end
end

-- Deleting may lose a request that begins at the same time, so a visitor may have one more.
local function uncount(key)
    local count = dict:incr(counter(key), -1)
    if count and count <= 0 then
        dict:delete(counter(key))
    end
end

-- The keys of this request. The variable outlives internal redirects, which empty ngx.ctx.
local function own_keys()
    local keys = keys_of[var.e_running]
    if not keys then
        keys = {}
        last_id = last_id + 1
        var.e_running = last_id
        keys_of[tostring(last_id)] = keys
    end
    return keys
end

-- The visitor has it almost at once. Each slice of a large file has the length of a whole slice.
local function is_short()
    local length = tonumber(header["Content-Length"])
    return not length or length < SLICE_BYTES
end

-- Counts the request unless there are `max`. Returns whether it is counted. Without memory every request is.
function _M.count(key, max)
    join_round()
    local keys = own_keys()
    local count = dict:incr(counter(key), 1, 0)
    if count and count > max then
        uncount(key)
        return false
    end
    keys[#keys + 1] = key
    count_of[key] = (count_of[key] or 0) + 1
    return true
end

-- For simulations.
function _M.number(key)
    join_round()
    return dict:get(counter(key)) or 0
end

-- In the log phase, which each request has once.
function _M.uncount_request()
    if last_id == 0 then
        return
    end
    local id = var.e_running
    local keys = keys_of[id]
    if not keys then
        return
    end
    keys_of[id] = nil
    join_round()
    for i = 1, #keys do
        local key = keys[i]
        local left = count_of[key] - 1
        count_of[key] = left > 0 and left or nil
        uncount(key)
    end
end

-- In the header filter. A stale response whose update runs in the background is logged only after the update.
function _M.uncount_stale()
    if last_id ~= 0 and STALE[var.upstream_cache_status] and not ngx.is_subrequest and is_short() then
        _M.uncount_request()
    end
end

local function is_dead(pid)
    return ffi.C.kill(pid, 0) ~= 0
end

local function start_round_after_deaths()
    for number = 1, changes:get(SLOTS) or 0 do
        local pid = changes:get(SLOT .. number)
        if pid and is_dead(pid) then
            changes:delete(SLOT .. number)
            changes:incr(ROUND, 1, 0)
        end
    end
end

local function check_round(premature)
    -- One worker is enough. nginx replaces a killed one under the same number.
    if ngx.worker.id() == 0 and not premature then
        start_round_after_deaths()
    end
    join_round()
end

local function take_slot()
    local number, ok, err = 0, nil, nil
    repeat
        number = number + 1
        ok, err = changes:add(SLOT .. number, ngx.worker.pid())
    until ok or err ~= "exists"
    for _ = changes:get(SLOTS) or 0, number - 1 do
        changes:incr(SLOTS, 1, 0)
    end
    return SLOT .. number
end

function _M.init_worker()
    own_slot = take_slot()
    check_round()
    ngx.timer.every(EVERY_SECONDS, check_round)
end

-- A worker that ends with requests keeps its slot, and is treated as killed.
function _M.exit_worker()
    if own_slot and not next(count_of) then
        changes:delete(own_slot)
    end
end
return _M
