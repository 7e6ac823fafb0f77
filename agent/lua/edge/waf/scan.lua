-- One pass over a value yields its tokens (a keyword, a word, a number, each punctuation mark), a mask of what the
-- value contains, and the groups of its keywords. Nothing is copied.
local ffi = require("ffi")
local bit = require("bit")
local base64_digits = require("edge.waf.decode").base64_digits
local band, bor, bxor, lshift, tobit = bit.band, bit.bor, bit.bxor, bit.lshift, bit.tobit
local assert, byte, find, gmatch, ipairs, pairs = assert, string.byte, string.find, string.gmatch, ipairs, pairs

local _M = {}
local bytes_of = ffi.typeof("const uint8_t *")
local MAX_TOKENS = 65536
-- Tokens that a chunk of a long value repeats from the one before: a window of the model, and what its n-grams reach.
local OVERLAP = 43
-- Tokens below 128 are punctuation marks, from FIRST_KEYWORD keywords.
local HANDLER, LETTER, WORD, LONG_WORD, NUMBER, HEX_NUMBER, HIGH, CONTROL = 256, 257, 258, 259, 260, 261, 262, 263
_M.START, _M.END = 264, 265
local FIRST_KEYWORD = 300
local PERCENT, AMPERSAND, BACKSLASH, UTF8, NUL, MARK, RUN, NOT_BASE64 = 1, 2, 4, 8, 16, 32, 64, 128
_M.RUN, _M.NOT_BASE64 = RUN, NOT_BASE64
_M.DECODABLE = bor(PERCENT, AMPERSAND, BACKSLASH, UTF8, NUL)
-- A value without these and without keywords is harmless.
_M.SUSPECT = bor(MARK, PERCENT, UTF8, NUL, RUN)

local names = {
    [HANDLER] = "on…", [LETTER] = "letter", [WORD] = "word", [LONG_WORD] = "long word", [NUMBER] = "number", [HEX_NUMBER] = "0x…",
    [HIGH] = "utf8", [CONTROL] = "control", [264] = "start", [265] = "end",
}
function _M.name(token)
    return token < 128 and string.char(token) or names[token] or "start"
end

local CLASS, LOWER, MASK = ffi.new("uint8_t[256]"), ffi.new("uint8_t[256]"), ffi.new("int32_t[256]")
for i = 0, 255 do
    local is_letter = i == 95 or (bor(i, 32) >= 97 and bor(i, 32) <= 122 and i < 128)
    CLASS[i] = i >= 128 and 4 or is_letter and 1 or (i >= 48 and i <= 57) and 2 or (i > 32 and i < 127) and 3 or 0
    LOWER[i] = i >= 65 and i <= 90 and i + 32 or i
    MASK[i] = i == 37 and PERCENT or i == 38 and AMPERSAND or i == 92 and BACKSLASH or i >= 0xC0 and UTF8 or i == 0 and NUL or 0
    if CLASS[i] == 3 and not find("-.,:/@+=~", string.char(i), 1, true) then
        MASK[i] = bor(MASK[i], MARK)
    end
    if base64_digits[i] < 0 and i ~= 61 then
        MASK[i] = bor(MASK[i], NOT_BASE64)
    end
end
_M.class = CLASS

local SLOTS = 8192
local slot_hash, slot_token, slot_group = ffi.new("int32_t[?]", SLOTS), ffi.new("int32_t[?]", SLOTS), ffi.new("int32_t[?]", SLOTS)
local group_of = {}
-- Tokens of the last scan, and their byte offsets.
local tokens, offsets = ffi.new("int32_t[?]", MAX_TOKENS + 8), ffi.new("int32_t[?]", MAX_TOKENS + 8)
_M.tokens, _M.offsets = tokens, offsets

local function hash_on(h, c)
    return bxor(tobit(lshift(h, 5) + h), c)
end

local function slot_of(h)
    local at = band(h, SLOTS - 1)
    while slot_hash[at] ~= 0 and slot_hash[at] ~= h do
        at = band(at + 1, SLOTS - 1)
    end
    return at
end

