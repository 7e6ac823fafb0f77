-- A document by its key, from the nearest copy: this worker's decoded one, the text shared by all workers, the file.
-- After bump() no worker uses an older document:
--
-- 1. The key gets a new mark. A shared copy carries the mark it was read under and is valid only while that is current,
-- so a reader of the old file cannot put it back.
-- 2. `seq` rises and the ring entry of that number names the key. A worker that finds an entry missing or overwritten
-- drops all decoded copies, since the marks are already set.
--
-- A torn or damaged file is rejected, and the last good copy serves while any cache holds it. A document that needs a
-- capability of a later edge is not used: it may contain a restriction that this edge does not know.
local capabilities = require("edge.core.capabilities")
local cjson = require("cjson.safe")
local closing = require("edge.core.closing")
local lrucache = require("resty.lrucache")
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local files = require("edge.core.files")
local docs, absent, marks, changes = dicts.docs, dicts.absent, dicts.marks, dicts.changes
local find, sub, null, type, pairs, crc32 = string.find, string.sub, ngx.null, type, pairs, ngx.crc32_long

local RING = 4096
local KEPT = 10000
local ABSENT_SECONDS = 30
local SUSPECT_SECONDS = 1

-- epoch: rises when an exact name may exist that a wildcard covered so far. news: rises with every change.
local _M = { epoch = 0, news = 0 }
local decoded = lrucache.new(KEPT)
local missing = lrucache.new(KEPT)
-- All entries still referenced: one that was evicted from `decoded` must still be marked as stale.
local live = setmetatable({}, { __mode = "v" })
local seen

local function forget(key)
    local entry = live[key]
    if entry then
        entry.stale = true
    end
    missing:delete(key)
    if sub(key, 1, 5) == "host/" then
        _M.epoch = _M.epoch + 1
    end
end

-- Entries are marked, not only dropped, because remembered decisions refer to them.
local function forget_all()
    for _, entry in pairs(live) do
        entry.stale = true
    end
    missing:flush_all()
    _M.epoch = _M.epoch + 1
end

local function catch_up(seq)
    if not seen or seq - seen > RING then
        forget_all()
    else
        for n = seen + 1, seq do
            local entry = changes:get(n % RING)
            local bar = entry and find(entry, "|", 1, true)
            local key = bar and sub(entry, 1, bar - 1) == n .. "" and sub(entry, bar + 1)
            if not key or key == "*" then
                forget_all()
                break
            end
            forget(key)
        end
    end
    seen = seq
    _M.news = _M.news + 1
end

-- Call this at the start of a request. Returns the tick, which rises with every change by any worker: while it is
-- constant, everything cached is current. The only access to shared memory in a usual request.
local last_tick
function _M.sync()
    local tick = changes:get("tick") or 0
    if tick ~= last_tick or not seen then
        local seq = changes:get("seq") or 0
        if seq ~= seen then
            catch_up(seq)
        end
        closing.sync()
        last_tick = tick
    end
    return tick
end

-- Call this after a change.
function _M.tick()
    changes:incr("tick", 1, 0)
end

local function tag(key)
    return (marks:get(key) or 0) .. "." .. (changes:get("floor") or 0)
end

-- JSON's null becomes nil.
local function without_nulls(value)
    for k, v in pairs(value) do
        if v == null then
            value[k] = nil
        elseif type(v) == "table" then
            without_nulls(v)
        end
    end
    return value
end

local function lacking(needs)
    for i = 1, needs and #needs or 0 do
        if not capabilities[needs[i]] then
            return true
        end
    end
end

-- An entry for a document that no other request uses.
function _M.made(key, doc, sum)
    return { key = key, doc = without_nulls(doc), sum = sum, lacking = lacking(doc.needs) }
end

local function decode(key, text)
    local doc, err = cjson.decode(text)
    if type(doc) ~= "table" then
        return nil, err or "not an object"
    end
    return _M.made(key, doc, crc32(text))
end

local function keep(key, entry, seconds)
    live[key] = entry
    decoded:set(key, entry, seconds)
    return entry
end

-- Serves the last good copy. It is checked again soon, and no decision based on it is remembered.
local function suspect(key, why, old, shared)
    counters.count("docCorrupt")
    ngx.log(ngx.ERR, "document ", key, " is refused: ", why)
    local entry = old and { key = key, doc = old.doc, lacking = old.lacking }
    if not entry and shared then
        entry = decode(key, sub(shared, find(shared, "\n", 1, true) + 1))
    end
    if not entry then
        return nil, "corrupt"
    end
    entry.suspect = true
    return keep(key, entry, SUSPECT_SECONDS)
end

local function load(key, old)
    local current = tag(key)
    local shared = docs:get(key)
    if shared then
        local line = find(shared, "\n", 1, true)
        local entry = sub(shared, 1, line - 1) == current and decode(key, sub(shared, line + 1))
        if entry then
            return keep(key, entry)
        end
    elseif absent:get(key) == current then
        missing:set(key, true, ABSENT_SECONDS)
        return nil, "absent"
    end
    local body, revision, why = files.read(key)
    if body then
        local entry, err = decode(key, body)
        if not entry then
            return suspect(key, err, old, shared)
        end
        if not docs:safe_set(key, current .. "\n" .. body) then
            counters.count("docsFull")
        end
        return keep(key, entry)
    end
    if revision == "corrupt" then
        return suspect(key, why, old, shared)
    end
    docs:delete(key)
    absent:set(key, current, ABSENT_SECONDS)
    decoded:delete(key)
    missing:set(key, true, ABSENT_SECONDS)
    return nil, "absent"
end

local function find_entry(key)
    local entry, expired = decoded:get(key)
    if entry and not entry.stale then
        return entry
    end
    local held = live[key]
    if held and not held.stale and not held.suspect then
        return keep(key, held)
    end
    if not entry and missing:get(key) then
        return nil, "absent"
    end
    return load(key, entry or expired)
end

-- Returns the document's entry { key, doc, sum, stale, suspect }, or nil and "absent" | "corrupt" | "lacking".
function _M.get(key)
    local entry, why = find_entry(key)
    if entry and entry.lacking then
        return nil, "lacking"
    end
    return entry, why
end

local function announce(key)
    local n = changes:incr("seq", 1, 0)
    changes:set(n % RING, n .. "|" .. key)
    _M.tick()
    return n
end

-- These documents have changed on disk. Returns the sequence number of the change.
function _M.bump(keys)
    for i = 1, #keys do
        local mark = changes:incr("marks", 1, 0)
        if not marks:safe_set(keys[i], mark) then
            changes:incr("floor", 1, 0)
        end
    end
    local seq = 0
    for i = 1, #keys do
        seq = announce(keys[i])
    end
    return seq
end

function _M.bump_all()
    changes:incr("floor", 1, 0)
    return announce("*")
end

function _M.seq()
    return changes:get("seq") or 0
end
return _M
