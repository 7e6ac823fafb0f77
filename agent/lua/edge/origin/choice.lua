-- The order in which a domain's origins are tried. Backups serve when no main origin is left. Origins with too many
-- failures or failed health checks are skipped, unless all are. A recovered origin starts slowly.
local bit = require("bit")
local counters = require("edge.core.counters")
local peers = require("edge.core.dicts").peers
local ipairs, sort, log, max, now = ipairs, table.sort, math.log, math.max, ngx.now
local crc32 = ngx.crc32_long
local bxor, rshift, tobit = bit.bxor, bit.rshift, bit.tobit

local _M = {}
local worker

-- A crashed worker could not decrement its counts, so its replacement resets them.
function _M.init_worker()
    worker = ngx.worker.id() or 0
    math.randomseed(ngx.now() * 1000 + ngx.worker.pid())
    local own = "busy|" .. worker .. "|"
    for _, key in ipairs(peers:get_keys(0)) do
        if key:sub(1, #own) == own then
            peers:delete(key)
        end
    end
end

-- The share grows with the time since recovery.
local LEAST_SHARE = 0.01
local function weight_of(origin, upstream)
    local slow = origin.slowStartSeconds or 0
    local back = slow > 0 and peers:get("back|" .. upstream.id)
    if not back then
        return upstream.weight
    end
    local share = (now() - back) / slow
    return share >= 1 and upstream.weight or upstream.weight * max(share, LEAST_SHARE)
end

local function busy(upstream)
    local sum = 0
    for id = 0, ngx.worker.count() - 1 do
        sum = sum + max(peers:get("busy|" .. id .. "|" .. upstream.id) or 0, 0)
    end
    return sum
end

-- CRC alone maps similar inputs to similar values. Two rounds of mixing spread them.
local function mixed(text)
    local h = tobit(crc32(text))
    h = tobit(bxor(h, rshift(h, 16)) * 0x45d9f3b % 4294967296)
    h = tobit(bxor(h, rshift(h, 16)) * 0x45d9f3b % 4294967296)
    return bxor(h, rshift(h, 16)) % 4294967296
end

local function by(score, list)
    local scores = {}
    for _, upstream in ipairs(list) do
        scores[upstream] = score(upstream)
    end
    sort(list, function(a, b)
        if scores[a] ~= scores[b] then
            return scores[a] > scores[b]
        end
        return a.id < b.id
    end)
    return list
end

-- Weighted rendezvous hashing: when an origin leaves, only its own visitors move.
local function by_hash(origin, text, list)
    return by(function(upstream)
        return -weight_of(origin, upstream) / log((mixed(text .. "|" .. upstream.id) + 1) / 4294967298)
    end, list)
end

-- Smooth weighted round robin.
local turns = setmetatable({}, { __mode = "k" })
local function by_turn(origin, list, facts)
    local state = turns[origin] or {}
    if facts.simulated then
        state = setmetatable({}, { __index = state })
    else
        turns[origin] = state
    end
    local total, best = 0, nil
    for _, upstream in ipairs(list) do
        local weight = weight_of(origin, upstream)
        local current = (state[upstream.id] or 0) + weight
        state[upstream.id] = current
        total = total + weight
        if not best or current > state[best.id] then
            best = upstream
        end
    end
    if best then
        state[best.id] = state[best.id] - total
    end
    return by(function(upstream)
        return upstream == best and 1e9 or state[upstream.id]
    end, list)
end

local orders = {
    roundRobin = by_turn,
    addressHash = function(origin, list, facts)
        return by_hash(origin, facts.address, list)
    end,
    uriHash = function(origin, list, facts)
        return by_hash(origin, facts.uri, list)
    end,
    -- Equally busy origins take turns.
    leastConnections = function(origin, list, facts)
        local place = {}
        for i, upstream in ipairs(by_turn(origin, list, facts)) do
            place[upstream] = i
        end
        return by(function(upstream)
            return -busy(upstream) / weight_of(origin, upstream) - place[upstream] / 1e6
        end, list)
    end,
}

local function rests(origin, upstream)
    return peers:get("rest|" .. upstream.id) or origin.health and peers:get("down|" .. upstream.id)
end

-- How many of them are skipped now.
function _M.resting(origin)
    local count = 0
    for _, upstream in ipairs(origin.upstreams) do
        count = count + (rests(origin, upstream) and 1 or 0)
    end
    return count
end

local function collect(origin, backup, facts, even_resting)
    local list = {}
    for _, upstream in ipairs(origin.upstreams) do
        if upstream.backup == backup and (even_resting or not rests(origin, upstream)) then
            list[#list + 1] = upstream
        end
    end
    return orders[origin.method](origin, list, facts)
end

-- `facts`: address and URI of the request. A simulated request takes no turn.
function _M.order(origin, facts)
    local list = collect(origin, false, facts, false)
    local backups = collect(origin, true, facts, false)
    if #list + #backups == 0 then
        list, backups = collect(origin, false, facts, true), collect(origin, true, facts, true)
    end
    for _, upstream in ipairs(backups) do
        list[#list + 1] = upstream
    end
    return list
end

function _M.enter(origin, upstream)
    if origin.method == "leastConnections" then
        peers:incr("busy|" .. worker .. "|" .. upstream.id, 1, 0)
    end
end

-- Longest slow start, in seconds.
local LONGEST_SLOW_START = 3600
function _M.returns(id, at)
    peers:safe_set("back|" .. id, at, at - now() + LONGEST_SLOW_START)
end

-- Results of health checks: `down` are skipped for `seconds` unless reported again, `up` return at once.
function _M.found(down, up, seconds)
    for _, id in ipairs(down) do
        peers:safe_set("down|" .. id, true, seconds)
    end
    for _, id in ipairs(up) do
        peers:delete("down|" .. id)
        _M.returns(id, now())
    end
end

local function note_failure(origin, upstream)
    if origin.maxFails == 0 then
        return
    end
    local fails = peers:incr("fails|" .. upstream.id, 1, 0, origin.failTimeoutSeconds)
    if fails and fails >= origin.maxFails then
        peers:safe_set("rest|" .. upstream.id, true, origin.failTimeoutSeconds)
        _M.returns(upstream.id, now() + origin.failTimeoutSeconds)
        peers:delete("fails|" .. upstream.id)
        counters.count("originRested")
    end
end

function _M.leave(origin, upstream, well)
    if origin.method == "leastConnections" then
        peers:incr("busy|" .. worker .. "|" .. upstream.id, -1, 0)
    end
    if not well then
        note_failure(origin, upstream)
    end
end
return _M
