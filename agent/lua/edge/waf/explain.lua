-- Explains a finding for its log line, as JSON: the rules that matched, where, and after which decoding. The JSON is
-- ASCII. It has no secrets, and nothing that the site's log leaves out. Runs only for requests with a finding.
local cjson = require("cjson.safe")
local decode = require("edge.waf.decode")
local inspect = require("edge.waf.inspect")
local model = require("edge.waf.model")
local rules = require("edge.waf.rules")
local re_find = ngx.re.find
local byte, char, find, format, gsub, lower, sub = string.byte, string.char, string.find, string.format, string.gsub, string.lower,
    string.sub
local concat, floor, ipairs, max, min, remove = table.concat, math.floor, ipairs, math.max, math.min, table.remove

local _M = {}
-- Limits of the JSON, in bytes: all of it, and its excerpt.
local MAX_BYTES, MAX_EXCERPT_BYTES, MAX_NAME_BYTES = 1536, 600, 64
local MAX_RULES, MAX_TOKENS = 6, 5
-- Bytes before the match in the excerpt, and around the match in which other rules are looked for. The model's worst
-- window of a longer text is WINDOW_BYTES from its start.
local CONTEXT_BYTES, WINDOW_BYTES = 48, 2048
-- Longer values are not decoded again for the list of steps.
local MAX_DECODED_BYTES = 65536
-- One byte for a bullet, which is no ASCII. Texts have no such byte, because controls are escaped.
local BULLETS, BULLETS_BYTES = ("\1"):rep(3), 18
-- Names whose values are secret, of parameters, headers and JSON keys.
local KEYS = "passw(?:or)?d|passphrase|pwd|secret|token|session|csrf|xsrf|credential|signature|cookie|(?:api|access|private|client)[_-]?key"
local SECRET_NAME = KEYS .. "|auth(?!or(?!iz))|cvv|cvc|card|^(?:pass|sid|otp|pin)$"
-- Secrets in texts: a pattern, and its group that is the secret.
local SECRETS = {
    -- Values of such names, in quotes or up to the end of a field.
    { "(?:" .. KEYS .. [=[|\b(?:pass|sid|otp|pin|cvv|cvc|auth|authorization))[\w-]*["'\]]*\s*[=:>]\s*]=]
        .. [=[(?|"((?:[^"\\]|\\.)+)|'((?:[^'\\]|\\.)+)|([^"'&;<\r\n][^&;<\r\n]*))]=], 1 },
    { [[\b(?:bearer|basic|digest)\s+([\w.~+/=-]{8,})]], 1 },
    -- JSON Web Tokens, and numbers of cards.
    { [[\beyJ[\w-]{8,}(?:\.[\w-]+)*]], 0 },
    { [[\b\d(?:[ -]?\d){12,18}\b]], 0 },
}
-- Places that the log of a site without queries shows.
local SHOWN_WITHOUT_QUERY = { path = true, header = true, userAgent = true }

local function is_secret(finding)
    return finding.place == "cookie" or re_find(finding.name, SECRET_NAME, "ijos") ~= nil
end

local function is_hidden(finding, log_mask)
    return (log_mask == "query" or log_mask == "both") and not SHOWN_WITHOUT_QUERY[finding.place]
end

local function match_of(rule, text)
    if rule.pattern then
        return re_find(lower(text), rule.pattern, "jos")
    end
end

-- The deciding rule, then others of the place that match near it, and the sum of their points.
local function hits_of(finding)
    local text, decisive = finding.text, rules.by_id[finding.rule]
    local from, to = match_of(decisive, text)
    local hits, points = { { id = decisive.id, points = decisive.points, from = from, to = to } }, decisive.points
    local before = max(0, (from or min(WINDOW_BYTES, #text)) - WINDOW_BYTES)
    local near = sub(text, before + 1, before + 2 * WINDOW_BYTES)
    for _, rule in ipairs(rules.at[finding.place] or {}) do
        local first, last
        if rule ~= decisive and inspect.is_enabled(rule, finding.name) then
            first, last = match_of(rule, near)
        end
        if first then
            points = points + rule.points
            hits[#hits + 1] = #hits < MAX_RULES
                and { id = rule.id, points = rule.points, from = first + before, to = last + before } or nil
        end
    end
    return hits, points
end

-- Which bytes of a text belong to secrets.
local function secret_bytes(text)
    local secret = {}
    for _, one in ipairs(SECRETS) do
        local state = { pos = 1 }
        local from, to = re_find(text, one[1], "ijos", state, one[2])
        while from do
            for i = from, to do
                secret[i] = true
            end
            from, to = re_find(text, one[1], "ijos", state, one[2])
        end
    end
    return secret
end

-- A byte as ASCII, and how long it is in JSON.
local function escaped(c)
    if c < 32 or c > 126 or c == 92 then
        return format("\\x%02X", c), 5
    end
    return char(c), (c == 34 or c == 47) and 2 or 1
end

local function ascii(text)
    return (gsub(sub(text, 1, MAX_NAME_BYTES), ".", function(c)
        return (escaped(byte(c)))
    end))
end

-- The part of a text from a byte on, and where its bytes are in it: their starts, from 0, and their ends.
local function excerpt_of(text, from)
    local secret, parts, starts, ends = secret_bytes(text), {}, {}, {}
    local length, size = 0, 0
    for i = from, #text do
        if secret[i] and ends[i - 1] and secret[i - 1] then
            starts[i], ends[i] = starts[i - 1], ends[i - 1]
        else
            local part, part_size = BULLETS, BULLETS_BYTES
            if not secret[i] then
                part, part_size = escaped(byte(text, i))
            end
            size = size + part_size
            if size > MAX_EXCERPT_BYTES then
                break
            end
            parts[#parts + 1], starts[i] = part, length
            length = length + #part
            ends[i] = length
        end
    end
    return concat(parts), starts, ends
end

-- Moves the offsets of hits from the text to the excerpt. Hits that begin outside of the excerpt lose theirs.
local function move_offsets(hits, excerpt, starts, ends)
    for _, hit in ipairs(hits) do
        local from, to = starts[hit.from or 0], ends[hit.to or 0]
        hit.from, hit.to = from, from and (to or #excerpt)
    end
end

local function add_excerpt(made, finding, hits)
    if is_secret(finding) then
        made.excerpt = BULLETS
        move_offsets(hits, BULLETS, {}, {})
        return
    end
    local text = finding.text
    local at = hits[1].from or (#text > 2 * WINDOW_BYTES and WINDOW_BYTES) or hits[2] and hits[2].from or 1
    local excerpt, starts, ends = excerpt_of(text, max(1, at - CONTEXT_BYTES))
    made.excerpt = excerpt
    move_offsets(hits, excerpt, starts, ends)
    local tokens = model.explain(text, finding.place, MAX_TOKENS)
    for _, token in ipairs(tokens) do
        token.weight = floor(token.weight * 100 + 0.5) / 100
    end
    made.tokens = tokens[1] and tokens
end

local function contains(value, text)
    return find((gsub(value, "%z", "")), text, 1, true) ~= nil
end

-- Repeats the decoding of a value, one step at a time. The value of a parameter was decoded once before.
local function steps_of(finding)
    local value, steps = finding.original, {}
    if not value or #value > MAX_DECODED_BYTES then
        return nil
    end
    for _, step in ipairs({ { "url", decode.url }, { "url", decode.url }, { "url", decode.url }, { "narrow", decode.narrow },
        { "entities", decode.entities }, { "entities", decode.entities }, { "escapes", decode.escapes } }) do
        local decoded = step[2](value)
        if decoded ~= value then
            steps[#steps + 1] = step[1]
        end
        value = decoded
    end
    if finding.place == "decoded" then
        steps[#steps + 1] = "base64"
    elseif not contains(value, finding.text) then
        local bare = decode.without_comments(value)
        -- The finding is of another value.
        if not bare or not contains(bare, finding.text) then
            return nil
        end
        steps[#steps + 1] = "comments"
    end
    return steps[1] and steps
end

local function encode(made)
    return (gsub(gsub(cjson.encode(made), "\\u0001", "\\u2022"), "…", "\\u2026"))
end

-- `log_mask`: what the site's log leaves out.
function _M.text(finding, log_mask)
    local hits, points = hits_of(finding)
    local made = {
        -- Rules that need no model have no score.
        score = finding.score ~= 0 and floor(finding.score * 10 + 0.5) / 10 or nil,
        points = points, rules = hits, place = finding.place, steps = steps_of(finding),
    }
    if is_hidden(finding, log_mask) or finding.text == "" then
        move_offsets(hits, "", {}, {})
    else
        made.name = finding.name ~= "" and ascii(finding.name) or nil
        add_excerpt(made, finding, hits)
    end
    local text = encode(made)
    while #text > MAX_BYTES do
        remove(made.tokens and made.tokens[1] and made.tokens or hits)
        text = encode(made)
    end
    return text
end
return _M
