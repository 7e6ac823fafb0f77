-- The verdict about a request. Values are scanned, suspicious ones decoded and scored by the model, and rules run on
-- what the model finds odd. The state is of the worker, so nothing here may yield.
local ffi = require("ffi")
local bit = require("bit")
local decode = require("edge.waf.decode")
local extract = require("edge.waf.extract")
local model = require("edge.waf.model")
local rules = require("edge.waf.rules")
local scan = require("edge.waf.scan")
local band = bit.band
local byte, find, gmatch, gsub, lower, match, sub = string.byte, string.find, string.gmatch, string.gsub, string.lower, string.match,
    string.sub
local ipairs, max, min, pairs, type = ipairs, math.max, math.min, pairs, type

local _M = {}
local bytes_of = ffi.typeof("const uint8_t *")
-- From this score on, rules look at a value.
local LOOK = -3
-- By paranoia level: the score that a value with rules must exceed, and the score that needs no rule.
local LEVELS = {
    { named = 0.5, block = 4 },
    { named = 0, block = 2 },
    { named = -1, block = 1 },
    { named = -2, block = 0 },
}
_M.LEVELS = LEVELS
local POINTS = 5
local SLICE = 2048
local FILE_BYTES = 8192
local MAX_VALUES, MAX_LOOKS, MAX_DEPTH = 4000, 200, 3
-- The state of the request.
local settings, findings, best, values, looks = nil, nil, nil, 0, 0

-- Header values repeat. Harmless ones are remembered by kind of header, in two generations.
local MAX_REMEMBERED, LONGEST_REMEMBERED = 2048, 512
local function new_memory()
    return { young = {}, old = {}, count = 0 }
end
local harmless = { cookie = new_memory(), referer = new_memory(), ["user-agent"] = new_memory() }
local harmless_others = new_memory()
local function is_harmless(memory, value)
    if memory.young[value] then
        return true
    end
    if memory.old[value] then
        memory.young[value] = true
        return true
    end
    return false
end
local function remember(memory, value)
    memory.count = memory.count + 1
    if memory.count > MAX_REMEMBERED then
        memory.old, memory.young, memory.count = memory.young, {}, 0
    end
    memory.young[value] = true
end

-- Exceptions of this path, and whether all rules except the value.
local function is_excepted(rule, name)
    local list = settings.here
    for i = 1, #list do
        local one = list[i]
        if (not one.parameter or one.parameter == name) and (not one.rule or rule and (one.rule == rule.id or one.rule == rule.category)) then
            return true
        end
    end
    return false
end

local function counts(rule, name)
    return rule.level <= settings.level and not settings.disabled[rule.id] and not settings.disabled[rule.category]
        and not (settings.here and is_excepted(rule, lower(name)))
end

local function note(rule, place, name, text, score)
    local finding = { rule = rule.id, place = place, name = name, score = score, text = text }
    if not findings or (rule.alone and not findings.is_certain) or score > findings.score then
        finding.is_certain = rule.alone
        findings = finding
    end
end

-- Runs the rules of a place. Returns the points, and the heaviest rule that matches.
local function run(place, name, text)
    local list, points, heaviest = rules.at[place], 0, nil
    if not list then
        return 0
    end
    local plain = lower(text)
    for i = 1, #list do
        local rule = list[i]
        if counts(rule, name) and rules.matches(rule, plain) then
            points = points + rule.points
            if rule.alone then
                return POINTS, rule
            end
            if not heaviest or rule.points > heaviest.points then
                heaviest = rule
            end
        end
    end
    return points, heaviest
end

local function category_rule(n)
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

local function judge(place, name, s, n)
    local score, worst = model.score(n, place)
    if score > best then
        best = score
    end
    if score < LOOK or looks >= MAX_LOOKS then
        return
    end
    looks = looks + 1
    local level = LEVELS[settings.level]
    local model_rule = score > level.block and category_rule(n)
    local text = s
    if #s > SLICE * 2 then
        local from = max(1, scan.offsets[max(0, min(worst, n - 1))] - SLICE)
        text = sub(s, from, from + SLICE * 2)
    end
    local points, rule = run(place, name, text)
    if rule and (rule.alone or (points >= POINTS and score > level.named)) then
        note(rule, place, name, text, score)
    elseif model_rule and counts(model_rule, name) then
        note(model_rule, place, name, text, score)
    end
end

-- Whether all outside of strings is JSON's structure. Then only the strings matter.
local OUTSIDE = ffi.new("uint8_t[256]")
for i = 0, 255 do
    local class = scan.class[i]
    OUTSIDE[i] = (class == 1 or class == 2 or i <= 32 or find("{}[]:,.+-", string.char(i), 1, true)) and 1 or 0
end
local function is_json(s)
    local p, n, i = ffi.cast(bytes_of, s), #s, 0
    while i < n do
        local c = p[i]
        if c == 34 then
            i = i + 1
            while i < n and p[i] ~= 34 do
                i = i + (p[i] == 92 and 2 or 1)
            end
        elseif OUTSIDE[c] == 0 then
            return false
        end
        i = i + 1
    end
    return true
