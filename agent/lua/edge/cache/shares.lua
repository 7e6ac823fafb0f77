-- Each site's share of the dictionary `urls`: at most as much as is free. Visitors and customers can invent URLs, so
-- beyond its share a site gives up its oldest facts for new ones. Thus no site takes the room of another.
--
-- The names of a site's facts are a queue, `queue|<site>|<number>`. `first|<site>` is the number of the last one given
-- up, `last|<site>` that of the newest. A lasting fact must not be lost: its site has to be purged in its place. The
-- dictionary's `set`, `add` and `incr` with a beginning evict facts of others, so they are not used.
local dicts = require("edge.core.dicts")
local urls, changes = dicts.urls, dicts.changes
local match, md5, type = string.match, ngx.md5, type

local _M = {}
-- A typical fact and its place in the queue.
local BYTES_OF_FACT = 512
-- For one new fact. Places of expired facts are empty.
local MOST_GIVEN_UP, MOST_PLACES = 2, 100
local LONGEST_NAME = 256
_M.LONGEST_VALUE = 4096
-- Facts kept for less are queued again whenever they are renewed, because their places expire with them.
local LONG_SECONDS = 30 * 86400

-- A URL or key of any length as part of a name.
function _M.id(text)
    return #text <= LONGEST_NAME and text or "~" .. md5(text)
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

-- Results: whether there was a fact, and whether it was a lasting one that still counts.
local function give_up(site_id, number)
    local place = "queue|" .. site_id .. "|" .. number
    local entry = urls:get(place)
    if not entry then
        return false, false
    end
    local moves, name = match(entry, "^(%d*) (.*)$")
    urls:delete(place)
    urls:delete(name)
    return true, moves == moves_of(site_id) .. ""
end

-- True: the site has to be purged.
local function make_room(site_id)
    local first, last = "first|" .. site_id, urls:get("last|" .. site_id) or 0
    local given_up, must_move = 0, false
    for _ = 1, MOST_PLACES do
        local count = last - (urls:get(first) or 0)
        if given_up == MOST_GIVEN_UP or count * BYTES_OF_FACT <= urls:free_space() then
            break
        end
        local is_fact, is_needed = give_up(site_id, add_up(first, 1))
        given_up = given_up + (is_fact and 1 or 0)
        must_move = must_move or is_needed
    end
    return must_move
end

-- The place of a new fact, or nil.
local function new_place(site_id)
    -- It cannot be created when it is needed, since memory is full then.
    local number = add_up("first|" .. site_id, 0) and add_up("last|" .. site_id, 1)
    return number and "queue|" .. site_id .. "|" .. number
end

-- Grows when facts are given up.
function _M.given_up(site_id)
    return urls:get("first|" .. site_id)
end

-- Whether the site ever had a fact.
function _M.has(site_id)
    return urls:get("last|" .. site_id) ~= nil
end

-- Results: whether the fact is stored, and whether the site has to be purged for it. `method`: "safe_add" keeps a fact
-- that another worker has stored first.
function _M.add(site_id, name, value, seconds, is_lasting, method)
    if type(value) == "string" and #value > _M.LONGEST_VALUE then
        return false, false
    end
    if seconds >= LONG_SECONDS and urls:get(name) ~= nil then
        return (urls:safe_set(name, value, seconds)), false
    end
    local must_move = make_room(site_id)
    local place = new_place(site_id)
    if not place then
        return false, must_move
    end
    local entry = (is_lasting and moves_of(site_id) or "") .. " " .. name
    if urls:safe_set(place, entry, seconds) and urls[method or "safe_set"](urls, name, value, seconds) then
        return true, must_move
    end
    urls:delete(place)
    return false, must_move
end
return _M
