-- Clocks of the machine, in nanoseconds. nginx's clock does not move while Lua runs.
local ffi = require("ffi")
local tonumber = tonumber

-- Renamed, so that no other declaration of the function collides.
ffi.cdef([[
    struct edge_time { long seconds, nanoseconds; };
    int edge_clock(int clock, struct edge_time *time) asm("clock_gettime");
]])
local MONOTONIC, THREAD_CPU = 1, 3
local time = ffi.new("struct edge_time")
local clock = ffi.C.edge_clock

local _M = {}

function _M.now()
    clock(MONOTONIC, time)
    return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end

-- CPU time of this worker. Unlike the time of day, it excludes other processes. Costs a system call.
function _M.cpu()
    clock(THREAD_CPU, time)
    return tonumber(time.seconds) * 1e9 + tonumber(time.nanoseconds)
end
return _M