end

local inspect
local function nested(place, s, depth)
    extract.json(function(at, name, value)
        inspect(at == "name" and at or place, name, value, depth)
    end, s, place == "raw" and "json" or place)
end

local function is_binary(s)
    local head = sub(s, 1, 512)
    local _, controls = gsub(head, "[%z\1-\8\14-\31\127]", "")
    return controls * 30 > #head
end

-- Text that was encoded in base64, of the whole value or of a long run in it.
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

function inspect(place, name, s, depth)
    if s == "" or values >= MAX_VALUES then
        return
    end
    values = values + 1
    local first = byte(s)
    if (first == 123 or first == 91) and depth < MAX_DEPTH and find(s, '"', 1, true) and is_json(s) then
        return nested(place, s, depth + 1)
    end
    if settings.here and is_excepted(nil, lower(name)) then
        return
    end
    local n, mask, groups = scan.scan(s)
    if place == "raw" and depth == 0 and is_binary(s) then
        return
    end
    if band(mask, scan.SUSPECT) == 0 and groups == 0 then
        return
    end
    if band(mask, scan.DECODABLE) ~= 0 then
        local decoded = decode.all(s)
        if decoded ~= s then
            s = decoded
            n, mask = scan.scan(s)
        end
    end
    local text = encoded_text(s, mask)
    judge(place, name, s, n)
    -- Comments would hide from the model what they separate.
    local bare = decode.without_comments(s)
    if bare then
        judge(place, name, bare, (scan.scan(bare)))
    end
    if text then
        if byte(text) == 123 and depth < MAX_DEPTH and is_json(text) then
            nested("decoded", text, depth + 1)
        else
            judge("decoded", name, text, (scan.scan(text)))
        end
    end
end

-- Places whose rules always run: product paths, file names and scanners look ordinary to a model.
local function run_always(place, name, text)
    local points, rule = run(place, name, text)
    if rule and points >= POINTS then
        note(rule, place, name, text, 0)
    end
end

-- Whether a rule of the place matches, at any level, and also one that this site disabled.
local function matches_any(place, text)
    local plain = lower(text)
    for _, rule in ipairs(rules.at[place] or {}) do
        if rules.matches(rule, plain) then
            return true
        end
    end
    return false
end

local function emit(place, name, value)
    if place == "file" then
        if find(value, "<[?%%sSjJ]") then
            run_always("file", name, sub(value, 1, FILE_BYTES))
        end
        return
    end
    if place == "filename" then
        run_always("filename", name, decode.all(value))
    end
    inspect(place, name, value, 0)
end

local IGNORED = {}
for name in ([[host connection content-length accept accept-encoding accept-language accept-charset cache-control pragma
    upgrade-insecure-requests if-none-match if-modified-since origin dnt te sec-fetch-site sec-fetch-mode sec-fetch-dest
    sec-fetch-user sec-ch-ua-mobile x-requested-with]]):gmatch("%S+") do
    IGNORED[name] = true
end

local function header(name, value)
    local memory = harmless[name] or harmless_others
    if IGNORED[name] or is_harmless(memory, value) then
        return
    end
    local before = best
    best = -1e9
    if name == "cookie" then
        extract.cookies(emit, value)
    elseif name == "referer" then
        extract.target(emit, gsub(value, "^%a+://[^/?]*", ""), "path", "referer")
    else
        if name == "user-agent" then
            run_always("userAgent", name, value)
        end
        inspect("header", name, value, 0)
    end
    -- Other sites share the memory, so neither exceptions nor the end of the inspection may have hidden a finding.
    local is_inspected = values < MAX_VALUES and not settings.here
    if best < LOOK and is_inspected and #value <= LONGEST_REMEMBERED
        and not (name == "user-agent" and matches_any("userAgent", value)) then
        remember(memory, value)
    end
    best = max(best, before)
end

-- `request`: target, headers (names in lower case), body and path. `module`: level, disabled and exceptions.
-- Returns what to refuse the request for, or nil, and the worst score.
function _M.check(request, module)
    local here
    for _, one in ipairs(module.exceptions) do
        if not one.path or sub(request.path, 1, #one.path) == one.path then
            here = here or {}
            here[#here + 1] = one
        end
    end
    settings = { level = module.level, disabled = module.disabled, here = here }
    findings, best, values, looks = nil, -1e9, 0, 0
    local target = gsub(request.target, "^%a+://[^/?]*", "")
    run_always("target", "", decode.all(target))
    extract.target(emit, target, "path", "query")
    for name, value in pairs(request.headers) do
        if type(value) == "table" then
            for i = 1, #value do
                header(name, value[i])
            end
        else
            header(name, value)
        end
    end
    if request.body and request.body ~= "" then
        local kind = request.headers["content-type"]
        extract.body(emit, type(kind) == "table" and kind[1] or kind, request.body)
        decode.release()
    end
    local found = findings
    findings = nil
    return found, best
end
return _M
