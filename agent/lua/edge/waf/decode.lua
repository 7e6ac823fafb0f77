-- Decoders of inspected values. Each returns the same string when there is nothing to decode. Each is one pass.
local ffi = require("ffi")
local bit = require("bit")
local band, bor, rshift = bit.band, bit.bor, bit.rshift
local byte, find, gsub, lower, sub = string.byte, string.find, string.gsub, string.lower, string.sub

local _M = {}
local bytes_of = ffi.typeof("const uint8_t *")
local HEX, BASE64 = ffi.new("int8_t[256]"), ffi.new("int8_t[256]")
for i = 0, 255 do
    HEX[i], BASE64[i] = -1, -1
end
for i = 0, 9 do
    HEX[48 + i] = i
end
for i = 0, 5 do
    HEX[65 + i], HEX[97 + i] = 10 + i, 10 + i
end
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
for i = 1, 64 do
    BASE64[byte(ALPHABET, i)] = i - 1
end
BASE64[45], BASE64[95] = 62, 63
_M.base64_digits = BASE64

local size, buffer = 0, nil
local function room(needed)
    if needed + 8 > size then
        size = needed * 2 + 1024
        buffer = ffi.new("uint8_t[?]", size)
    end
    return buffer
end

-- After a large body, the memory goes back.
function _M.release()
    if size > 1048576 then
        size, buffer = 0, nil
    end
end

local function hex4(p, i)
    return HEX[p[i]] * 4096 + HEX[p[i + 1]] * 256 + HEX[p[i + 2]] * 16 + HEX[p[i + 3]]
end

local function are_hex(p, i, count)
    for k = i, i + count - 1 do
        if HEX[p[k]] < 0 then
            return false
        end
    end
    return true
end

-- Writes a code point. Full-width forms and slash look-alikes become ASCII.
local function put(b, at, code)
    if code >= 0xFF01 and code <= 0xFF5E then
        code = code - 0xFEE0
    elseif code == 0x2215 or code == 0x2216 then
        code = 47
    end
    if code < 128 then
        b[at] = code
        return at + 1
    end
    if code < 0x800 then
        b[at], b[at + 1] = 0xC0 + rshift(code, 6), 0x80 + band(code, 63)
        return at + 2
    end
    b[at], b[at + 1], b[at + 2] = 0xE0 + band(rshift(code, 12), 15), 0x80 + band(rshift(code, 6), 63), 0x80 + band(code, 63)
    return at + 3
end

-- UTF-16 and UTF-32 (`width` 2 and 4) become UTF-8. Halves of a surrogate pair stay apart.
function _M.wide(s, width, is_little)
    local n = #s - #s % width
    local p, b, o = ffi.cast(bytes_of, s), room(n * 2), 0
    local first, step = is_little and 0 or width - 1, is_little and 1 or -1
    for i = first, n - 1, width do
        local code = p[i] + p[i + step] * 256
        if width == 4 and p[i + 2 * step] + p[i + 3 * step] > 0 then
            code = 0xFFFD
        end
        o = put(b, o, code)
    end
    return ffi.string(b, o)
end

-- %HH and %uHHHH. `plus`: a plus sign is a space.
local function url(s, plus)
    if not find(s, "%", 1, true) and not (plus and find(s, "+", 1, true)) then
        return s
    end
    local n = #s
    local p, b, i, o = ffi.cast(bytes_of, s), room(n), 0, 0
    while i < n do
        local c = p[i]
        if c == 37 and i + 2 < n and HEX[p[i + 1]] >= 0 and HEX[p[i + 2]] >= 0 then
            b[o] = HEX[p[i + 1]] * 16 + HEX[p[i + 2]]
            o, i = o + 1, i + 3
        elseif c == 37 and i + 5 < n and bor(p[i + 1], 32) == 117 and are_hex(p, i + 2, 4) then
            o, i = put(b, o, hex4(p, i + 2)), i + 6
        else
            b[o] = (c == 43 and plus) and 32 or c
            o, i = o + 1, i + 1
        end
    end
    return ffi.string(b, o)
end
_M.url = url

-- \xHH, \uHHHH, \u{H} and \OOO.
local function escapes(s)
    if not find(s, "\\", 1, true) then
        return s
    end
    local n = #s
    local p, b, i, o, found = ffi.cast(bytes_of, s), room(n), 0, 0, false
    while i < n do
        local c, d = p[i], p[i + 1]
        local code, length
        if c == 92 and i + 1 < n then
            if bor(d, 32) == 120 and i + 3 < n and are_hex(p, i + 2, 2) then
                code, length = HEX[p[i + 2]] * 16 + HEX[p[i + 3]], 4
            elseif bor(d, 32) == 117 and i + 5 < n and are_hex(p, i + 2, 4) then
                code, length = hex4(p, i + 2), 6
            elseif d == 117 and i + 3 < n and p[i + 2] == 123 then
                local j, value = i + 3, 0
                while j < n and j < i + 9 and HEX[p[j]] >= 0 do
                    value, j = value * 16 + HEX[p[j]], j + 1
                end
                if j < n and p[j] == 125 and value < 65536 then
                    code, length = value, j + 1 - i
                end
            elseif d >= 48 and d <= 51 and i + 3 < n and band(p[i + 2], 0xF8) == 48 and band(p[i + 3], 0xF8) == 48 then
                code, length = (d - 48) * 64 + (p[i + 2] - 48) * 8 + p[i + 3] - 48, 4
            end
        end
        if code then
            o, i, found = put(b, o, code), i + length, true
        else
            b[o] = c
            o, i = o + 1, i + 1
        end
    end
    return found and ffi.string(b, o) or s
end
_M.escapes = escapes

