-- Challenges and passes. Both are stateless and signed by a key that all nodes of the zone share, so a pass is valid on
-- every node of the zone only. A challenge is bound to a site, a browser and an address (IPv6: its /64). A pass names
-- the challenge that was solved, the addresses it holds for, and a hash of a secret that only the browser has: with the
-- secret, the browser extends the pass to another address. A copied cookie lacks the secret.
local digest = require("edge.core.digest")
local memo = require("edge.core.memo")
local recent = require("edge.core.recent")
local unseal = require("edge.tls.unseal")
local byte, concat, find, gmatch, gsub, lower, match, sub = string.byte, table.concat, string.find, string.gmatch, string.gsub,
    string.lower, string.match, string.sub
local encode_base64, floor, format, ipairs, now, set_header, time, tonumber, var = ngx.encode_base64, math.floor, string.format,
    ipairs, ngx.now, ngx.req.set_header, ngx.time, tonumber, ngx.var

-- INSTEAD: additional difficulty for visitors who cannot see the image. RENEWAL: the mode of a question about the
-- secret.
-- NO_SECRET: in place of the secret's hash, for browsers that keep no secret.
local NO_SECRET = "0"
local _M = { PUZZLES = 8, INSTEAD = 3, RENEWAL = 0, NO_SECRET = NO_SECRET }
local PASS, ANSWER = "edgeloom_pass=", "edgeloom_answer="
-- Time to solve a challenge.
local ANSWER_SECONDS = 300
local MAC_BYTES = 16
local LONGEST_AGENT = 256
local CODE, REDIRECT = 2, 4
-- A stronger pass is valid where a weaker one is required. Keys are modes: redirect, shield, click, code.
local STRENGTH = { [REDIRECT] = 1, [1] = 2, [3] = 3, [CODE] = 4 }
-- The level of a pass for a typed code, above all levels of proofs of work.
local TYPED = 9
-- The highest level that a rule may have.
local MOST_LEVEL = 5
-- Faster proofs of work come from programs that do not run the page.
local LEAST_MS = 1000
local MINUTE = 60
-- Addresses of a pass: the latest ones, as six characters each.
local TAG, MOST_TAGS = 6, 4
local LONGEST_PASS = 128

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

-- The identity that challenges and passes are bound to, besides the address.
function _M.bearer(site)
    return site .. "\n" .. sub(var.http_user_agent or "", 1, LONGEST_AGENT)
end

-- The signed text. `expected`: the text that the visitor must type, except for proof of work.
local function question_text(mode, level, moment, bearer, network, expected)
    return concat({ "question", mode, level, moment, expected or "", bearer, network }, "\n")
end

-- The challenge in the page. Its last part is the input of the proof of work.
function _M.question(mode, level, visitor, expected)
    local moment = floor(now() * 1000)
    return mode .. "." .. level .. "." .. moment .. "."
        .. sign(question_text(mode, level, moment, visitor.bearer, visitor.network, expected))
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
    local cookies = var.http_cookie
    if not cookies or not _M.are_shown(cookies) then
        return nil
    end
    local pass, answer, text
    pass, text = cut(cookies, PASS)
    answer, text = cut(text, ANSWER)
    -- A duplicate, or a name almost like ours, counts as no cookies.
    if _M.are_shown(text) then
        text = ""
    end
    set_header("Cookie", text ~= "" and text or nil)
    return pass, answer
end

-- Reads our cookies and leaves them in the request.
function _M.peek()
    local cookies = var.http_cookie
    if not cookies or not _M.are_shown(cookies) then
        return nil
    end
    local pass, text = cut(cookies, PASS)
    return pass, (cut(text, ANSWER))
end

function _M.are_shown(cookies)
    return find(cookies, PASS, 1, true) or find(cookies, ANSWER, 1, true)
end

-- An address in a pass. Keyed, so that it does not reveal the address.
local function tag(visitor)
    return sub(sign("address\n" .. visitor.bearer .. "\n" .. visitor.network), 1, TAG)
end

local function has_tag(tags, wanted)
    for at = 1, #tags, TAG do
        if sub(tags, at, at + TAG - 1) == wanted then
            return true
        end
    end
    return false
end

local function signed_part(pass)
    return concat({ pass.mode, pass.level, pass.issued, pass.secret, pass.tags }, ".")
end

local function pass_text(part, bearer)
    return "pass\n" .. part .. "\n" .. bearer
end

local function verify(text, visitor)
    local part, signed = match(text, "^([%w._-]+)%.([%w_-]+)$")
    local mode, level, issued, secret, tags = match(part or "", "^([1-4])%.(%d)%.(%d+)%.(%x+)%.([%w_-]+)$")
    if mode and is_signed(pass_text(part, visitor.bearer), signed) then
        return {
            mode = tonumber(mode), level = tonumber(level), issued = tonumber(issued), secret = secret, tags = tags,
            is_here = has_tag(tags, tag(visitor)),
        }
    end
end

-- Verified passes, by pass and visitor.
local good = recent.new(4096)

