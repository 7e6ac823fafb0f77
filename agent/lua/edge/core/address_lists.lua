-- Address lists of sites and of the zone (documents `list/<id>`): sorted ranges of bytes in network order, searched in
-- place. Usual visitors are in no list, and need one search in the union of all lists of the site or zone.
local addresses = require("edge.core.addresses")
local docs = require("edge.core.docs")
local recent = require("edge.core.recent")
local bit = require("bit")
local ffi = require("ffi")
local C = ffi.C
local decode, ipairs, rshift, time = ngx.decode_base64, ipairs, bit.rshift, ngx.time
local plain = addresses.plain

ffi.cdef([[ int memcmp(const void *a, const void *b, size_t n); ]])

local _M = {}
local NONE = { n = 0 }

local function ranges_of(doc, width)
    local first, last = decode(doc.first) or "", decode(doc.last) or ""
    if #first == 0 or #first ~= #last then
        return NONE
    end
    local until_text = doc["until"] and decode(doc["until"])
    return {
        n = #first / width,
        width = width,
        -- Keeps the memory alive that the pointers refer to.
        texts = { first, last, until_text },
        first = ffi.cast("const uint8_t *", first),
        last = ffi.cast("const uint8_t *", last),
        ends = until_text and ffi.cast("const uint32_t *", until_text) or nil,
    }
end

-- The index of the range with this address, or nil.
local function find(ranges, address)
    local n, width, first = ranges.n, ranges.width, ranges.first
    local low, high = 0, n
    while low < high do
        local middle = rshift(low + high, 1)
        if C.memcmp(first + middle * width, address, width) <= 0 then
            low = middle + 1
        else
            high = middle
        end
    end
    if low > 0 and C.memcmp(ranges.last + (low - 1) * width, address, width) >= 0 then
        return low - 1
    end
end

-- Both are sorted and without overlaps within themselves. Touching ranges are not joined.
local function merge(a, b, width)
    local size = (a.n + b.n) * width
    local first, last = ffi.new("uint8_t[?]", size), ffi.new("uint8_t[?]", size)
    local i, j, n = 0, 0, 0
    while i < a.n or j < b.n do
        local from
        if j == b.n or i < a.n and C.memcmp(a.first + i * width, b.first + j * width, width) <= 0 then
            from, i = a, i + 1
        else
            from, j = b, j + 1
        end
        local at = (from == a and i or j) - 1
        local begins, ends = from.first + at * width, from.last + at * width
        local top = last + (n - 1) * width
        if n > 0 and C.memcmp(begins, top, width) <= 0 then
            if C.memcmp(ends, top, width) > 0 then
                ffi.copy(top, ends, width)
            end
        else
            ffi.copy(first + n * width, begins, width)
            ffi.copy(last + n * width, ends, width)
            n = n + 1
        end
    end
    return { n = n, width = width, texts = { first, last }, first = first, last = last }
end

-- Merged pairs, while both of their parts are in use. A change merges only what contains a changed list.
local pairs_of = setmetatable({}, { __mode = "k" })
local function merged(a, b, width)
    if a.n == 0 or b.n == 0 then
        return a.n == 0 and b or a
    end
    local with = pairs_of[a]
    if not with then
        with = setmetatable({}, { __mode = "k" })
        pairs_of[a] = with
    end
    local made = with[b]
    if not made then
        made = merge(a, b, width)
        with[b] = made
    end
    return made
end

local function union(lists, family, width)
    local round = {}
    for i, list in ipairs(lists) do
        round[i] = list[family]
    end
    while #round > 1 do
        local next_round = {}
        for i = 1, #round, 2 do
            next_round[#next_round + 1] = round[i + 1] and merged(round[i], round[i + 1], width) or round[i]
        end
        round = next_round
    end
    return round[1] or NONE
end

local function list_of(ref, get)
    local entry = get("list/" .. ref.id)
    if not entry then
        return nil
    end
    -- In the document, not the entry: a damaged file leaves the document in use.
    local doc = entry.doc
    if not doc.ranges then
        doc.ranges = { [4] = ranges_of(doc.four, 4), [16] = ranges_of(doc.six, 16) }
        doc.four, doc.six = nil, nil
    end
    return entry
end

local built = 0
local function build(refs, get)
    built = built + 1
    local set = { refs = refs, entries = {}, number = built .. " " }
    local lists = {}
    for i, ref in ipairs(refs) do
        local entry = list_of(ref, get)
        if not entry then
            return nil
        end
        set.entries[i] = entry
        lists[i] = entry.doc.ranges
    end
    set.lists = lists
    set[4], set[16] = union(lists, 4, 4), union(lists, 16, 16)
    return set
end

-- The lists in use, by the id of their site. Those of the zone have the key `zoneLists`.
local sets = setmetatable({}, { __mode = "v" })
local strong = require("resty.lrucache").new(2000)

local function is_current(set, refs)
    if set.refs ~= refs then
        return false
    end
    if set.news == docs.news then
        return true
    end
    for i = 1, #set.entries do
        if set.entries[i].stale then
            return false
        end
    end
    set.news = docs.news
    return true
end

-- The lists of a site or the zone. A list that is not here yet leaves all lists as they were. nil: there were none.
function _M.of(id, refs)
    local set = sets[id]
    if set and is_current(set, refs) then
        return set
    end
    if set and set.waits == docs.news then
        return set
    end
    local made = build(refs, docs.get)
    if made then
        made.news = docs.news
        sets[id] = made
        strong:set(id, made)
        return made
    end
    if set then
        set.waits = docs.news
    end
    return set
end

-- Drops lists that were removed.
function _M.forget(id)
    sets[id] = nil
    strong:delete(id)
end

-- By the documents of a draft: the lists of its site.
local drafted_sets = setmetatable({}, { __mode = "k" })

-- The lists of a site in a simulation with these drafted documents. Those of visitors stay in use. `get`: reads
-- documents, also drafted ones. nil: a list is missing.
function _M.of_draft(drafted, refs, get)
    local set = drafted_sets[drafted]
    if not set or not is_current(set, refs) then
        set = build(refs, get)
        drafted_sets[drafted] = set
    end
    return set
end

-- Listed addresses whose lists are remembered, by the set's number and the address.
local remembered = recent.new(16384)
local NOWHERE = {}

local function search(set, address)
    local found = {}
    for i = 1, #set.lists do
        local ranges = set.lists[i][#address]
        local at = ranges.n > 0 and find(ranges, address)
        if at then
            found[#found + 1] = { at = i, ends = ranges.ends and ranges.ends[at] or 0 }
        end
    end
    remembered:set(set.number .. address, found)
    return found
end

-- The lists with this address, in order: { at = index, ends = seconds, or 0 }. Includes entries that have ended.
function _M.find(set, address)
    address = plain(address)
    local ranges = set[#address]
    if ranges.n == 0 or not find(ranges, address) then
        return NOWHERE
    end
    return remembered:get(set.number .. address) or search(set, address)
end

function _M.holds(hit)
    return hit.ends == 0 or hit.ends > time()
end
return _M
