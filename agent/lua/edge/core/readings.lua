-- The paths that servers may read from one request line. nginx decodes escapes, then merges slashes and removes dot
-- segments. Origins do so in another order, twice, or not at all, and some drop `;parameters` or read \ as a slash.
-- Where these readings differ, rules that protect apply to any of them, and rules that loosen to all of them.
local char, concat, find, gmatch, gsub, lower, match, sub = string.char, table.concat, string.find, string.gmatch,
    string.gsub, string.lower, string.match, string.sub
local min, setmetatable, tonumber = math.min, setmetatable, tonumber

local _M = {}
-- More readings than usual requests have. The second limits the work for long paths.
local MOST, MOST_BYTES = 32, 65536

local function byte_of(code)
    return char(tonumber(code, 16))
end

local function decode(text)
    return (gsub(text, "%%(%x%x)", byte_of))
end

-- Escaped slashes remain, as in RFC 3986: they separate no segments.
local function decode_segments(text)
    return (gsub(text, "%%(%x%x)", function(code)
        code = lower(code)
        return code == "2f" and "%2f" or code == "5c" and "%5c" or byte_of(code)
    end))
end

local function without_parameters(text)
    return (gsub(text, ";[^/]*", ""))
end

local function with_slashes(text)
    return (gsub(text, "\\", "/"))
end

local function with_single_slashes(text)
    return (gsub(text, "//+", "/"))
end

-- RFC 3986 5.2.4.
local function without_dots(text)
    if not find(text, "/.", 1, true) then
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

-- Adds what all orders of the steps make of the first texts. False when these are too many.
local function complete(list)
    local known = { [list[1]] = true }
    if known[list[2]] then
        list[2] = nil
    else
        known[list[2]] = true
    end
    local at, most = 1, min(MOST, MOST_BYTES / #list[1])
    while list[at] do
        for i = 1, #STEPS do
            local text = STEPS[i](list[at])
            if not known[text] then
                known[text], list[#list + 1] = true, text
            end
        end
        if #list > most then
            return false
        end
        at = at + 1
    end
    return true
end

-- What remains after all steps: the same for all spellings of a path.
local function shortest(text)
    local before
    repeat
        before = text
        for i = 1, #STEPS do
            text = STEPS[i](text)
        end
    until text == before
    return text
end

-- Whether nginx's path says the same as the path of the request line.
function _M.agree(raw, path)
    return sub(raw, 1, 1) == "/" and decode_segments(raw) == path and not find(path, "\\", 1, true)
end

-- One view of the request for each reading of its path, nginx's first. nil when there is only one. `shortest`: a name
-- for all spellings. `too_many`: the list is incomplete.
function _M.of(request)
    local raw = raw_of(request.uri)
    if is_usual(raw) then
        return nil
    end
    local list = { request.path, decode_segments(raw) }
    local is_complete = complete(list)
    if #list == 1 then
        return nil
    end
    local views = { shortest = shortest(request.path), too_many = not is_complete }
    for i = 1, #list do
        views[i] = setmetatable({ path = list[i] }, { __index = request })
    end
    return views
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
