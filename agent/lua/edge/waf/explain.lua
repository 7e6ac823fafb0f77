-- Explains a finding for its log line, as JSON: the rules that matched, where, and after which decoding. The JSON is
-- ASCII. It has no secrets, and nothing that the site's log leaves out. Runs only for requests with a finding.
local cjson = require("cjson.safe")
local decode = require("edge.waf.decode")
local inspect = require("edge.waf.inspect")
local model = require("edge.waf.model")
local rules = require("edge.waf.rules")
local re_find = ngx.re.find
local byte, char, find, format, gsub = string.byte, string.char, string.find, string.format, string.gsub
local lower, match, sub = string.lower, string.match, string.sub
local concat, floor, ipairs, max, min, remove = table.concat, math.floor, ipairs, math.max, math.min, table.remove

local _M = {}
-- Limits in bytes: of the JSON, of its excerpt, and of the value's name.
local MAX_BYTES, MAX_EXCERPT_BYTES, MAX_NAME_BYTES = 1536, 600, 64
local MAX_RULES, MAX_TOKENS = 6, 5
-- Bytes of the excerpt before the match, and bytes on each side of it in which other rules are looked for.
local CONTEXT_BYTES, NEAR_BYTES = 48, 2048
-- A value is decoded again up to this size, for the list of steps and to find secrets.
local MAX_DECODED_BYTES = 65536
-- Secrets of a value whose decoded text contains a delimiter, so that they seem to end there. A text with more of them
-- is hidden.
local MAX_DELIMITED_SECRETS = 20
-- One byte for a bullet, which is no ASCII. Texts have no such byte, because controls are escaped.
local BULLETS, BULLETS_BYTES = ("\1"):rep(3), 18
-- Names whose values are secret, of parameters, headers, XML elements and JSON keys. `passenger` is none.
local KEYS = "passw(?:or)?[dt]|passphrase|passcode|pass(?-i:(?![a-z]))|pwd|secret|token|session|csrf|xsrf|credential"
    .. "|signature|cookie|(?:api|access|private|client)[_-]?key|(?<![a-z])(?:sid|otp|pin|pw|psw|pswd)(?![a-z])"
