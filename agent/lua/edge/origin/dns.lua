-- DNS queries and responses (RFC 1035), as far as addresses need them. Pure.
local byte, char, sub, gmatch, lower = string.byte, string.char, string.sub, string.gmatch, string.lower
local concat, format = table.concat, string.format
local floor, min = math.floor, math.min

local _M = {}
_M.A, _M.AAAA = 1, 28
local ADDRESS_BYTES = { [1] = 4, [28] = 16 }

function _M.question(id, name, kind)
    local labels = {}
    for label in gmatch(name, "[^.]+") do
        labels[#labels + 1] = char(#label) .. label
    end
    return char(floor(id / 256), id % 256, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
        .. concat(labels) .. char(0, 0, kind, 0, 1)
end

local function number(text, at, length)
    local value = 0
    for i = at, at + length - 1 do
        value = value * 256 + (byte(text, i) or 0)
    end
    return value
end

-- The end of a name. Its content matters only in the question, which is compared as sent.
local function after_name(text, at)
    while true do
        local length = byte(text, at)
        if not length then
            return nil
        end
        if length == 0 then
            return at + 1
        end
        if length >= 192 then
            return at + 2
        end
        at = at + 1 + length
    end
end

local function address(text, at, kind)
    if kind == _M.A then
        return format("%d.%d.%d.%d", byte(text, at, at + 3))
    end
    local groups = {}
    for i = 0, 7 do
        groups[i + 1] = format("%x", number(text, at + i * 2, 2))
    end
    return "[" .. concat(groups, ":") .. "]"
end

-- { addresses, seconds }, false when the server failed, or nil when it does not answer the question. NXDOMAIN is an
-- empty list.
function _M.answer(text, question)
    if #text < #question or sub(text, 1, 2) ~= sub(question, 1, 2) or byte(text, 3) < 128 then
        return nil
    end
    if lower(sub(text, 13, #question)) ~= lower(sub(question, 13)) then
        return nil
    end
    local code, kind = byte(text, 4) % 16, byte(question, #question - 2)
    if code ~= 0 and code ~= 3 then
        return false
    end
    local found = { addresses = {}, seconds = 86400 }
    local at = #question + 1
    for _ = 1, number(text, 7, 2) do
        at = after_name(text, at)
        if not at or at + 9 > #text then
            break
        end
        local length = number(text, at + 8, 2)
        if number(text, at, 2) == kind and length == ADDRESS_BYTES[kind] and at + 9 + length <= #text then
            found.addresses[#found.addresses + 1] = address(text, at + 10, kind)
            found.seconds = min(found.seconds, number(text, at + 4, 4))
        end
        at = at + 10 + length
    end
    return found
end
return _M
