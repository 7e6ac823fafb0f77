-- Parses Cache-Control (RFC 9111 5.2) and CDN-Cache-Control (RFC 9213) into { name = value | true }. Unreadable numbers
-- are -1, which counts as stale. Of repeated directives the strictest value counts.
local structured = require("edge.http.structured")
local find, sub, match, lower, gsub = string.find, string.sub, string.match, string.lower, string.gsub
local type, tonumber, pairs, min, max, concat = type, tonumber, pairs, math.min, math.max, table.concat

local _M = {}
local UNREADABLE = -1
local MOST = 2147483648
local SECONDS = {
    ["max-age"] = true, ["s-maxage"] = true, ["stale-while-revalidate"] = true, ["stale-if-error"] = true,
}

-- A repeated field is one list.
function _M.joined(value)
    if type(value) == "table" then
        return concat(value, ", ")
    end
    return value
end

local function seconds(value)
    local digits = type(value) == "string" and match(value, '^"?(%d+)"?$')
    return digits and min(tonumber(digits), MOST) or UNREADABLE
end

local function after_quotes(text, at)
    local length = #text
    while at <= length do
        local char = sub(text, at, at)
        if char == "\\" then
            at = at + 1
        elseif char == '"' then
            return at
        end
        at = at + 1
    end
    return length
end

-- The value after a directive's name, and the start of the next directive.
local function value_at(text, at)
    local comma = find(text, ",", at, true) or #text + 1
    if sub(text, at, at) ~= "=" then
        local rest = match(sub(text, at, comma - 1), "^%s*(.-)%s*$")
        -- "max-age =5" is a directive followed by garbage.
        return rest == "" or rest, comma
    end
    if sub(text, at + 1, at + 1) == '"' then
        local last = after_quotes(text, at + 2)
        return sub(text, at + 1, last), last + 1
    end
    return (gsub(sub(text, at + 1, comma - 1), "%s+$", "")), comma
end

local function put(directives, name, value)
    if SECONDS[name] then
        local number = seconds(value)
        if not directives[name] or number < directives[name] then
            directives[name] = number
        end
    elseif directives[name] ~= true then
        directives[name] = value
    end
end

function _M.parse(text)
    local directives = {}
    if not text then
        return directives
    end
    local at, length = 1, #text
    while at <= length do
        local _, blank = find(text, "^[%s,]*", at)
        at = blank + 1
        local name, next_at = match(text, '^([^%s,="]+)()', at)
        if name then
            local value
            value, at = value_at(text, next_at)
            put(directives, lower(name), value)
        else
            at = find(text, ",", at, true) or length + 1
        end
    end
    return directives
end

-- nil unless the whole field is a well-formed dictionary with numeric seconds: after one error it is ignored.
function _M.parse_targeted(text)
    local members = text and structured.dictionary(text)
    if not members then
        return nil
    end
    local directives = {}
    for name, value in pairs(members) do
        if SECONDS[name] then
            if type(value) ~= "number" then
                return nil
            end
            value = max(min(value, MOST), UNREADABLE)
        end
        directives[name] = value or nil
    end
    return directives
end
return _M
