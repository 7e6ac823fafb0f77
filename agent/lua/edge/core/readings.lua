-- The paths that servers may read from one request line. nginx decodes escapes, then merges slashes and removes dot
-- segments. Origins do so in another order, twice, or not at all, and some drop `;parameters` or read \ as a slash.
-- Where these readings differ, rules that protect apply to any of them, and rules that loosen to all of them.
local spelling = require("edge.core.spelling")
local concat, find, gmatch, gsub, match, sub = table.concat, string.find, string.gmatch, string.gsub, string.match,
    string.sub
local max, min, pairs, setmetatable = math.max, math.min, pairs, setmetatable

local _M = {}
-- More readings than usual paths have.
local MOST_READINGS = 32
-- All readings of a path together have at most this size, so long paths have fewer. Each costs one pass per step.
local MOST_BYTES = 65536

-- Escaped slashes remain in segments, as in RFC 3986: they separate none.
local decoded, decoded_in_segments = spelling.decoded, {}
for code, one in pairs(decoded) do
    decoded_in_segments[code] = one == "/" and "%2f" or one == "\\" and "%5c" or one
end

-- Much faster than a pattern that matches nothing in a long text.
local function has(text, part)
    return find(text, part, 1, true)
end

local function decode(text)
    return has(text, "%") and gsub(text, "%%(%x%x)", decoded) or text
end

local function decode_segments(text)
    return has(text, "%") and gsub(text, "%%(%x%x)", decoded_in_segments) or text
end

local function without_parameters(text)
    return has(text, ";") and gsub(text, ";[^/]*", "") or text
end

local function with_slashes(text)
    return has(text, "\\") and gsub(text, "\\", "/") or text
end

local function with_single_slashes(text)
    return has(text, "//") and gsub(text, "//+", "/") or text
end

-- RFC 3986 5.2.4.
local function without_dots(text)
    if not has(text, "/.") then
        return text
    end
    local list, size = {}, 0
    for segment in gmatch(text, "/([^/]*)") do
        if list[size] == "." or list[size] == ".." then
            size = size - 1
        end
        if segment == ".." then
            size = size > 0 and size - 1 or 0
        end
        size = size + 1
        list[size] = segment
    end
    if list[size] == "." or list[size] == ".." then
        list[size] = ""
    end
    return "/" .. concat(list, "/", 1, size)
end

local STEPS = { decode_segments, decode, without_parameters, with_slashes, with_single_slashes, without_dots }

local function raw_of(uri)
    local raw = match(uri, "^[^?]*")
    return sub(raw, 1, 1) == "/" and raw or "/" .. raw
end

local function is_usual(raw)
    return not find(raw, "[%%;\\#]") and not find(raw, "//", 1, true) and not find(raw, "/.", 1, true)
end

-- Adds what all orders of the steps make of the first texts. Returns what each step makes of each text, or nil when the
-- texts are too many. No step makes a text longer.
local function complete(list)
    local first, second = list[1], list[2]
    local known, results = { [first] = true, [second] = true }, {}
    if first == second then
        list[2] = nil
    end
    local at, most = 1, min(MOST_READINGS, MOST_BYTES / max(#first, #second))
    while list[at] do
        local made = {}
        for i = 1, #STEPS do
            local text = STEPS[i](list[at])
            made[i] = text
            if not known[text] then
                if #list + 1 > most then
                    return nil
                end
                known[text], list[#list + 1] = true, text
            end
        end
        results[list[at]] = made
        at = at + 1
    end
    return results
end

-- What remains of a text after all steps: the same for all spellings of a path.
local function shortest(text, results)
    local before
    repeat
        before = text
        for i = 1, #STEPS do
            text = results[text][i]
        end
    until text == before
    return text
end

-- Whether nginx only decoded the path of the request line, and removed or merged nothing.
function _M.is_only_decoded(raw, path)
    return sub(raw, 1, 1) == "/" and decode_segments(raw) == path and not find(path, "\\", 1, true)
end

local function add_views(views, request, list)
    for i = 1, #list do
        views[i] = setmetatable({ path = list[i] }, { __index = request })
    end
    return views
end

-- One view of the request for each reading of its path, nginx's first. nil when there is only one. `shortest`: a name
-- for all spellings. `too_many`: the list is incomplete, so the request is refused, and there is no `shortest`.
function _M.of(request)
    local raw = raw_of(request.uri)
    if is_usual(raw) then
        return nil
    end
    local list = { request.path, decode_segments(raw) }
    local results = complete(list)
    if results and #list == 1 then
        return nil
    end
    local name = results and shortest(request.path, results)
    return add_views({ list = list, shortest = name, too_many = not results }, request, list)
end

-- The same readings as views of another request with this path.
function _M.rebind(views, request)
    return add_views({ list = views.list, shortest = views.shortest, too_many = views.too_many }, request, views.list)
end

-- Whether the test holds for a reading, or ends with an error. `a`, `b`: its further arguments.
function _M.any(request, test, a, b)
    local views = request.readings
    if not views then
        return test(request, a, b)
    end
    for i = 1, #views do
        local holds, err = test(views[i], a, b)
        if holds or err then
            return holds, err
        end
    end
    return false
end

-- Whether the test holds for all readings.
function _M.all(request, test, a, b)
    local views = request.readings
    if not views then
        return test(request, a, b)
    end
    for i = 1, #views do
        local holds, err = test(views[i], a, b)
        if not holds then
            return holds, err
        end
    end
    return true
end
return _M
