-- Inspects one request: scans values, decodes and scores suspicious ones, and runs rules on high scores.
-- All requests of a worker share this state, so no function here may yield.
local bit = require("bit")
local lrucache = require("resty.lrucache")
local decode = require("edge.waf.decode")
local extract = require("edge.waf.extract")
local path_variants = require("edge.core.path_variants")
local model = require("edge.waf.model")
local rules = require("edge.waf.rules")
local scan = require("edge.waf.scan")
local band = bit.band
local byte, find, gmatch, gsub = string.byte, string.find, string.gmatch, string.gsub
local lower, match, sub = string.lower, string.match, string.sub
local concat, error, ipairs, max, min, pairs, pcall, time, type = table.concat, error, ipairs, math.max, math.min, pairs,
    pcall, ngx.time, type

local _M = {}
-- From this score, the rules marked alone run on a value; all rules run above `with_rules` of the level.
local MIN_ALONE_RULE_SCORE = -3
-- By paranoia level: the scores above which a value is refused, with matching rules and without.
local LEVELS = {
    { with_rules = 0.5, without_rules = 4 },
    { with_rules = 0, without_rules = 2 },
    { with_rules = -1, without_rules = 1 },
    { with_rules = -2, without_rules = 0 },
}
-- A value without its bytes above ASCII must exceed the first by so much: `union select` beside Chinese may be a title.
local ASCII_MARGIN = 1
-- To the model, shorter XML documents look like markup in a value. Their texts and attributes have scores of their own.
local MIN_DOCUMENT_TOKENS = 40
-- The points of a value's rules must reach this sum.
local MIN_POINTS = 5
-- Bytes before and after the last token of the worst window.
local CONTEXT_BYTES = 2048
-- Binary bodies are searched for runs of at least eight characters, in pieces that share some bytes.
local ASCII_RUN = ("[\1-\127\160]"):rep(8) .. "[\1-\127\160]*"
local PIECE_BYTES, PIECE_OVERLAP = 4096, 256
local MAX_FILE_BYTES = 8192
-- Limits per request: values on which rules run, bytes on which all rules run, levels of nested JSON. More than the
-- first two allow is a finding, so they are far above what ordinary requests have.
local MAX_SCORED_VALUES, MAX_RULE_BYTES, MAX_DEPTH = 50000, 800 * 1024, 3
-- The rules cost as much on a short value as on these bytes of a long one.
local MIN_RULE_BYTES = 128
-- A body may have several readings: ten times the longest `bodyKiB` is inspected. Chinese XML in UTF-16 needs eight:
-- it is read as bytes and in both byte orders, each as a document and as texts, in three bytes for each character.
local MAX_BODY_BYTES = 10 * 1024 * 1024
-- A value of a body counts at least this many bytes, so that many empty ones reach the limit, too.
local MIN_VALUE_BYTES = 16
-- The error that ends the reading of a body at the limit.
local BODY_LIMIT = {}
-- The state of the request.
local settings, finding, highest_score, seen_names, reported = nil, nil, nil, nil, nil
-- Where the inspected value comes from: its header in lower case (nil for others), its outermost name, itself before it
-- was decoded, what precedes the text that rules see, and the byte of a long text where its worst window begins.
local header, outer_name, original, text_before, window_start = nil, "", "", "", nil
local scored_values, rule_bytes, body_bytes = 0, 0, 0

-- Header values repeat, so harmless ones are remembered. All other headers have the same place, and share a memory.
local MAX_REMEMBERED, MAX_REMEMBERED_BYTES = 2048, 512
local harmless_values = {
    cookie = lrucache.new(MAX_REMEMBERED),
    referer = lrucache.new(MAX_REMEMBERED),
    ["user-agent"] = lrucache.new(MAX_REMEMBERED),
}
local harmless_header_values = lrucache.new(MAX_REMEMBERED)
local harmless_values_of_unscored = lrucache.new(MAX_REMEMBERED)

