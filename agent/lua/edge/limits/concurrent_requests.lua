-- How many requests of a visitor this node is answering, by what the rules count by (limits/rules.lua). There is at
-- most one counter per running request and rule, so visitors who choose what they are counted by cannot fill the
-- dictionary.
--
-- A request is released once, at the latest when nginx logs it. A killed worker releases nothing, so its death starts
-- a new round: all counters are new, and each worker adds its own requests to them. Counters of former rounds stay
-- until the dictionary is full and drops them. They have no lifetime, since a request may last for any time.
local dicts = require("edge.core.dicts")
local ffi = require("ffi")
local changes, dict = dicts.changes, dicts.limits
local header, next, pairs, tonumber, tostring, var = ngx.header, next, pairs, tonumber, tostring, ngx.var

ffi.cdef "int kill(int pid, int sig);"

local _M = {}
-- Each worker stores its pid in the first free slot. Worker ids cannot be the slots: after a reload, an old worker
-- still serves requests while a new one has its id.
local ROUND_KEY, SLOT_PREFIX, SLOT_COUNT_KEY = "limitRound", "limitPid:", "limitPids"
local ROUND_CHECK_SECONDS = 1
local STALE_STATUSES = { STALE = true, UPDATING = true }
-- The same as nginx's `slice 1m` (cache-conf.ts).
local SLICE_BYTES = 1024 * 1024
local round
-- This worker's number of requests by key, and keys by request.
local counts_by_key, keys_by_request = {}, {}
local last_id = 0
local own_slot

local function counter(key)
    return "running:" .. round .. ":" .. key
end

local function join_round()
    local current = changes:get(ROUND_KEY) or 0
    if current ~= round then
        round = current
        for key, count in pairs(counts_by_key) do
            dict:incr(counter(key), count, 0)
        end
    end
end

-- A request counted between incr and delete is lost, so the limit may be exceeded by one.
local function release(key)
    local count = dict:incr(counter(key), -1)
    if count and count <= 0 then
        dict:delete(counter(key))
    end
end

-- The variable outlives internal redirects, which empty ngx.ctx.
local function get_or_create_request_keys()
    local keys = keys_by_request[var.e_running]
    if not keys then
        keys = {}
        last_id = last_id + 1
        var.e_running = last_id
        keys_by_request[tostring(last_id)] = keys
    end
    return keys
end

-- Short responses reach the visitor almost at once, unless they have a rate. Of a sliced file this is the length of a
-- slice, SLICE_BYTES, so the file is not short. An unknown length, as of generated pages, counts as short.
local function is_short_or_unknown()
    if var.limit_rate ~= "0" then
        return false
    end
    local length = tonumber(header["Content-Length"])
    return not length or length < SLICE_BYTES
end

-- Returns false when `max` requests are running, and otherwise counts this one. When the dictionary has no memory,
-- returns true.
function _M.try_count(key, max)
    join_round()
    local keys = get_or_create_request_keys()
    local count = dict:incr(counter(key), 1, 0)
    if count and count > max then
        release(key)
        return false
    end
    keys[#keys + 1] = key
    counts_by_key[key] = (counts_by_key[key] or 0) + 1
    return true
end

-- For simulations.
function _M.running_count(key)
    join_round()
    return dict:get(counter(key)) or 0
end

-- Releases all counts of the request. Later calls for the same request do nothing.
function _M.release_request()
    if last_id == 0 then
        return
    end
    local id = var.e_running
    local keys = keys_by_request[id]
    if not keys then
        return
    end
    keys_by_request[id] = nil
    join_round()
    for i = 1, #keys do
        local key = keys[i]
        local left = counts_by_key[key] - 1
        counts_by_key[key] = left > 0 and left or nil
        release(key)
    end
end

-- In the header filter: releases a request whose short stale response is about to be sent. With a background update,
-- nginx logs the request only after the update.
function _M.release_stale()
    if last_id ~= 0 and STALE_STATUSES[var.upstream_cache_status] and not ngx.is_subrequest and is_short_or_unknown() then
        _M.release_request()
    end
end

local function is_dead(pid)
    return ffi.C.kill(pid, 0) ~= 0
end

local function start_round_after_deaths()
    for number = 1, changes:get(SLOT_COUNT_KEY) or 0 do
        local pid = changes:get(SLOT_PREFIX .. number)
        if pid and is_dead(pid) then
            changes:delete(SLOT_PREFIX .. number)
            changes:incr(ROUND_KEY, 1, 0)
        end
    end
end

local function refresh_round(premature)
    -- Worker 0 looks for dead workers. nginx gives a killed worker's id to its replacement.
    if ngx.worker.id() == 0 and not premature then
        start_round_after_deaths()
    end
    join_round()
end

local function take_slot()
    local number, ok, err = 0, nil, nil
    repeat
        number = number + 1
        ok, err = changes:add(SLOT_PREFIX .. number, ngx.worker.pid())
    until ok or err ~= "exists"
    -- Workers start at once, so the count may become too high, which is harmless.
    for _ = changes:get(SLOT_COUNT_KEY) or 0, number - 1 do
        changes:incr(SLOT_COUNT_KEY, 1, 0)
    end
    return SLOT_PREFIX .. number
end

function _M.init_worker()
    own_slot = take_slot()
    refresh_round()
    ngx.timer.every(ROUND_CHECK_SECONDS, refresh_round)
end

-- A worker that ends with requests keeps its slot, and is treated as killed.
function _M.exit_worker()
    if own_slot and not next(counts_by_key) then
        changes:delete(own_slot)
    end
end
return _M
