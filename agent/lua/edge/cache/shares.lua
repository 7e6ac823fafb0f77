-- Each site's share of the dictionary `urls`: at most as much as is free. Visitors and customers can invent URLs, so
-- beyond its share a site evicts its own oldest entries. Thus no site takes the room of another.
--
-- Each site has two queues with the names of its entries: its purges, and all others. Obsolete purges are evicted
-- first, then other entries. A purge that still counts is only evicted for a new one. It must not be lost, so the whole
-- site is purged then.
--
-- A queue has slots `queue|<queue>|<number>`. `first|<queue>` is the number of the last evicted one, `last|<queue>`
-- that of the newest. A renewed entry keeps its slot. The dictionary's `set`, `add` and `incr` with an initial value
-- evict entries of other sites, so they are not used.
local dicts = require("edge.core.dicts")
local purge_log = require("edge.cache.purge_log")
local site_generation = require("edge.cache.site_generation")
local urls = dicts.urls
local match, md5, tonumber, type = string.match, ngx.md5, tonumber, type

local _M = {}
-- A typical entry and its slot.
local BYTES_OF_ENTRY = 512
-- Entries evicted for one new entry.
local MAX_EVICTED = 2
-- Slots looked at for one new entry. Some are empty.
local MAX_SLOTS = 100
local LONGEST_NAME = 256
_M.LONGEST_VALUE = 4096
-- At least as long as anything stays in the cache.
_M.MAX_TTL_SECONDS = math.max(31536000, purge_log.KEPT_SECONDS)

-- A URL or key of any length as part of a name.
function _M.id(text)
    return #text <= LONGEST_NAME and text or "~" .. md5(text)
end

local function purge_queue(site_id)
    return "purges|" .. site_id
end

-- The queue of all entries that are no purges.
local function plain_queue(site_id)
    return site_id
end

local function slot_name(queue, number)
    return "queue|" .. queue .. "|" .. number
end

-- A slot has the name of its entry, and of a purge also the generation of the site.
local function format_slot(name, generation)
    return (generation or "") .. " " .. name
end

local function parse_slot(text)
    local generation, name = match(text, "^(%d*) (.*)$")
    return name, tonumber(generation)
end

-- Adds to a number, from 0. nil: there is no room for it.
function _M.add_up(name, by, seconds)
    local sum = urls:incr(name, by)
    if not sum then
        urls:safe_add(name, 0, seconds)
        sum = urls:incr(name, by)
    end
    return sum
end
local add_up = _M.add_up

local function count(queue)
    return (urls:get("last|" .. queue) or 0) - (urls:get("first|" .. queue) or 0)
end

-- Writes a slot behind the others. Returns its number. nil: there is no room for it.
local function append(queue, text)
    -- `first` cannot be created when it is needed, since memory is full then.
    local number = add_up("first|" .. queue, 0) and add_up("last|" .. queue, 1)
    return number and urls:safe_set(slot_name(queue, number), text, _M.MAX_TTL_SECONDS) and number
end

-- Called when a slot and its entry are written. False: another worker evicted the slot's number before that. Nothing
-- would evict the slot later, so it is removed, and the caller removes the entry.
local function confirm_slot(queue, number)
    if number > urls:get("first|" .. queue) then
        return true
    end
    urls:delete(slot_name(queue, number))
    return false
end

-- Whether the purge exists, and the site was not purged after it.
local function is_needed(site_id, name, generation)
    return generation == site_generation.of(site_id) and urls:get(name) ~= nil
end

local function is_oldest_purge_obsolete(site_id)
    local queue = purge_queue(site_id)
    if count(queue) <= 0 then
        return false
    end
    local text = urls:get(slot_name(queue, (urls:get("first|" .. queue) or 0) + 1))
    return not (text and is_needed(site_id, parse_slot(text)))
end

-- Evicts the oldest entry of a queue. Results: whether there was one, and whether it was a purge that still counts.
local function evict(site_id, queue, may_lose_purge)
    local number = add_up("first|" .. queue, 1)
    if number > (urls:get("last|" .. queue) or 0) then
        -- Another worker evicted the last one. New numbers are above those of evicted entries.
        add_up("last|" .. queue, 1)
        return false, false
    end
    local slot = slot_name(queue, number)
    local text = urls:get(slot)
    if not text then
        return false, false
    end
    urls:delete(slot)
    local name, generation = parse_slot(text)
    local counts = is_needed(site_id, name, generation)
    -- Another worker evicted the obsolete one that was the oldest.
    local moved = counts and not may_lose_purge and append(queue, text)
    if moved and confirm_slot(queue, moved) then
        return false, false
    end
    urls:delete(name)
    return true, counts
end

-- Results: whether a new entry may be stored, and whether a purge was lost for it.
local function make_room(site_id, is_purge)
    local purges, plain = purge_queue(site_id), plain_queue(site_id)
    local evicted, has_lost_purge = 0, false
    for _ = 1, MAX_SLOTS do
        local bytes = (count(purges) + count(plain)) * BYTES_OF_ENTRY
        if evicted == MAX_EVICTED or bytes <= urls:free_space() then
            break
        end
        local is_obsolete, has_plain = is_oldest_purge_obsolete(site_id), count(plain) > 0
        if not (is_obsolete or has_plain or is_purge) then
            return evicted > 0, has_lost_purge
        end
        local queue = (is_obsolete or not has_plain) and purges or plain
        local is_entry, is_lost = evict(site_id, queue, not is_obsolete and not has_plain)
        evicted = evicted + (is_entry and 1 or 0)
        has_lost_purge = has_lost_purge or is_lost
    end
    return true, has_lost_purge
end

-- Grows when entries other than purges are evicted.
function _M.evictions(site_id)
    return urls:get("first|" .. plain_queue(site_id))
end

-- Whether the site ever had an entry.
function _M.has(site_id)
    return urls:get("last|" .. plain_queue(site_id)) ~= nil or urls:get("last|" .. purge_queue(site_id)) ~= nil
end

-- Results: whether the entry is stored, and whether the site has to be purged for it. `is_purge`: the entry must not be
-- lost. `method`: "safe_add" keeps an entry that another worker has stored first.
function _M.add(site_id, name, value, seconds, is_purge, method)
    if type(value) == "string" and #value > _M.LONGEST_VALUE then
        return false, false
    end
    local store = urls[method or "safe_set"]
    if urls:get(name) ~= nil then
        return (store(urls, name, value, seconds)), false
    end
    local has_room, must_purge_site = make_room(site_id, is_purge)
    local queue = is_purge and purge_queue(site_id) or plain_queue(site_id)
    -- The slot comes first: without room for it, the entry is not written, and nothing has to be removed. Another
    -- worker may have stored the same entry.
    local number = has_room and append(queue, format_slot(name, is_purge and site_generation.of(site_id)))
    if not number then
        return false, must_purge_site
    end
    if not store(urls, name, value, seconds) then
        urls:delete(slot_name(queue, number))
        return false, must_purge_site
    end
    local is_stored = confirm_slot(queue, number)
    if not is_stored then
        -- Workers that have not seen the entry notice the eviction.
        urls:delete(name)
    end
    return is_stored, must_purge_site
end
return _M
