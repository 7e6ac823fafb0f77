-- CAPTCHA images. Each is drawn ahead and shown to several visitors for a minute or two. Its text stays in this worker
-- and in the signature of the challenge.
local bit = require("bit")
local ffi = require("ffi")
local band, rshift, lshift, bxor = bit.band, bit.rshift, bit.lshift, bit.bxor
local abs, ceil, char, concat, cos, floor, max, min, pi, random, sin, sqrt = math.abs, math.ceil, string.char, table.concat, math.cos,
    math.floor, math.max, math.min, math.pi, math.random, math.sin, math.sqrt
local crc32, encode_base64, ipairs, pairs = ngx.crc32_long, ngx.encode_base64, ipairs, pairs

ffi.cdef([[ int RAND_bytes(unsigned char *bytes, int count); ]])

local _M = {}
local WIDTH, HEIGHT, LENGTH = 208, 72, 5
local KEPT, WANTED_SECONDS = 64, 120

-- Strokes on a 4 by 6 grid, x and y alternating. Easily confused characters are left out.
local GLYPHS = {
    A = { { 0, 6, 2, 0, 4, 6 }, { 0.8, 3.8, 3.2, 3.8 } },
    C = { { 4, 1, 3, 0, 1, 0, 0, 1.5, 0, 4.5, 1, 6, 3, 6, 4, 5 } },
    E = { { 4, 0, 0, 0, 0, 6, 4, 6 }, { 0, 3, 3, 3 } },
    F = { { 4, 0, 0, 0, 0, 6 }, { 0, 3, 3, 3 } },
    H = { { 0, 0, 0, 6 }, { 4, 0, 4, 6 }, { 0, 3, 4, 3 } },
    J = { { 4, 0, 4, 4.5, 3, 6, 1, 6, 0, 4.7 } },
    K = { { 0, 0, 0, 6 }, { 4, 0, 0, 3.2, 4, 6 } },
    L = { { 0, 0, 0, 6, 4, 6 } },
    M = { { 0, 6, 0, 0, 2, 3.6, 4, 0, 4, 6 } },
    N = { { 0, 6, 0, 0, 4, 6, 4, 0 } },
    P = { { 0, 6, 0, 0, 3, 0, 4, 0.9, 4, 2.3, 3, 3.2, 0, 3.2 } },
    R = { { 0, 6, 0, 0, 3, 0, 4, 0.9, 4, 2.3, 3, 3.2, 0, 3.2 }, { 1.8, 3.2, 4, 6 } },
    T = { { 0, 0, 4, 0 }, { 2, 0, 2, 6 } },
    U = { { 0, 0, 0, 4.6, 1, 6, 3, 6, 4, 4.6, 4, 0 } },
    W = { { 0, 0, 0.9, 6, 2, 2, 3.1, 6, 4, 0 } },
    X = { { 0, 0, 4, 6 }, { 4, 0, 0, 6 } },
    Y = { { 0, 0, 2, 3, 4, 0 }, { 2, 3, 2, 6 } },
    ["3"] = { { 0, 0.6, 1, 0, 3, 0, 4, 1, 4, 2, 3, 2.9, 1.5, 2.9 }, { 3, 2.9, 4, 4, 4, 5, 3, 6, 1, 6, 0, 5.2 } },
    ["4"] = { { 3.2, 6, 3.2, 0, 0, 4.2, 4.2, 4.2 } },
    ["7"] = { { 0, 0, 4, 0, 1.4, 6 } },
    ["9"] = { { 4, 2, 3, 3.4, 1, 3.4, 0, 2.3, 0, 1, 1, 0, 3, 0, 4, 1, 4, 3.6, 3, 6 } },
}
local NAMES = {}
for name in pairs(GLYPHS) do
    NAMES[#NAMES + 1] = name
end
table.sort(NAMES)

local function between(least, most)
    return least + random() * (most - least)
end

-- A round dot with a soft edge.
local function dot(canvas, x, y, radius, ink)
    for row = max(0, floor(y - radius - 1)), min(HEIGHT - 1, ceil(y + radius + 1)) do
        for column = max(0, floor(x - radius - 1)), min(WIDTH - 1, ceil(x + radius + 1)) do
            local far = sqrt((column - x) * (column - x) + (row - y) * (row - y)) - radius
            if far < 1 then
                local at = row * WIDTH + column
                canvas[at] = max(canvas[at], ink * min(1, 1 - far))
            end
        end
    end
end

local function line(canvas, from_x, from_y, to_x, to_y, radius, ink, bend)
    local steps = ceil(max(abs(to_x - from_x), abs(to_y - from_y)) / 1.2)
    for step = 0, steps do
        local part = steps == 0 and 0 or step / steps
        local x, y = bend(from_x + (to_x - from_x) * part, from_y + (to_y - from_y) * part)
        dot(canvas, x, y, radius, ink)
    end
end

local function waves()
    local across, along, phase, other = between(2, 4), between(2, 4), between(0, 2 * pi), between(0, 2 * pi)
    local slow, quick = between(45, 70), between(30, 50)
    return function(x, y)
        return x + along * sin(y / quick * 2 * pi + other), y + across * sin(x / slow * 2 * pi + phase)
    end
end

local function letter(canvas, name, left, bend)
    local scale_x, scale_y = between(5, 6.4), between(6.2, 7.4)
    local turn, lean = between(-0.25, 0.25), between(-0.2, 0.2)
    local middle_x, middle_y = left + between(-2, 2), HEIGHT / 2 + between(-5, 5)
    local radius = between(1.5, 2.2)
    for _, stroke in ipairs(GLYPHS[name]) do
        local last_x, last_y
        for i = 1, #stroke, 2 do
            local x = (stroke[i] - 2) * scale_x + between(-0.5, 0.5)
            local y = (stroke[i + 1] - 3) * scale_y + between(-0.5, 0.5)
            x = x + lean * y
            x, y = middle_x + x * cos(turn) - y * sin(turn), middle_y + x * sin(turn) + y * cos(turn)
            if last_x then
                line(canvas, last_x, last_y, x, y, radius, 3, bend)
            end
            last_x, last_y = x, y
        end
    end
end

local function number(n)
    return char(band(rshift(n, 24), 255), band(rshift(n, 16), 255), band(rshift(n, 8), 255), band(n, 255))
end

local function chunk(kind, data)
    return number(#data) .. kind .. data .. number(crc32(kind .. data))
end

local function adler32(text)
    local a, b = 1, 0
    for i = 1, #text do
        a = (a + text:byte(i)) % 65521
        b = (b + a) % 65521
    end
    return bxor(lshift(b, 16), a)
end

-- A PNG with four grey levels and uncompressed data, which is small anyway.
local function png(canvas)
    local lines = {}
    for row = 0, HEIGHT - 1 do
        local packed = { "\0" }
        for column = 0, WIDTH - 1, 4 do
            local value = 0
            for i = 0, 3 do
                local ink = floor(canvas[row * WIDTH + column + i] + between(0, 0.6))
                value = value * 4 + 3 - min(3, ink)
            end
            packed[#packed + 1] = char(value)
        end
        lines[#lines + 1] = concat(packed)
    end
    local data = concat(lines)
    local low, high = #data % 256, floor(#data / 256)
    local stored = "\120\1\1" .. char(low, high, 255 - low, 255 - high) .. data .. number(adler32(data))
    return "\137PNG\r\n\26\n" .. chunk("IHDR", number(WIDTH) .. number(HEIGHT) .. "\2\0\0\0\0") .. chunk("IDAT", stored)
        .. chunk("IEND", "")
end

local secret = ffi.new("unsigned char[?]", LENGTH)
local function draw()
    local canvas = ffi.new("double[?]", WIDTH * HEIGHT)
    local bend, letters = waves(), {}
    local room = WIDTH / LENGTH
    -- The text must not be predictable from other images. The distortion may be.
    assert(ffi.C.RAND_bytes(secret, LENGTH) == 1)
    for i = 1, LENGTH do
        letters[i] = NAMES[secret[i - 1] % #NAMES + 1]
        letter(canvas, letters[i], (i - 0.5) * room, bend)
    end
    for _ = 1, 2 do
        line(canvas, between(0, WIDTH / 4), between(8, HEIGHT - 8), between(WIDTH * 3 / 4, WIDTH), between(8, HEIGHT - 8),
            between(0.5, 0.9), 3, waves())
    end
    for _ = 1, 60 do
        dot(canvas, between(0, WIDTH), between(0, HEIGHT), between(0, 0.8), between(1, 3))
    end
    return { text = concat(letters):lower(), png = encode_base64(png(canvas)) }
end

local pool, oldest, wanted = {}, 1, 0

-- { text, png }. The first one is drawn on demand, so unused sites cost nothing.
function _M.any()
    wanted = ngx.time()
    if #pool == 0 then
        pool[1] = draw()
    end
    return pool[random(#pool)]
end

-- Draws one image per second, since one takes as long as a hundred requests.
local function renew()
    if ngx.time() - wanted > WANTED_SECONDS then
        return
    end
    if #pool < KEPT then
        pool[#pool + 1] = draw()
    else
        pool[oldest] = draw()
        oldest = oldest % KEPT + 1
    end
end

function _M.init_worker()
    ngx.timer.every(1, renew)
end
return _M
