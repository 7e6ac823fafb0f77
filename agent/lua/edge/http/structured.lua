-- Strict parser of structured field dictionaries (RFC 8941 3.2, with dates and display strings of RFC 9651). Input that
-- is not well-formed to the end is rejected. Values are numbers and booleans; others are only noted as present.
local byte, find, match, sub = string.byte, string.find, string.match, string.sub
local tonumber = tonumber

local _M = {}
local OTHER = "other"
local bare_item

local function number_at(text, at)
    local digits, point, fraction, after = match(text, "^%-?(%d+)(%.?)(%d*)()", at)
    if not digits then
        return nil
    end
    if point == "" then
        if #digits > 15 then
            return nil
        end
        return tonumber(sub(text, at, after - 1)), after, "integer"
    end
    if #digits > 12 or #fraction < 1 or #fraction > 3 then
        return nil
    end
    return OTHER, after
end

local function string_at(text, at)
    local i = at + 1
    while true do
        local char = byte(text, i)
        if not char or char < 0x20 or char > 0x7e then
            return nil
        end
        if char == 0x22 then
            return OTHER, i + 1
        end
        if char == 0x5c then
            local escaped = byte(text, i + 1)
            if escaped ~= 0x22 and escaped ~= 0x5c then
                return nil
            end
            i = i + 1
        end
        i = i + 1
    end
end

function bare_item(text, at)
    local char = sub(text, at, at)
    if find(char, "^[%d-]") then
        return number_at(text, at)
    elseif char == '"' then
        return string_at(text, at)
    elseif char == "?" then
        local flag = match(text, "^%?([01])", at)
        if flag then
            return flag == "1", at + 2
        end
        return nil
    end
    local after = find(char, "^[%a*]") and match(text, "^[%a*][%w!#$%%&'*+%-.^_`|~:/]*()", at)
        or char == ":" and match(text, "^:[%w+/=]*:()", at)
        or char == "@" and match(text, "^@%-?%d+()", at)
        or char == "%" and match(text, '^%%"[^"%c\128-\255]*"()', at)
    if after then
        return OTHER, after
    end
end

local function key_at(text, at)
    return match(text, "^([%l*][%l%d_%-.*]*)()", at)
end

-- The end of the parameters, which are checked and ignored.
local function after_parameters(text, at)
    while sub(text, at, at) == ";" do
        local name, after = key_at(text, match(text, "^ *()", at + 1))
        if not name then
            return nil
        end
        at = after
        if sub(text, at, at) == "=" then
            local value
            value, at = bare_item(text, at + 1)
            if value == nil then
                return nil
            end
        end
    end
    return at
end

local function inner_list(text, at)
    at = at + 1
    while true do
        at = match(text, "^ *()", at)
        if sub(text, at, at) == ")" then
            return OTHER, at + 1
        end
        local value
        value, at = bare_item(text, at)
        at = value ~= nil and after_parameters(text, at) or nil
        if not at or not find(sub(text, at, at), "^[ )]") then
            return nil
        end
    end
end

-- { name = value }, the last of equal names counts. nil for an invalid or empty dictionary.
function _M.dictionary(text)
    text = match(text, "^ *(.-) *$")
    if text == "" then
        return nil
    end
    local members, at = {}, 1
    while true do
        local name, after = key_at(text, at)
        if not name then
            return nil
        end
        local value = true
        if sub(text, after, after) == "=" then
            local read = sub(text, after + 1, after + 1) == "(" and inner_list or bare_item
            value, after = read(text, after + 1)
            if value == nil then
                return nil
            end
        end
        at = after_parameters(text, after)
        if not at then
            return nil
        end
        members[name] = value
        at = match(text, "^[ \t]*()", at)
        if at > #text then
            return members
        end
        at = match(text, "^,[ \t]*()", at)
        if not at or at > #text then
            return nil
        end
    end
end
return _M
