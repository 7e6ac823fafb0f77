-- The paths that servers may read from one request line. nginx decodes escapes, then merges slashes and removes dot
-- segments. Origins do so in another order, twice, or not at all, and some drop `;parameters` or read \ as a slash.
-- A rule that protects applies if any of these variants matches, and a rule that loosens only if all of them do.
local paths = require("edge.core.paths")
local spelling = require("edge.core.spelling")
local concat, find, gmatch, gsub, sub = table.concat, string.find, string.gmatch, string.gsub, string.sub
local ipairs, max, min, pairs, setmetatable = ipairs, math.max, math.min, pairs, setmetatable

local _M = {}
-- More variants than usual paths have.
local MAX_VARIANTS = 32
-- All variants of a path together have at most this size, so long paths have fewer. Each costs one pass per step.
local MAX_BYTES = 65536

-- Escaped slashes remain in segments, as in RFC 3986: they separate none.
local decoded, decoded_in_segments = spelling.decoded, {}
for code, one in pairs(decoded) do
    decoded_in_segments[code] = one == "/" and "%2f" or one == "\\" and "%5c" or one
end

-- RFC 3986 5.2.4.
local function without_dots(text)
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

local function replacing(pattern, replacement)
    return function(text)
        return (gsub(text, pattern, replacement))
    end
end

-- A step changes no text without its trigger, a plain string. No step makes a text longer.
local DECODE_SEGMENTS = { trigger = "%", change = replacing("%%(%x%x)", decoded_in_segments) }
local STEPS = {
    DECODE_SEGMENTS,
    { trigger = "%", change = replacing("%%(%x%x)", decoded) },
    { trigger = ";", change = replacing(";[^/]*", "") },
    { trigger = "\\", change = replacing("\\", "/") },
    { trigger = "//", change = replacing("//+", "/") },
    { trigger = "/.", change = without_dots },
}

local function has(text, part)
    return find(text, part, 1, true) ~= nil
end

-- Looking for the trigger is much faster than a pattern that matches nothing in a long text.
local function apply(step, text)
    return has(text, step.trigger) and step.change(text) or text
end

local function raw_path(uri)
    local raw = paths.without_query(uri)
    return sub(raw, 1, 1) == "/" and raw or "/" .. raw
end

-- Whether every server reads the path as it is written. nginx ends a path at #.
local function is_unambiguous(raw)
    for i = 1, #STEPS do
        if has(raw, STEPS[i].trigger) then
            return false
        end
    end
    return not has(raw, "#")
end

-- Adds the results of all orders of the steps to a list of one or two texts. Returns the result of each step by text,
-- or nil when the texts are too many.
local function add_results(list)
    local first, second = list[1], list[2]
    local known, results = { [first] = true, [second] = true }, {}
    if first == second then
        list[2] = nil
    end
    local at, limit = 1, min(MAX_VARIANTS, MAX_BYTES / max(#first, #second))
    while list[at] do
        local made = {}
        for i = 1, #STEPS do
            local text = apply(STEPS[i], list[at])
            made[i] = text
            if not known[text] then
                if #list + 1 > limit then
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

-- The path to which all steps lead, whatever their order: all spellings of a path have the same one.
local function canonical_path(text, results)
    local before
    repeat
        before = text
        for i = 1, #STEPS do
            text = results[text][i]
        end
    until text == before
    return text
end

-- Whether nginx only decoded the path of the request line, and neither removed segments nor merged slashes.
function _M.is_only_decoded(raw, path)
    return sub(raw, 1, 1) == "/" and apply(DECODE_SEGMENTS, raw) == path and not find(path, "\\", 1, true)
end

-- Adds one copy of the request for each path. A copy refers to the request for everything but its path.
local function with_copies(variants, request)
    for i, path in ipairs(variants.list) do
        variants[i] = setmetatable({ path = path }, { __index = request })
    end
    return variants
end

-- The request with each variant of its path, nginx's first. nil when there is only one. `canonical`: the same path for
-- all spellings. `too_many`: the list is incomplete, so the request is refused, and there is no `canonical`.
function _M.of(request)
    local raw = raw_path(request.uri)
    if is_unambiguous(raw) then
        return nil
    end
    local list = { request.path, apply(DECODE_SEGMENTS, raw) }
    local results = add_results(list)
    if results and #list == 1 then
        return nil
    end
    local canonical = results and canonical_path(request.path, results)
    return with_copies({ list = list, canonical = canonical, too_many = not results }, request)
end

-- The same variants for another request with this path.
function _M.rebind(variants, request)
    return with_copies({ list = variants.list, canonical = variants.canonical, too_many = variants.too_many }, request)
end

-- Results: whether the test holds for any variant, and its error. The first error decides.
-- `a`, `b`: further arguments of the test.
function _M.any(request, test, a, b)
    local variants = request.path_variants
    if not variants then
        return test(request, a, b)
    end
    for i = 1, #variants do
        local holds, err = test(variants[i], a, b)
        if holds or err then
            return holds, err
        end
    end
    return false
end

-- Results: whether the test holds for all variants, and the error of one for which it does not. No other error decides:
-- the variants behind it would not be tested.
function _M.all(request, test, a, b)
    local variants = request.path_variants
    if not variants then
        return test(request, a, b)
    end
    for i = 1, #variants do
        local holds, err = test(variants[i], a, b)
        if not holds then
            return holds, err
        end
    end
    return true
end
return _M