local function add(word, token, group)
    local h = 5381
    for k = 1, #word do
        h = hash_on(h, byte(word, k))
    end
    local at = slot_of(h)
    assert(slot_hash[at] == 0, "two keywords share a hash")
    slot_hash[at], slot_token[at], slot_group[at] = h, token, group
    names[token], group_of[token] = word, group
end

-- `keywords`: a list of words with their group, each. They replace those of an earlier call.
function _M.load(keywords)
    ffi.fill(slot_hash, ffi.sizeof(slot_hash))
    for token in pairs(group_of) do
        names[token], group_of[token] = nil, nil
    end
    local token = FIRST_KEYWORD
    for _, list in ipairs(keywords) do
        for word in gmatch(list.words, "%S+") do
            assert(token - FIRST_KEYWORD < SLOTS / 2, "there are too many keywords")
            add(word, token, list.group)
            token = token + 1
        end
    end
end

function _M.group(token)
    return group_of[token] or 0
end

-- Moves the last tokens to the front, and returns their number. As in the model, a run of one token counts as two.
local function carry(n)
    local to, from = n, n - 1
    while from >= 0 and n - to < OVERLAP do
        local token = tokens[from]
        if n - to < 2 or token ~= tokens[to] or token ~= tokens[to + 1] then
            to = to - 1
            tokens[to], offsets[to] = token, offsets[from]
        end
        from = from - 1
    end
    for k = to, n - 1 do
        tokens[k - to], offsets[k - to] = tokens[k], offsets[k]
    end
    return n - to
end

-- Returns the number of tokens, the mask, and the groups. A value with too many tokens is scanned in chunks: the fourth
-- result is then the offset from which the next call goes on, with the last tokens of this chunk.
function _M.scan(s, from)
    local p, n = ffi.cast(bytes_of, s), #s
    local i, count, mask, groups = from or 0, from and carry(MAX_TOKENS) or 0, 0, 0
    while i < n and count < MAX_TOKENS do
        local c = p[i]
        local class = CLASS[c]
        if class == 1 then
            local h, j = 5381, i
            repeat
                h, j = hash_on(h, LOWER[c]), j + 1
                -- A Lua string ends in NUL, so p[n] may be read.
                c = p[j]
                class = CLASS[c]
            until class == 0 or class > 2
            local at = slot_of(h)
            offsets[count] = i
            if slot_hash[at] == h then
                tokens[count] = slot_token[at]
                groups = bor(groups, slot_group[at])
            elseif j - i > 4 and LOWER[p[i]] == 111 and LOWER[p[i + 1]] == 110 then
                tokens[count] = HANDLER
            elseif j - i > 20 then
                tokens[count] = LONG_WORD
                mask = bor(mask, RUN)
            else
                tokens[count] = j - i == 1 and LETTER or WORD
            end
            count, i = count + 1, j
        elseif class == 2 then
            local j, h = i + 1, hash_on(5381, c)
            local is_hex = c == 48 and LOWER[p[j]] == 120
            if is_hex then
                j = j + 1
            end
            while CLASS[p[j]] == 2 or CLASS[p[j]] == 1 do
                h, j = hash_on(h, LOWER[p[j]]), j + 1
            end
            offsets[count] = i
            tokens[count] = is_hex and HEX_NUMBER or NUMBER
            -- Parts of well-known internal addresses.
            if j - i == 3 and not is_hex then
                local at = slot_of(h)
                if slot_hash[at] == h then
                    tokens[count] = slot_token[at]
                    groups = bor(groups, slot_group[at])
                end
            end
            if j - i > 20 then
                mask = bor(mask, RUN)
            end
            count, i = count + 1, j
        elseif class == 3 then
            mask = bor(mask, MASK[c])
            if c == 46 and p[i + 1] == 46 then
                mask = bor(mask, MARK)
            end
            offsets[count], tokens[count] = i, c
            count, i = count + 1, i + 1
        elseif class == 4 then
            offsets[count], tokens[count] = i, HIGH
            count = count + 1
            repeat
                mask = bor(mask, MASK[p[i]])
                i = i + 1
            until p[i] < 128
        else
            mask = bor(mask, MASK[c])
            if c == 10 or c == 13 or c == 0 then
                offsets[count], tokens[count] = i, CONTROL
                count = count + 1
            end
            i = i + 1
        end
    end
    return count, mask, groups, i < n and i or nil
end
return _M