local SECRET_NAME = KEYS .. "|auth(?!or(?!iz))|cvv|cvc|card"
local KEYS_IN_TEXT = "(?:" .. KEYS .. "|(?<![a-z])(?:cvv|cvc|auth|authorization)(?![a-z]))"
-- Secrets in texts: a pattern, and its group that is the secret. Loops keep what they took or are short, because PCRE
-- gives up on long texts otherwise.
local SECRETS = {
    -- Values whose name contains a word of KEYS, in quotes or up to the end of a field.
    { KEYS_IN_TEXT .. [=[[\w-]{0,40}+["'\]\\]*+\s*+(?:[=:]>?|>)\s*+]=]
        .. [=[(?|"([^"\\]*+(?:\\.[^"\\]*+)*+)|'([^'\\]*+(?:\\.[^'\\]*+)*+)|([^"'&;<\r\n][^&;<\r\n]*+))]=], 1 },
    -- Texts of XML elements whose name contains one.
    { [=[<[\w:.-]{0,64}]=] .. KEYS_IN_TEXT .. [=[[\w.-]{0,64}+(?:\s[^<>]*+)?>\s*+(?:<!\[CDATA\[)?([^<]++)]=], 1 },
    -- Parts of a multipart body whose name contains one.
    { [=[\bname\s*+=\s*+["']?[^"'\r\n;]{0,64}]=] .. KEYS_IN_TEXT
        .. [=[[^\r\n]{0,200}+(?:\r?\n[ \t]*+content-[\w-]{1,40}+:[^\r\n]*+){0,4}+\s++([^\r\n]++)]=], 1 },
    -- Credentials of URLs and headers.
    { [[//([^\s/?#"'<>@]*+(?:@[^\s/?#"'<>@]*+(?=@))*+)@]], 1 },
    { [[\b(?:bearer|basic|digest)\s+([\w.~+/=-]{8,})]], 1 },
    -- JSON Web Tokens, and numbers of cards.
    { [[\beyJ[\w-]{8,}+(?:\.[\w-]++)*+]], 0 },
    { [[\b\d(?:[ -]?\d){12,18}\b]], 0 },
}
-- Places that the log of a site without queries shows.
local VISIBLE_WITHOUT_QUERY = { path = true, header = true, userAgent = true }
-- Headers in which proxies send the visitor's address.
local ADDRESS_HEADER = "forwarded(?:-for)?$|ip(?:v[46])?$|addr(?:ess)?$"

local function is_secret_name(name)
    return re_find(name, SECRET_NAME, "ijos") ~= nil
end

-- Values within JSON have names of their own, and those of cookies and secret headers may be JSON.
local function is_secret(finding)
    return is_secret_name(finding.name) or is_secret_name(finding.outer_name) or is_secret_name(finding.header or "")
end

local function hides_query(log_mask)
    return log_mask == "query" or log_mask == "both"
end

local function hides_address(log_mask)
    return log_mask == "address" or log_mask == "both"
end

local function is_hidden(finding, log_mask)
    return (hides_query(log_mask) and not VISIBLE_WITHOUT_QUERY[finding.place])
        or (hides_address(log_mask) and finding.header ~= nil and re_find(finding.header, ADDRESS_HEADER, "jos") ~= nil)
end

-- The part of the text that the site's log shows: a header may have a URL with its query.
local function shown_text(finding, log_mask)
    local text = finding.text
    if not hides_query(log_mask) or not finding.header then
        return text
    end
    return finding.text_before == "" and match(text, "^[^?]*") or ""
end

local function match_of(rule, text)
    if rule.pattern then
        return re_find(lower(text), rule.pattern, "jos")
    end
end

-- Returns the deciding rule, then others of the place that match near it, and the sum of their points.
local function find_matches(finding)
    local text, decisive = finding.text, rules.by_id[finding.rule]
    local from, to = match_of(decisive, text)
    local matches, points = { { id = decisive.id, points = decisive.points, from = from, to = to } }, decisive.points
    local before = max(0, (from or finding.window_start or 0) - NEAR_BYTES)
    local near = sub(text, before + 1, before + 2 * NEAR_BYTES)
    for _, rule in ipairs(rules.at[finding.place] or {}) do
        local first, last
        if rule ~= decisive and inspect.is_enabled(rule, finding.name, finding.settings) then
            first, last = match_of(rule, near)
        end
        if first then
            points = points + rule.points
            matches[#matches + 1] = #matches < MAX_RULES
                and { id = rule.id, points = rule.points, from = first + before, to = last + before } or nil
        end
    end
    return matches, points
end

-- Calls `mark` with the first and last byte of each secret of a text. Returns an error, or nil.
local function find_secrets(text, mark)
    for _, secret in ipairs(SECRETS) do
        local state = { pos = 1 }
        local from, to, err = re_find(text, secret[1], "ijos", state, secret[2])
        while from do
            mark(from, to)
            from, to, err = re_find(text, secret[1], "ijos", state, secret[2])
        end
        if err then
            return err
        end
    end
end

-- Which bytes of the finding's text belong to secrets, or nil if a pattern failed or there are too many.
local function secret_bytes(finding)
    local text, before, secret = finding.text, finding.text_before, {}
    local function mark(from, to)
        for i = max(1, from), to do
            secret[i] = true
        end
    end
    local err = find_secrets(before .. text, function(from, to)
        mark(from - #before, to - #before)
    end)
    -- Decoding can bring the end of a field into a secret.
    local original = sub(finding.original, 1, MAX_DECODED_BYTES)
    local seen, seen_count = {}, 0
    err = find_secrets(original, function(from, to)
        local encoded = sub(original, from, to)
        if seen[encoded] or seen_count > MAX_DELIMITED_SECRETS then
            return
        end
        seen[encoded] = true
        local decoded = decode.all(encoded)
        if not find(decoded, "[\"'&;<\r\n]") then
            return
        end
        seen_count = seen_count + 1
        local first, last = find(text, decoded, 1, true)
        while first do
            mark(first, last)
            first, last = find(text, decoded, last + 1, true)
        end
    end) or err
    return not err and seen_count <= MAX_DELIMITED_SECRETS and secret or nil
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

-- Returns the excerpt of a text that begins at a byte, and two maps from bytes of the text to offsets of the excerpt:
-- where the byte's characters begin, counted from 0, and where they end. `secret`: the bytes that are secret.
local function cut_excerpt(text, from, secret)
    local parts, starts, ends = {}, {}, {}
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

-- Moves the offsets of matches from the text to the excerpt. Those that begin outside of it have none then.
local function move_offsets(matches, excerpt, starts, ends)
    for _, found in ipairs(matches) do
        local from, to = starts[found.from or 0], ends[found.to or 0]
        found.from, found.to = from, from and (to or #excerpt)
    end
end

-- Secret bytes become letters, which make an ordinary word: a secret can consist of keywords.
local function without_secrets(text, secret)
    local bytes = {}
    for i = 1, #text do
        bytes[i] = secret[i] and "x" or sub(text, i, i)
    end
    return concat(bytes)
end

local function heaviest_tokens(finding, secret)
    local tokens = model.explain(without_secrets(finding.text, secret), finding.place, MAX_TOKENS)
    for _, token in ipairs(tokens) do
        token.weight = floor(token.weight * 100 + 0.5) / 100
    end
    return tokens[1] and tokens
end

-- Adds the excerpt and the tokens of the text, as far as it is not secret and not hidden from the log.
local function add_text(explanation, finding, matches, log_mask)
    local secret = not is_secret(finding) and secret_bytes(finding)
    if not secret then
        explanation.excerpt = BULLETS
        return move_offsets(matches, BULLETS, {}, {})
    end
    local text = shown_text(finding, log_mask)
    local at = matches[1].from or finding.window_start or matches[2] and matches[2].from or 1
    local excerpt, starts, ends = cut_excerpt(text, max(1, min(at, #text) - CONTEXT_BYTES), secret)
    explanation.excerpt = excerpt ~= "" and excerpt or nil
    move_offsets(matches, excerpt, starts, ends)
    explanation.tokens = text == finding.text and heaviest_tokens(finding, secret) or nil
end

local function contains(value, text)
    return find((gsub(value, "%z", "")), text, 1, true) ~= nil
end

-- Repeats the decoding of a value, one step at a time. The value of a parameter was decoded once before.
local function steps_of(finding)
    local value, steps = finding.original, {}
    -- Contents of files are not decoded.
    if #value > MAX_DECODED_BYTES or value == finding.text or finding.place == "file" then
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
        -- The steps are unknown where another reader made the text, such as that of binary bodies.
        if not bare or not contains(bare, finding.text) then
            return nil
        end
        steps[#steps + 1] = "comments"
    end
    return steps[1] and steps
end

-- The bullet and the ellipsis of token names are the only characters beyond ASCII.
local function encode(explanation)
    return (gsub(gsub(cjson.encode(explanation), "\\u0001", "\\u2022"), "…", "\\u2026"))
end

-- Removes the lightest token, or the last match if there is no token.
local function remove_last_detail(explanation)
    local tokens = explanation.tokens
    remove(tokens or explanation.rules)
    explanation.tokens = tokens and tokens[1] and tokens or nil
end

-- `log_mask`: what the site's log leaves out.
function _M.to_json(finding, log_mask)
    local matches, points = find_matches(finding)
    local explanation = {
        -- Rules that need no model have no score.
        score = finding.score ~= 0 and floor(finding.score * 10 + 0.5) / 10 or nil,
        points = points, rules = matches, place = finding.place, steps = steps_of(finding),
    }
    if is_hidden(finding, log_mask) or finding.text == "" then
        move_offsets(matches, "", {}, {})
    else
        explanation.name = finding.name ~= "" and ascii(finding.name) or nil
        add_text(explanation, finding, matches, log_mask)
    end
    local text = encode(explanation)
    while #text > MAX_BYTES do
        remove_last_detail(explanation)
        text = encode(explanation)
    end
    return text
end
return _M
