-- How many requests of a visitor this node is answering, by the keys of limits/rules.lua. There are as many counters
-- as such requests, so visitors who choose what they are counted by cannot fill the dictionary.
--
-- A request is uncounted once, when nginx logs it, however it ends. A killed worker uncounts nothing, so the worker
-- that replaces it starts a new round: all counters are new, and each worker adds its own requests to them.
local dicts = require("edge.core.dicts")
local ffi = require("ffi")
local changes, dict = dicts.changes, dicts.limits
local pairs, tostring, var = pairs, tostring, ngx.var

ffi.cdef "int kill(int pid, int sig);"

local _M = {}
local ROUND = "limitRound"
local EVERY_SECONDS = 1
local round
-- The requests of this worker: their number by key, and the keys of each.
local count_of, keys_of = {}, {}
local last_id = 0

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

-- A worker has the number of the one that it replaces. After a reload the replaced worker still answers requests.
function _M.init_worker()
    local key = "limitWorker:" .. ngx.worker.id()
    local replaced = changes:get(key)
    if replaced and ffi.C.kill(replaced, 0) ~= 0 then
        changes:incr(ROUND, 1, 0)
    end
    changes:set(key, ngx.worker.pid())
    join_round()
    ngx.timer.every(EVERY_SECONDS, join_round)
end
return _M