-- Whether one of the request's exceptions covers the rule and the value's name. A nil rule stands for all rules.
local function is_excepted(rule, name, exceptions)
    if not exceptions then
        return false
    end
    local parameter = lower(name)
    for i = 1, #exceptions do
        local exception = exceptions[i]
        local has_rule = not exception.rule or rule and (exception.rule == rule.id or exception.rule == rule.category)
        if has_rule and (not exception.parameter or exception.parameter == parameter) then
            return true
        end
    end
    return false
end

-- `in_settings`: those of a request.
function _M.is_enabled(rule, name, in_settings)
    local disabled = in_settings.disabled
    return rule.level <= in_settings.level and not disabled[rule.id] and not disabled[rule.category]
        and not is_excepted(rule, name, in_settings.exceptions)
end

local function is_enabled(rule, name)
    return _M.is_enabled(rule, name, settings)
end

-- Whether a finding replaces the recorded one. One by a rule marked alone is certain, and wins over all others. For the
-- same value, one by a rule is more specific than one by the model. Otherwise the score decides.
local function is_better(found)
    if not finding then
        return true
    end
    if found.is_certain ~= finding.is_certain then
        return found.is_certain
    end
    if found.is_by_model ~= finding.is_by_model and found.original == finding.original then
        return finding.is_by_model
    end
    return found.score > finding.score
end

local function record_finding(rule, place, name, text, score, is_by_model)
    local found = {
        rule = rule.id, place = place, name = name, score = score, text = text, is_certain = rule.alone or false,
        is_by_model = is_by_model or false, header = header, outer_name = outer_name, original = original,
        text_before = text_before, window_start = window_start, settings = settings,
    }
    if is_better(found) then
        finding = found
    end
end

-- Returns the sum of points and the heaviest matching rule. The first match marked alone decides.
local function run_rules(list, name, text)
    local points, heaviest = 0, nil
    if not list then
        return 0
    end
    local lowered = lower(text)
    for i = 1, #list do
        local rule = list[i]
        if is_enabled(rule, name) and rules.matches(rule, lowered) then
            points = points + rule.points
            if rule.alone then
                return MIN_POINTS, rule
            end
            if not heaviest or rule.points > heaviest.points then
                heaviest = rule
            end
        end
    end
    return points, heaviest
end

-- The model's rule of the category that has most keywords among the first tokens. Without keywords it is protocol.
local function model_rule_of(n)
    local most, winner = 0, "protocol"
    local sums = {}
    for i = 0, min(n, 200) - 1 do
        local category = rules.category_of_group[scan.group(scan.tokens[i])]
        if category then
            sums[category] = (sums[category] or 0) + 1
            if sums[category] > most then
                most, winner = sums[category], category
            end
        end
    end
    return rules.of_model[winner]
end

-- Returns whether rules run on a value of this score.
local function record_score(score)
    highest_score = max(highest_score, score)
    if score < MIN_ALONE_RULE_SCORE then
        return false
    end
    scored_values = scored_values + 1
    return scored_values <= MAX_SCORED_VALUES
end

