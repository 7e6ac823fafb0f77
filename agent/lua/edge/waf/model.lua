-- A linear model over the 1- to 4-grams of tokens within a window. A value's score is that of its worst window, so a
-- long harmless text neither hides an attack nor adds up to one. Each n-gram of a window counts once.
local ffi = require("ffi")
local bit = require("bit")
local scan = require("edge.waf.scan")
local band, bxor, lshift, rshift, tobit = bit.band, bit.bxor, bit.lshift, bit.rshift, bit.tobit
local byte, decode_base64, ipairs, min, sub = string.byte, ngx.decode_base64, ipairs, math.min, string.sub

local _M = {}
local WINDOW = 40
_M.WINDOW = WINDOW
local FEATURES = 65536
-- Stands for the tokens before the start token.
local PADDING = 0
local tokens = scan.tokens
-- Start tokens of places whose text begins differently from a value: paths, documents, file names.
local starts = { path = 266, document = 272, raw = 273, filename = 274 }
local weights = ffi.new("float[?]", FEATURES)
local counts = ffi.new("uint8_t[?]", FEATURES)
local ring = ffi.new("int32_t[?]", WINDOW * 4)
local bias, place_bias = 0, {}

local function mix(h, token)
    h = tobit(h + token)
    h = tobit(h + lshift(h, 10))
    h = bxor(h, rshift(h, 6))
    h = tobit(h + lshift(h, 3))
    return bxor(h, rshift(h, 11))
end

-- The features of a token after three others.
local function features(p3, p2, p1, token)
    local m = FEATURES - 1
    return band(mix(7, token), m), band(mix(mix(11, p1), token), m), band(mix(mix(mix(13, p2), p1), token), m),
        band(mix(mix(mix(mix(17, p3), p2), p1), token), m)
end

-- `model`: bias, places and scale, and `packed`, in base64 entries of three bytes: a feature's number and its weight.
-- It replaces the model of an earlier call.
function _M.load(model)
    bias, place_bias = model.bias, model.places
    ffi.fill(weights, ffi.sizeof(weights))
    local packed = decode_base64(model.packed)
    for i = 1, #packed, 3 do
        local high, low, weight = byte(packed, i, i + 2)
        weights[high * 256 + low] = (weight - 128) * model.scale
    end
end

function _M.start(place)
    return starts[place] or scan.START
end

local function enter(feature)
    local count = counts[feature]
    counts[feature] = count + 1
    return count == 0 and weights[feature] or 0
end

local function leave(feature)
    local count = counts[feature] - 1
    counts[feature] = count
    return count == 0 and weights[feature] or 0
end

-- The score of the `n` tokens of the last scan, and the index of the worst window's last token.
function _M.score(n, place)
    local p3, p2, p1 = PADDING, PADDING, _M.start(place)
    local sum, best, entered, r, worst = 0, -1e9, 0, 0, n - 1
    for i = 0, n do
        local token = i < n and tokens[i] or scan.END
        -- A run of one token is cut to two.
        if token ~= p1 or token ~= p2 then
            if entered >= WINDOW then
                sum = sum - leave(ring[r]) - leave(ring[r + 1]) - leave(ring[r + 2]) - leave(ring[r + 3])
            end
            local a, b, c, d = features(p3, p2, p1, token)
            ring[r], ring[r + 1], ring[r + 2], ring[r + 3] = a, b, c, d
            sum = sum + enter(a) + enter(b) + enter(c) + enter(d)
            r = r + 4
            if r == WINDOW * 4 then
                r = 0
            end
            entered = entered + 1
            if entered >= WINDOW and sum > best then
                best, worst = sum, i
            end
            p3, p2, p1 = p2, p1, token
        end
    end
    if entered < WINDOW then
        best = sum
    end
    for i = 0, min(entered, WINDOW) * 4 - 1 do
        counts[ring[i]] = 0
    end
    return best + bias + (place_bias[place] or 0), worst
end

-- The heaviest n-grams of a value as texts, without those that reach before its start. Only for refused requests.
function _M.explain(s, place, most)
    local n = scan.scan(sub(s, 1, 4096))
    local all, before, seen = {}, { PADDING, PADDING, _M.start(place) }, {}
    for i = 0, n do
        local token = i < n and tokens[i] or scan.END
        if token ~= before[3] or token ~= before[2] then
            local numbers = { features(before[1], before[2], before[3], token) }
            local text = scan.name(token)
            for k, number in ipairs(numbers) do
                if weights[number] > 0 and not seen[number] then
                    seen[number] = true
                    all[#all + 1] = { text = text, weight = weights[number] }
                end
                local previous = before[4 - k] or PADDING
                if previous == PADDING then
                    break
                end
                text = scan.name(previous) .. " " .. text
            end
            before = { before[2], before[3], token }
        end
    end
    table.sort(all, function(a, b) return a.weight > b.weight end)
    for i = #all, most + 1, -1 do
        all[i] = nil
    end
    return all
end
return _M
