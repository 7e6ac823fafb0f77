-- Challenges and passes. Both are stateless: signed by a key that all nodes of the zone share, for this site, this
-- address (IPv6: its /64) and this browser, with an expiry. So a pass is valid on every node of the zone only.
local digest = require("edge.core.digest")
local memo = require("edge.core.memo")
local recent = require("edge.core.recent")
local unseal = require("edge.tls.unseal")
local byte, concat, find, gmatch, gsub, lower, match, sub = string.byte, table.concat, string.find, string.gmatch, string.gsub,
    string.lower, string.match, string.sub
local encode_base64, floor, ipairs, now, set_header, time, tonumber, var = ngx.encode_base64, math.floor, ipairs, ngx.now,
    ngx.req.set_header, ngx.time, tonumber, ngx.var

local _M = { PUZZLES = 8 }
local PASS, ANSWER = "edgeloom_pass=", "edgeloom_answer="
-- Time to solve a challenge.
local ANSWER_SECONDS = 300
local MAC_BYTES = 16
local LONGEST_AGENT = 256
-- A stronger pass is valid where a weaker one is required. Keys are modes: redirect, shield, click, code.
local STRENGTH = { [4] = 1, [1] = 2, [3] = 3, [2] = 4 }
-- Clicks faster than this are not human.
local LEAST_CLICK_MS = 700

-- Derived keys, so that no signature is valid for another purpose. The first zone key signs.
local own = memo(function(keys)
    local made = {}
    for i, key in ipairs(keys) do
        made[i] = digest.of("sha256", "edgeloom anti-CC", key)
    end
    return made
end)

function _M.are_possible()
    return unseal.keys()[1] ~= nil
end

local URL_SAFE = { ["+"] = "-", ["/"] = "_" }
local function mac(text, key)
    return (gsub(encode_base64(sub(digest.of("sha256", text, key), 1, MAC_BYTES), true), "[+/]", URL_SAFE))
end

local function sign(text)
    return mac(text, own(unseal.keys())[1])
end

local function is_signed(text, signed)
    local keys = own(unseal.keys())
    for i = 1, #keys do
        if digest.equal(mac(text, keys[i]), signed) then
            return true
        end
    end
    return false
end

-- The identity that a pass is bound to.
function _M.bearer(site, address)
    return site .. "\n" .. address .. "\n" .. sub(var.http_user_agent or "", 1, LONGEST_AGENT)
end

-- The signed text. `expected`: the text that the visitor must type, except for proof of work.
local function question_text(mode, level, moment, bearer, expected)
    return concat({ "question", mode, level, moment, expected or "", bearer }, "\n")
end

local function pass_text(mode, ends, bearer)
    return concat({ "pass", mode, ends, bearer }, "\n")
end

-- The challenge in the page. Its last part is the input of the proof of work.
function _M.question(mode, level, bearer, expected)
    local moment = floor(now() * 1000)
    return mode .. "." .. level .. "." .. moment .. "." .. sign(question_text(mode, level, moment, bearer, expected))
end

local function has_zeros(bytes, bits)
    local whole = floor(bits / 8)
    for i = 1, whole do
        if byte(bytes, i) ~= 0 then
            return false
        end
    end
    return byte(bytes, whole + 1) < 2 ^ (8 - (bits - whole * 8))
end

-- Difficulty of one puzzle in bits. Each level doubles the mean number of attempts.
function _M.bits(level)
    return 12 + level
end

local function is_worked_out(over, level, found)
    local n = 0
    for part in gmatch(found, "[^-]+") do
        if not has_zeros(digest.of("sha256", over .. ":" .. n .. ":" .. part), _M.bits(level)) then
            return false
        end
        n = n + 1
    end
    return n == _M.PUZZLES
end

-- Finds a cookie and returns it with the remaining text. Plain searches, because patterns are never compiled by LuaJIT.
local function cut(text, name)
    local from = find(text, name, 1, true)
    local before = from and sub(text, 1, from - 1)
    -- Another cookie's name may end like ours.
    if not from or before ~= "" and sub(before, -1) ~= " " and sub(before, -1) ~= ";" then
        return nil, text
    end
    local ends = find(text, ";", from, true)
    local value = sub(text, from + #name, ends and ends - 1 or -1)
    if ends then
        return value, before .. sub(text, sub(text, ends + 1, ends + 1) == " " and ends + 2 or ends + 1)
    end
    return value, sub(before, -2) == "; " and sub(before, 1, -3) or before
end

-- Our cookies are removed before the request goes to the origin.
function _M.take()
    local pass, answer, text
    pass, text = cut(var.http_cookie, PASS)
    answer, text = cut(text, ANSWER)
    -- A duplicate, or a name almost like ours, counts as no cookies.
    if _M.are_shown(text) then
        text = ""
    end
    set_header("Cookie", text ~= "" and text or nil)
    return pass, answer
end

function _M.are_shown(cookies)
    return find(cookies, PASS, 1, true) or find(cookies, ANSWER, 1, true)
end

-- Verified passes, by pass and bearer.
local good = recent.new(4096)

local function verify(pass, bearer)
    local mode, ends, signed = match(pass, "^([1-4])%.(%d+)%.([%w_-]+)$")
    if mode and #pass <= 64 and is_signed(pass_text(mode, tonumber(ends), bearer), signed) then
        return { strength = STRENGTH[tonumber(mode)], ends = tonumber(ends) }
    end
end

-- Expiry of the pass where `mode` is required. nil: not valid.
function _M.holds(pass, mode, bearer)
    local shown = pass .. bearer
    local found = good:get(shown)
    if not found then
        found = verify(pass, bearer)
        if not found then
            return nil
        end
        good:set(shown, found)
    end
    return found.ends > time() and found.strength >= STRENGTH[mode] and found.ends or nil
end

-- The cookie that carries a pass.
function _M.pass(mode, seconds, bearer)
    local ends = time() + seconds
    return PASS .. mode .. "." .. ends .. "." .. sign(pass_text(mode, ends, bearer)) .. "; Path=/; Max-Age=" .. seconds
        .. "; HttpOnly; SameSite=Lax"
end

-- Whether the answer solves a challenge of this mode for this visitor. Returns an id of the solution and the seconds
-- until it expires.
function _M.judge(answer, mode, bearer)
    if #answer > 256 then
        return nil
    end
    local answered_mode, level, moment, signed, solution = match(answer, "^([1-4])%.(%d%d?)%.(%d+)%.([%w_-]+)~([%w-]*)$")
    if tonumber(answered_mode) ~= mode or #moment > 15 then
        return nil
    end
    local age = now() * 1000 - moment
    if age < 0 or age > ANSWER_SECONDS * 1000 or mode == 3 and age < LEAST_CLICK_MS then
        return nil
    end
    -- Level 0: a typed text, which is in the signature and not in the page.
    local is_typed = level == "0"
    local typed = is_typed and lower(solution) or nil
    if not is_signed(question_text(answered_mode, level, moment, bearer, typed), signed) then
        return nil
    end
    if is_typed or is_worked_out(signed, tonumber(level), solution) then
        return signed, ANSWER_SECONDS
    end
end
return _M