local NAMED = {
    lt = 60, gt = 62, amp = 38, quot = 34, apos = 39, colon = 58, tab = 9, newline = 10, lpar = 40, rpar = 41, sol = 47, bsol = 92,
    nbsp = 32, equals = 61, grave = 96, lbrack = 91, rbrack = 93, lbrace = 123, rbrace = 125, lcub = 123, rcub = 125, semi = 59,
    comma = 44, period = 46, dollar = 36, excl = 33, num = 35, lsqb = 91, rsqb = 93, verbar = 124, vert = 124, plus = 43,
    quest = 63, commat = 64, ast = 42,
}
local function entities(s)
    if not find(s, "&[#%a]") then
        return s
    end
    local n = #s
    local p, b, i, o, found = ffi.cast(bytes_of, s), room(n), 0, 0, false
    while i < n do
        local c, j, code = p[i], i + 1, nil
        if c == 38 and i + 2 < n then
            if p[j] == 35 then
                local digits, is_hex = 0, bor(p[j + 1], 32) == 120
                j = j + (is_hex and 2 or 1)
                code = 0
                while j < n and digits < 8 and (is_hex and HEX[p[j]] >= 0 or (p[j] >= 48 and p[j] <= 57)) do
                    code, j, digits = code * (is_hex and 16 or 10) + HEX[p[j]], j + 1, digits + 1
                end
                if digits == 0 or code > 65535 then
                    code = nil
                elseif j < n and p[j] == 59 then
                    j = j + 1
                end
            else
                while j < n and j < i + 10 and bor(p[j], 32) >= 97 and bor(p[j], 32) <= 122 do
                    j = j + 1
                end
                if j < n and p[j] == 59 then
                    code = NAMED[lower(ffi.string(p + i + 1, j - i - 1))]
                    j = j + 1
                end
            end
        end
        if code then
            o, i, found = put(b, o, code), j, true
        else
            b[o] = c
            o, i = o + 1, i + 1
        end
    end
    return found and ffi.string(b, o) or s
end
_M.entities = entities

-- Overlong UTF-8 and full-width forms.
local function narrow(s)
    if not find(s, "[\192-\255]") then
        return s
    end
    local n = #s
    local p, b, i, o, found = ffi.cast(bytes_of, s), room(n), 0, 0, false
    while i < n do
        local c = p[i]
        local length = c < 0xC0 and 1 or c < 0xE0 and 2 or c < 0xF0 and 3 or c < 0xF8 and 4 or c < 0xFC and 5 or 6
        local code = 128
        if length > 1 and i + length <= n then
            code = band(c, rshift(0xFF, length + 1))
            for k = 1, length - 1 do
                code = code * 64 + band(p[i + k], 63)
            end
        end
        if length > 1 and (code < 128 or (code >= 0xFF01 and code <= 0xFF5E)) then
            o, i, found = put(b, o, code), i + length, true
        else
            b[o] = c
            o, i = o + 1, i + 1
        end
    end
    return found and ffi.string(b, o) or s
end
_M.narrow = narrow

-- Each byte above ASCII becomes a space.
function _M.ascii(s)
    local n = #s
    local p, b = ffi.cast(bytes_of, s), room(n)
    for i = 0, n - 1 do
        b[i] = p[i] < 128 and p[i] or 32
    end
    return ffi.string(b, n)
end

-- Everything that applications may decode, in the order in which they would.
function _M.all(s)
    local value = s
    for _ = 1, 3 do
        local decoded = url(value, false)
        if decoded == value then
            break
        end
        value = decoded
    end
    value = narrow(value)
    value = entities(entities(value))
    value = escapes(value)
    if find(value, "\0", 1, true) then
        value = gsub(value, "%z", "")
    end
    return value
end

-- The text of a base64 value. nil as soon as a byte is no text, so identifiers cost a few bytes.
function _M.base64(s)
    local n = #s
    if n < 12 then
        return nil
    end
    local p, b, o, bits, digits = ffi.cast(bytes_of, s), room(n), 0, 0, 0
    for i = 0, n - 1 do
        local v = BASE64[p[i]]
        if v < 0 then
            if p[i] == 61 then
                break
            end
            return nil
        end
        bits, digits = band(bits, 0x3FFFF) * 64 + v, digits + 1
        if digits == 4 then
            for shift = 16, 0, -8 do
                local c = band(rshift(bits, shift), 255)
                if (c < 32 and c ~= 9 and c ~= 10 and c ~= 13) or c == 127 or c > 244 then
                    return nil
                end
                b[o] = c
                o = o + 1
            end
            bits, digits = 0, 0
        end
    end
    if digits == 2 then
        b[o] = band(rshift(bits, 4), 255)
        o = o + 1
    elseif digits == 3 then
        b[o], b[o + 1] = band(rshift(bits, 10), 255), band(rshift(bits, 2), 255)
        o = o + 2
    end
    local text = ffi.string(b, o)
    local _, high = gsub(text, "[\128-\255]", "")
    if high * 2 > o or (high * 4 > o and not find(text, "[<'\"(%$]")) then
        return nil
    end
    return text
end

-- SQL comments become spaces, and version comments their content. nil when there are none.
function _M.without_comments(s)
    local from = find(s, "/*", 1, true)
    if not from then
        return nil
    end
    local parts, last = {}, 1
    while from do
        local to = find(s, "*/", from + 2, true)
        if not to then
            break
        end
        parts[#parts + 1] = sub(s, last, from - 1)
        local _, version = find(s, "^!%d*", from + 2)
        parts[#parts + 1] = version and " " .. sub(s, version + 1, to - 1) .. " " or " "
        last = to + 2
        from = find(s, "/*", last, true)
    end
    if last == 1 then
        return nil
    end
    parts[#parts + 1] = sub(s, last)
    return table.concat(parts)
end
return _M
