-- Each site's share of the dictionary `urls`: at most as much as is free. Visitors and customers can invent URLs, so
-- beyond its share a site gives up its oldest facts for new ones. Thus no site takes the room of another.
--
-- Purges must not be lost, so the site is purged when one is given up. Each site has two queues of names of facts, its
-- purges and all others. Obsolete purges are given up first, then other facts, and purges only for a new purge.
--
-- A queue has places `queue|<queue>|<number>`. `first|<queue>` is the number of the last one given up, `last|<queue>`
-- that of the newest. A renewed fact keeps its place. The dictionary's `set`, `add` and `incr` with a beginning evict
-- facts of others, so they are not used.
local dicts = require("edge.core.dicts")
local urls, changes = dicts.urls, dicts.changes
local match, md5, type = string.match, ngx.md5, type

local _M = {}
-- A typical fact and its place in the queue.
local BYTES_OF_FACT = 512
-- Facts given up for one new fact.
local MOST_GIVEN_UP = 2
-- Places looked at for one new fact. Some are empty.
local MOST_PLACES = 100
local LONGEST_NAME = 256
_M.LONGEST_VALUE = 4096
-- At least as long as any fact.
local PLACE_SECONDS = 31536000

-- A URL or key of any length as part of a name.
function _M.id(text)
    return #text <= LONGEST_NAME and text or "~" .. md5(text)
end

local function purges_of(site_id)
    return "purges|" .. site_id
end

local function moves_of(site_id)
    return changes:get("moved|" .. site_id) or 0
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

-- The place of a new fact, or nil.
local function new_place(queue, entry)
    -- `first` cannot be created when it is needed, since memory is full then.
    local number = add_up("first|" .. queue, 0) and add_up("last|" .. queue, 1)
    local place = number and "queue|" .. queue .. "|" .. number
    return place and urls:safe_set(place, entry, PLACE_SECONDS) and place
end

-- The name of a fact, and whether it is a purge from after the last move of its site.
local function read(site_id, entry)
    local moves, name = match(entry, "^(%d*) (.*)$")
    return name, moves == moves_of(site_id) .. "" and urls:get(name) ~= nil
end

-- Whether the oldest purge no longer counts.
local function begins_obsolete(site_id)
    local queue = purges_of(site_id)
    if count(queue) <= 0 then
        return false
    end
    local entry = urls:get("queue|" .. queue .. "|" .. (urls:get("first|" .. queue) or 0) + 1)
    local _, is_needed = read(site_id, entry or " ")
    return not is_needed
end

-- Gives up the oldest fact of a queue. Results: whether there was one, and whether it was a purge that still counts.
local function give_up(site_id, queue, may_lose_purge)
    local number = add_up("first|" .. queue, 1)
    if number > (urls:get("last|" .. queue) or 0) then
        -- Another worker gave up the last one. New numbers are above those given up.
        add_up("last|" .. queue, 1)
        return false, false
    end
    local place = "queue|" .. queue .. "|" .. number
    local entry = urls:get(place)
    if not entry then
        return false, false
    end
    urls:delete(place)
    local name, is_needed = read(site_id, entry)
    -- Another worker gave up the obsolete one that was the oldest.
    if is_needed and not may_lose_purge and new_place(queue, entry) then
        return false, false
    end
    urls:delete(name)
    return true, is_needed
end

-- Results: whether a new fact may be stored, and whether a purge was lost for it.
local function make_room(site_id, is_purge)
    local purges, others = purges_of(site_id), site_id
    local given_up, has_lost_purge = 0, false
    for _ = 1, MOST_PLACES do
        local bytes = (count(purges) + count(others)) * BYTES_OF_FACT
        if given_up == MOST_GIVEN_UP or bytes <= urls:free_space() then
            break
        end
        local is_obsolete, has_others = begins_obsolete(site_id), count(others) > 0
        if not (is_obsolete or has_others or is_purge) then
            return given_up > 0, has_lost_purge
        end
        local queue = (is_obsolete or not has_others) and purges or others
        local is_fact, is_lost = give_up(site_id, queue, not is_obsolete and not has_others)
        given_up = given_up + (is_fact and 1 or 0)
        has_lost_purge = has_lost_purge or is_lost
    end
    return true, has_lost_purge
end

-- Grows when facts other than purges are given up.
function _M.given_up(site_id)
    return urls:get("first|" .. site_id)
end

-- Whether the site ever had a fact.
function _M.has(site_id)
    return urls:get("last|" .. site_id) ~= nil or urls:get("last|" .. purges_of(site_id)) ~= nil
end

-- Results: whether the fact is stored, and whether the site has to be purged for it. `is_purge`: the fact must not be
-- lost. `method`: "safe_add" keeps a fact that another worker has stored first.
function _M.add(site_id, name, value, seconds, is_purge, method)
    if type(value) == "string" and #value > _M.LONGEST_VALUE then
        return false, false
    end
    local store = urls[method or "safe_set"]
    if urls:get(name) ~= nil then
        return (store(urls, name, value, seconds)), false
    end
    local has_room, must_move = make_room(site_id, is_purge)
    local queue = is_purge and purges_of(site_id) or site_id
    local place = has_room and new_place(queue, (is_purge and moves_of(site_id) or "") .. " " .. name)
    if place and store(urls, name, value, seconds) then
        return true, must_move
    end
    if place then
        urls:delete(place)
    end
    return false, must_move
end
return _M