-- A pass that was signed for this visitor. `is_here`: it holds for the present address.
function _M.read_pass(text, visitor)
    if #text > LONGEST_PASS then
        return nil
    end
    local shown = text .. visitor.bearer .. "\n" .. visitor.network
    local found = good:get(shown)
    if not found then
        found = verify(text, visitor)
        if found then
            good:set(shown, found)
        end
    end
    return found
end

-- Whether solving a challenge is enough for a rule: at least its mode, and its amount of work.
local function covers(mode, level, rule)
    if STRENGTH[mode] < STRENGTH[rule.mode] then
        return false
    end
    return rule.mode == REDIRECT or level >= (rule.mode == CODE and rule.level + _M.INSTEAD or rule.level)
end

-- Whether the pass is enough for the rule, at its own or any address. The rule decides for how long.
function _M.holds(pass, rule)
    return pass.issued + rule.pass_seconds > time() and covers(pass.mode, pass.level, rule)
end

-- The challenge for a visitor who has another rule's pass. The new pass is enough for both rules.
function _M.stronger(pass, rule)
    local mode, level = rule.mode, rule.level
    if pass and STRENGTH[pass.mode] > STRENGTH[mode] then
        mode = pass.mode
    end
    if pass and pass.level <= MOST_LEVEL and pass.level > level then
        level = pass.level
    end
    return mode, level
end

-- The cookie that carries a pass.
function _M.cookie(pass, visitor, seconds)
    local part = signed_part(pass)
    return PASS .. part .. "." .. sign(pass_text(part, visitor.bearer)) .. "; Path=/; Max-Age=" .. seconds
        .. "; HttpOnly; SameSite=Lax"
end

-- The pass of a client that keeps cookies.
function _M.redirect_pass(visitor)
    return {
        mode = REDIRECT, level = 0, issued = time(), secret = NO_SECRET, tags = tag(visitor), is_here = true,
    }
end

local function hash_of(secret)
    return (gsub(sub(digest.of("sha256", secret), 1, MAC_BYTES), ".", function(one)
        return format("%02x", byte(one))
    end))
end

-- The pass again, for this address as well, if the browser knows its secret. Its lifetime does not begin again.
local function renewed(secret, next_secret, visitor)
    local pass = visitor.pass
    if not pass or pass.secret == NO_SECRET or #secret ~= 32 or not digest.equal(hash_of(secret), pass.secret) then
        return nil
    end
    return {
        mode = pass.mode, level = pass.level, issued = pass.issued, secret = next_secret, is_here = true,
        tags = tag(visitor) .. sub(pass.tags, 1, TAG * (MOST_TAGS - 1)),
    }
end

function _M.is_renewal(answer)
    return sub(answer, 1, 2) == _M.RENEWAL .. "."
end

-- The pass for an answer that is enough for the rule. Second result: an id of the answer. It is valid for
-- ANSWER_SECONDS and counts once on each node. All passes for one answer are equal but for the secret.
function _M.judge(answer, rule, visitor)
    if #answer > 256 then
        return nil
    end
    local mode, level, moment, signed, solution, secret = match(answer, "^([0-4])%.(%d)%.(%d+)%.([%w_-]+)~([%w-]*)~?(%x*)$")
    if not mode or #moment > 15 then
        return nil
    end
    secret = #secret == 32 and lower(secret) or NO_SECRET
    local age = now() * 1000 - moment
    if age < 0 or age > ANSWER_SECONDS * 1000 then
        return nil
    end
    mode = tonumber(mode)
    -- Level 0: a typed text, which is in the signature and not in the page.
    local is_typed = level == "0" and mode ~= _M.RENEWAL
    local typed = is_typed and lower(solution) or nil
    if not is_signed(question_text(mode, level, moment, visitor.bearer, visitor.network, typed), signed) then
        return nil
    end
    if mode == _M.RENEWAL then
        local pass = renewed(solution, secret, visitor)
        return pass and _M.holds(pass, rule) and pass, visitor.pass and visitor.pass.secret
    end
    if not is_typed and age < LEAST_MS or not is_typed and not is_worked_out(signed, tonumber(level), solution) then
        return nil
    end
    local pass = {
        mode = mode, level = is_typed and TYPED or tonumber(level), issued = floor(moment / 1000), secret = secret,
        tags = tag(visitor), is_here = true,
    }
    return _M.holds(pass, rule) and pass, signed
end
_M.ANSWER_SECONDS, _M.LEAST_MS = ANSWER_SECONDS, LEAST_MS

-- A time that only this visitor can have been given, in redirects.
function _M.stamp(visitor)
    local moment = time()
    return moment .. "." .. sign(concat({ "redirect", moment, visitor.bearer, visitor.network }, "\n"))
end

function _M.is_stamp(text, visitor)
    local moment, signed = match(text, "^(%d+)%.([%w_-]+)$")
    return moment ~= nil and #text <= 48 and time() - moment <= MINUTE
        and is_signed(concat({ "redirect", moment, visitor.bearer, visitor.network }, "\n"), signed)
end
return _M