-- The rules that can refuse a value of this score. Counts its bytes where all rules run.
local function take_rules(place, text, score)
    if score <= LEVELS[settings.level].with_rules then
        return rules.alone_at[place]
    end
    rule_bytes = rule_bytes + max(#text, MIN_RULE_BYTES)
    return rule_bytes <= MAX_RULE_BYTES and rules.at[place] or rules.alone_at[place]
end

-- Records the finding of a value's rules, and returns whether there is one.
local function judge_by_rules(place, name, text, score)
    local points, rule = run_rules(take_rules(place, text, score), name, text)
    if rule and (rule.alone or (points >= MIN_POINTS and score > LEVELS[settings.level].with_rules)) then
        record_finding(rule, place, name, text, score)
        return true
    end
    return false
end

-- Scores a chunk of a value, and records a finding. The tokens are those of the last scan.
-- With a margin, the score alone refuses nothing, and must exceed the first threshold by it. `before`: what precedes
-- `s`, or nil. Returns the score.
local function score_chunk(place, name, s, n, margin, before)
    local score, worst = model.score(n, place)
    score = score - (margin or 0)
    if not record_score(score) then
        return score
    end
    local text = s
    text_before, window_start = before or "", nil
    if #s > CONTEXT_BYTES * 2 then
        local last = max(0, min(worst, n - 1))
        local from = max(1, scan.offsets[last] - CONTEXT_BYTES)
        window_start = max(1, scan.offsets[max(0, last - model.WINDOW + 1)] - from + 2)
        text, text_before = sub(s, from, from + CONTEXT_BYTES * 2), sub(s, max(1, from - CONTEXT_BYTES), from - 1)
    end
    local needs_rule = margin ~= nil or (place == "document" and n < MIN_DOCUMENT_TOKENS)
    if not judge_by_rules(place, name, text, score) and not needs_rule and score > LEVELS[settings.level].without_rules then
        local rule = model_rule_of(n)
        if is_enabled(rule, name) then
            record_finding(rule, place, name, text, score, true)
        end
    end
    return score
end

local function is_suspicious(mask, groups)
    return band(mask, scan.SUSPECT) ~= 0 or groups ~= 0
end

-- Rules see a part of a long value, which must not end within white space: each run of it in a long value becomes one
-- space or two line ends. To the model, two are as many.
local function without_gaps(s)
    if #s <= CONTEXT_BYTES * 2 or not find(s, "%s%s") then
        return s
    end
    s = gsub(s, "[ \t\v\f]+", " ")
    return (gsub(s, "[\r\n][ \r\n]*[\r\n]", "\n\n"))
end

-- Calls `read` with the pieces of a text and what precedes each. They share some bytes, so that they cut no attack.
local function read_pieces(text, read)
    for from = 1, #text, PIECE_BYTES - PIECE_OVERLAP do
        read(sub(text, from, from + PIECE_BYTES - 1), sub(text, max(1, from - CONTEXT_BYTES), from - 1))
    end
end

-- Rules see little more of a long value than its worst window, which may be a decoy, and may end far behind an attack
-- (the model cuts runs of one token). So each piece with a score of its own is judged by rules, too. Not the markup of
-- documents, which looks like an attack: their texts are values of their own.
local function judge_pieces(place, name, s, margin)
    if finding and not finding.is_by_model or place == "document" or #s <= CONTEXT_BYTES * 2 then
        return
    end
    read_pieces(s, function(piece, before)
        -- The request is refused.
        if rule_bytes > MAX_RULE_BYTES then
            return
        end
        local n, mask, groups = scan.scan(margin and decode.ascii(piece) or piece)
        if is_suspicious(mask, groups) then
            local score = model.score(n, place) - (margin or 0)
            if record_score(score) then
                text_before, window_start = before, nil
                judge_by_rules(place, name, piece, score)
            end
        end
    end)
end

-- Bytes above ASCII look ordinary to the model, so they could hide an attack beside them. The rest of an honest text
-- can look like an attack, so a rule must match as well. Rules see the text with these bytes, which part words.
local function score_ascii(place, name, s, before)
    local ascii = decode.ascii(s)
    local n, mask, groups, rest = scan.scan(ascii)
    if not rest and not is_suspicious(mask, groups) then
        return
    end
    local highest = score_chunk(place, name, s, n, ASCII_MARGIN, before)
    while rest do
        local _
        n, _, _, rest = scan.scan(ascii, rest)
        highest = max(highest, score_chunk(place, name, s, n, ASCII_MARGIN, before))
    end
    if highest >= MIN_ALONE_RULE_SCORE then
        judge_pieces(place, name, s, ASCII_MARGIN)
    end
end

-- `n` and `rest` are results of the last scan.
local function score_value(place, name, s, n, rest)
    local highest = score_chunk(place, name, s, n)
    while rest do
        local _
        n, _, _, rest = scan.scan(s, rest)
        highest = max(highest, score_chunk(place, name, s, n))
    end
    if highest >= MIN_ALONE_RULE_SCORE then
        judge_pieces(place, name, s)
    end
    -- All rules ran on the whole of a short value with such a score.
    local has_run_rules = #s <= CONTEXT_BYTES * 2 and highest > LEVELS[settings.level].with_rules
    if not has_run_rules and find(s, "[\128-\255]") then
        score_ascii(place, name, s)
    end
end

local function scan_and_score(place, name, s)
    s = without_gaps(s)
    local n, _, _, rest = scan.scan(s)
    score_value(place, name, s, n, rest)
end

-- More than one control character in thirty of the first 512 bytes.
local function is_binary(s)
    local head = sub(s, 1, 512)
    local _, controls = gsub(head, "[%z\1-\8\14-\31\127]", "")
    return controls * 30 > #head
end

-- Inspects a piece of a binary body or of JSON as text. The model alone refuses no piece: random bytes often look like
-- an attack to it. A rule must match as well. Rules see the whole piece, so no part of it hides another.
local function inspect_piece(name, s, before)
    local n, mask, groups = scan.scan(s)
    if not is_suspicious(mask, groups) then
        return
    end
    score_chunk("raw", name, s, n, 0, before)
    if find(s, "[\128-\255]") then
        score_ascii("raw", name, s, before)
    end
end

-- Comments of SQL up to the ends of lines. Up to the last line end each one has an end: no search runs twice over the
-- same bytes.
local function without_line_comments(text)
    local lines, rest = match(text, "^(.*\n)(.*)$")
    return lines and gsub(gsub(lines, "%-%-[^\n]*\n", " "), "#[^\n]*\n", " ") .. rest or text
end

-- Whether one of the request's exceptions covers a parameter of the JSON. Its text would be inspected under another
-- name.
local function has_excepted_key(s)
    local plain = lower(s)
    for _, exception in ipairs(settings.exceptions or {}) do
        if exception.parameter and find(plain, '"' .. exception.parameter .. '"', 1, true) then
            return true
        end
    end
    return false
end

-- A server may read JSON as text, in which SQL comments can hide all that is between the strings. What is a comment
-- depends on the server, so either kind is removed, and both.
local function inspect_json_as_text(name, s)
    local text = decode.all(s)
    local bare = decode.without_comments(text) or text
    local seen = { [text] = true }
    for _, reading in ipairs({ bare, without_line_comments(text), without_line_comments(bare) }) do
        if not seen[reading] and not has_excepted_key(s) then
            seen[reading] = true
            read_pieces(gsub(reading, "%s+", " "), function(piece, before)
                inspect_piece(name, piece, before)
            end)
        end
    end
end

local inspect
local function inspect_json(place, name, s, depth)
    inspect_json_as_text(name, s)
    extract.json(function(at, key, value)
        inspect(at, key, value, depth)
    end, s, place == "raw" and "json" or place)
end

-- Inspects runs of ASCII. Controls and Latin-1's hard space are spaces, as to SQL servers.
local function inspect_binary(name, s)
    local runs = {}
    for run in gmatch(gsub(s, "%z", ""), ASCII_RUN) do
        runs[#runs + 1] = run
    end
    local text = decode.all(gsub(concat(runs, " "), "[\1-\8\14-\31\127\160]", " "))
    read_pieces(text, function(piece, before)
        inspect_piece(name, piece, before)
        local bare = decode.without_comments(piece)
        if bare then
            inspect_piece(name, bare, before)
        end
    end)
end

-- The decoded text of a base64 value, of the last segment of a path, or of the first long run that decodes.
local function encoded_text(s, mask)
    if #s < 12 then
        return nil
    end
    if band(mask, scan.NOT_BASE64) == 0 then
        return decode.base64(s) or (byte(s) == 47 and decode.base64(match(s, "[^/]*$")))
    end
    if band(mask, scan.RUN) ~= 0 and #s < 8192 then
        for text in gmatch(s, "[%w+/]+=*") do
            local found = #text >= 16 and decode.base64(text)
            if found then
                return found
            end
        end
    end
end

-- Inspects one value and the values inside of it.
function inspect(place, name, s, depth)
    if s == "" then
        return
    end
    original = s
    local first = byte(s)
    if (first == 123 or first == 91) and depth < MAX_DEPTH and find(s, '"', 1, true) and extract.is_json(s) then
        return inspect_json(place, name, s, depth + 1)
    end
    -- The keys of records repeat.
    if is_excepted(nil, name, settings.exceptions) or (place == "name" and seen_names[s]) then
        return
    end
    if place == "name" then
        seen_names[s] = true
    end
    if place == "raw" and depth == 0 and is_binary(s) then
        return inspect_binary(name, s)
    end
    local n, mask, groups, rest = scan.scan(s)
    -- The mask and the groups are those of the first chunk.
    if not rest and not is_suspicious(mask, groups) then
        return
    end
    if #s > CONTEXT_BYTES * 2 or band(mask, scan.DECODABLE) ~= 0 then
        local decoded = without_gaps(decode.all(s))
        if decoded ~= s then
            s = decoded
            n, mask, groups, rest = scan.scan(s)
        end
    end
    score_value(place, name, s, n, rest)
    -- SQL comments can split an attack, so the text without them is scored, too.
    local bare = decode.without_comments(s)
    if bare then
        scan_and_score(place, name, bare)
    end
    local base64_text = encoded_text(s, mask)
    if base64_text then
        local opening = byte(base64_text)
        if (opening == 123 or opening == 91) and depth < MAX_DEPTH and extract.is_json(base64_text) then
            inspect_json("decoded", name, base64_text, depth + 1)
        else
            scan_and_score("decoded", name, base64_text)
        end
    end
end

-- Runs the rules of a place whatever the score is, because product paths and scanners look ordinary to the model.
local function run_rules_without_model(place, name, text)
    local points, rule = run_rules(rules.at[place], name, text)
    if rule and points >= MIN_POINTS then
        record_finding(rule, place, name, text, 0)
    end
end

-- Whether one of the rules matches. Ignores the site's level and disabled rules. nil: the pack has none for the place.
local function matches_any(list, text)
    local lowered = lower(text)
    for _, rule in ipairs(list or {}) do
        if rules.matches(rule, lowered) then
            return true
        end
    end
    return false
end

-- Begins with a value that is not decoded further yet.
local function begin_value(name, value)
    outer_name, original, text_before, window_start = name, value, "", nil
end

local function inspect_value(place, name, value)
    begin_value(name, value)
    if place == "file" then
        -- Only uploads that may contain a script tag of PHP, JSP or HTML are searched.
        if find(value, "<[?%%sSjJ]") then
            run_rules_without_model("file", name, sub(value, 1, MAX_FILE_BYTES))
        end
        return
    end
    if place == "filename" then
        run_rules_without_model("filename", name, decode.all(value))
    end
    inspect(place, name, value, 0)
end

-- Each file name counts like a value with rules. Beyond the limit nothing is read, so the request is refused.
local function inspect_body_value(place, name, value)
    body_bytes = body_bytes + max(#value, place == "filename" and MIN_RULE_BYTES or MIN_VALUE_BYTES)
    if body_bytes > MAX_BODY_BYTES then
        error(BODY_LIMIT)
    end
    inspect_value(place, name, value)
end

-- A reader found that the body breaks a body rule. Its pattern, if it has one, never matches.
local function report(id)
    if not reported[id] then
        reported[id], reported[#reported + 1] = true, id
    end
end

-- Applications rarely use the values of these headers, so they have no score. Loggers use them: rules marked alone run.
local UNSCORED_HEADERS = {}
for name in ([[host connection content-length accept accept-encoding accept-language accept-charset cache-control pragma
    upgrade-insecure-requests if-none-match if-modified-since origin dnt te sec-fetch-site sec-fetch-mode sec-fetch-dest
    sec-fetch-user sec-ch-ua-mobile x-requested-with]]):gmatch("%S+") do
    UNSCORED_HEADERS[name] = true
end

local function inspect_unscored_header(name, value)
    local _, mask, groups, rest = scan.scan(value)
    if not rest and not is_suspicious(mask, groups) or harmless_values_of_unscored:get(value) then
        return
    end
    local text, list = decode.all(value), rules.alone_at.header
    local _, rule = run_rules(list, name, text)
    if rule then
        record_finding(rule, "header", name, text, 0)
    elseif #value <= MAX_REMEMBERED_BYTES and not matches_any(list, text) then
        harmless_values_of_unscored:set(value, true)
    end
end

local function inspect_header(name, value)
    header = name
    begin_value(name, value)
    if UNSCORED_HEADERS[name] then
        return inspect_unscored_header(name, value)
    end
    local memory = harmless_values[name] or harmless_header_values
    if memory:get(value) then
        return
    end
    -- The score of this header alone decides whether its value is harmless. So a name is inspected again here, even if
    -- another value of the request had it.
    local previous_highest, names_of_request = highest_score, seen_names
    highest_score, seen_names = -1e9, {}
    if name == "cookie" then
        extract.cookies(inspect_value, value)
    elseif name == "referer" then
        extract.target(inspect_value, gsub(value, "^%a+://[^/?]*", ""), "path", "referer")
    else
        if name == "user-agent" then
            run_rules_without_model("userAgent", name, value)
        end
        inspect("header", name, value, 0)
    end
    -- All sites share the memory, so nothing is remembered where an exception may hide a finding. A limit that was
    -- reached hides no score.
    local is_harmless = not settings.exceptions and highest_score < MIN_ALONE_RULE_SCORE
        and not (name == "user-agent" and matches_any(rules.at.userAgent, value))
    if is_harmless and #value <= MAX_REMEMBERED_BYTES then
        memory:set(value, true)
    end
    highest_score, seen_names = max(highest_score, previous_highest), names_of_request
end

local function inspect_body(content_type, body)
    local is_whole, reason = pcall(extract.body, inspect_body_value, report, content_type, body)
    decode.release()
    if not is_whole and reason ~= BODY_LIMIT then
        error(reason, 0)
    end
end

local function begins(request, prefix)
    return sub(request.path, 1, #prefix) == prefix
end

-- Records a rule that the body breaks as a whole, unless there is a finding.
local function record_broken_rule(id)
    local rule = rules.by_id[id]
    if not finding and is_enabled(rule, "") then
        record_finding(rule, "body", "", "", 0)
    end
end

-- Parts that were not inspected refuse the request if nothing else does. The rule of long bodies is the last of
-- `broken_rules`: with it, a body may pass.
local function record_broken_rules(broken_rules)
    if scored_values > MAX_SCORED_VALUES or rule_bytes > MAX_RULE_BYTES or body_bytes > MAX_BODY_BYTES then
        report(rules.TOO_MANY_VALUES)
    end
    for _, id in ipairs(broken_rules) do
        report(id)
    end
    begin_value("", "")
    for _, id in ipairs(reported) do
        record_broken_rule(id)
    end
end

-- Whether an exception holds for some value of the request.
local function covers(exception, request)
    return (not exception.host or exception.host == request.name)
        and (not exception.expires or time() < exception.expires)
        and (not exception.path or path_variants.all(request, begins, exception.path))
end

local function settings_of(request, module)
    local exceptions
    for _, exception in ipairs(module.exceptions) do
        if covers(exception, request) then
            exceptions = exceptions or {}
            exceptions[#exceptions + 1] = exception
        end
    end
    return { level = module.level, disabled = module.disabled, exceptions = exceptions }
end

-- Whether a rule about whole bodies holds for the request.
function _M.has_rule(id, request, module)
    settings = settings_of(request, module)
    return is_enabled(rules.by_id[id], "")
end

-- `request`: name (its host), target, headers (names in lower case), body, path, path_variants, and `broken_rules`, the
-- rules that the body breaks. `module`: level, disabled and exceptions. Returns the finding that refuses the request,
-- or nil, and the highest score (-1e9 without scores).
function _M.check(request, module)
    settings = settings_of(request, module)
    finding, highest_score, seen_names, reported, header = nil, -1e9, {}, {}, nil
    scored_values, rule_bytes, body_bytes = 0, 0, 0
    local target = gsub(request.target, "^%a+://[^/?]*", "")
    begin_value("", target)
    run_rules_without_model("target", "", decode.all(target))
    extract.target(inspect_value, target, "path", "query")
    for name, value in pairs(request.headers) do
        if type(value) == "table" then
            for i = 1, #value do
                inspect_header(name, value[i])
            end
        else
            inspect_header(name, value)
        end
    end
    header = nil
    if request.body and request.body ~= "" then
        inspect_body(request.headers["content-type"], request.body)
    end
    record_broken_rules(request.broken_rules or {})
    local found = finding
    finding, original, text_before = nil, "", ""
    return found, highest_score
end
return _M
