-- Redirects. Exact paths first, then the longest prefix, then patterns in order. The first two are table lookups,
-- however many there are. Decided once per cached request line. Fails open.
local patterns = require("edge.core.patterns")
local path_variants = require("edge.core.path_variants")
local spelling = require("edge.core.spelling")
local byte, find, gsub, lower, match, sub = string.byte, string.find, string.gsub, string.lower, string.match,
    string.sub
local floor, min, ipairs, pairs, var = math.floor, math.min, ipairs, pairs, ngx.var

local _M = { name = "urlRedirect", priority = 1900, of_module = true }
local SLASH = byte("/")
-- Limits of followed redirects, of one path variant and of all together. A visitor who would loop is not redirected.
local MOST_HOPS, MOST_HOPS_OF_ALL = 10, 40
-- Limit of pattern runs of followed redirects: MOST_HOPS for each of MOST_PATTERNS (redirects.service.ts).
local MOST_PATTERN_RUNS = 1000
-- A followed redirect's run of a pattern counts once more for each of these bytes, since it takes as much longer.
local LONG_BYTES = 2048

-- Patterns by the first characters of the path, in order. `other`: patterns with too short a fixed start.
local START = 3
local function by_start(patterns)
    local starts, other = {}, {}
    for _, rule in ipairs(patterns) do
        if #rule.literal >= START then
            starts[sub(rule.literal, 1, START)] = {}
        else
            other[#other + 1] = rule
        end
    end
    for start, list in pairs(starts) do
        for _, rule in ipairs(patterns) do
            if #rule.literal < START or sub(rule.literal, 1, START) == start then
                list[#list + 1] = rule
            end
        end
    end
    return starts, other
end

-- A path of another encoding than UTF-8 is a key by its bytes, too.
local function with_bytes(rules)
    local more = {}
    for key, rule in pairs(rules) do
        local bytes = spelling.bytes(key)
        if bytes then
            more[bytes] = rule
        end
    end
    for key, rule in pairs(more) do
        rules[key] = rule
    end
    return rules
end

-- `pattern_runs`: how many patterns are run for all followed redirects of a request. All are for each hop of one path
-- variant, so a loop of plain paths below 2 kB is found, unless the document has more patterns than the API accepts.
-- Above this number the visitor is redirected: otherwise a path with enough variants would pass a redirect that hides
-- it.
function _M.prepare(doc)
    local starts, other = by_start(doc.patterns)
    local longest = -1
    for key in pairs(doc.prefix) do
        local path = match(key, "/.*") or ""
        longest = #path > longest and #path or longest
    end
    return {
        exact = with_bytes(doc.exact), prefix = with_bytes(doc.prefix), starts = starts, other = other, hosts = doc.hosts,
        queries = doc.queries, longest = longest, pattern_runs = min(MOST_HOPS * #doc.patterns, MOST_PATTERN_RUNS),
    }
end

local function keyed(tables, hosts, host, tail)
    return hosts and tables[host .. tail] or tables[tail]
end

local function by_path(module, host, path, args)
    local exact = module.exact
    return args and module.queries and keyed(exact, module.hosts, host, path .. "?" .. args)
        or keyed(exact, module.hosts, host, path)
end

-- The rule, and where the rest of the path begins. Prefixes end at segment boundaries.
local function by_prefix(module, host, path)
    local at = #path
    if byte(path, at) == SLASH then
        at = at - 1
    end
    while at >= 0 do
        if at <= module.longest then
            local rule = keyed(module.prefix, module.hosts, host, sub(path, 1, at))
            if rule then
                return rule, at + 1
            end
        end
        at = at - 1
        while at > 0 and byte(path, at + 1) ~= SLASH do
            at = at - 1
        end
        if at == 0 and byte(path, 1) ~= SLASH then
            return nil
        end
    end
end

-- At the match limit there is no redirect. `trip`: counts the patterns of followed redirects.
local function by_pattern(module, path, trip)
    for _, rule in ipairs(module.starts[sub(path, 1, START)] or module.other) do
        if sub(path, 1, #rule.literal) == rule.literal then
            if trip and trip.pattern_runs <= 0 then
                return nil
            elseif trip then
                trip.pattern_runs = trip.pattern_runs - 1 - floor(#path / LONG_BYTES)
            end
            local captures, err = patterns.match(path, rule.pattern, rule.id)
            if captures then
                return rule
            end
            if err then
                ngx.log(ngx.WARN, "redirect ", rule.id, ": ", err)
                return nil
            end
        end
    end
end

local function with_query(url, args)
    local hash = find(url, "#", 1, true)
    local before, behind = hash and sub(url, 1, hash - 1) or url, hash and sub(url, hash) or ""
    return before .. (find(before, "?", 1, true) and "&" or "?") .. args .. behind
end

-- The target, and the rule that matches the path. Parts of the path `at` keep their spelling. `trip`: of a followed
-- redirect.
local function target(module, host, at, args, trip)
    local path = at.path
    local rule, from = by_path(module, host, path, args), nil
    if not rule and module.longest >= 0 then
        rule, from = by_prefix(module, host, path)
    end
    if not rule then
        rule = by_pattern(module, path, trip)
    end
    if not rule then
        return nil
    end
    local url = patterns.fill(rule.to, function(number)
        return spelling.part(at, patterns.group(path, rule.pattern, number))
    end)
    if rule.keepRest and from <= #path then
        url = url .. spelling.rest(at, from)
    end
    url = url == "" and "/" or gsub(url, "^//+", "/")
    if rule.keepQuery and args and args ~= "" then
        url = with_query(url, args)
    end
    return url, rule
end

-- The request line's part of a URL on this network, otherwise nil. Fragments stay in the browser.
local function request_uri_of(url, host)
    local named, tail = match(url, "^https?://([^/?#]*)(.*)$")
    if named and gsub(lower(named), ":%d+$", "") ~= host then
        return nil
    end
    tail = gsub(named and tail or url, "#.*$", "")
    return byte(tail) == SLASH and tail or "/" .. tail
end

-- Browsers resolve dot segments, read \ as a slash, and encode some characters.
local function is_sent_as_written(uri)
    return not find(uri, "[^%w%-._~/!$&()*+,;=:@%%?]") and not find(uri, "/.", 1, true) and not find(uri, "%%2[eE]")
end

-- Where the visitor of a target is redirected to. nil where that is the target itself, since `choose` refuses that.
local function further_target(module, host, uri, path, trip)
    local args = match(uri, "%?(.+)$")
    local url = target(module, host, path, args, trip)
    local is_same = url and is_sent_as_written(uri) and request_uri_of(url, host) == uri
    return not is_same and url or nil
end

-- By the path of a target, or else by its first other variant that a rule matches.
local function next_target(module, host, uri, trip)
    local at = spelling.read(uri)
    if not at then
        return nil
    end
    local url = further_target(module, host, uri, at, trip)
    local variants = not url and path_variants.of({ uri = uri, path = at.path })
    if not variants or variants.too_many then
        return url
    end
    local line = spelling.line(uri)
    for i = 2, #variants do
        url = further_target(module, host, uri, spelling.of(line, variants[i].path), trip)
        if url then
            return url
        end
    end
end

-- Whether redirects from the request to this URL and on do not end. `trip`: the request line, and how many hops and
-- pattern runs remain.
local function loops(module, host, trip, url)
    local seen = { [trip.uri] = true }
    for _ = 1, MOST_HOPS do
        local uri = request_uri_of(url, host)
        if not uri then
            return false
        end
        if seen[uri] or trip.hops == 0 then
            return true
        end
        seen[uri], trip.hops = true, trip.hops - 1
        url = next_target(module, host, uri, trip)
        if not url then
            return false
        end
    end
    return true
end

local function choose(request, module, trip)
    local args = request.args ~= "" and request.args or nil
    local url, rule = target(module, request.name, spelling.of(trip.line, request.path), args)
    if not url or loops(module, request.name, trip, url) then
        return nil
    end
    return { code = rule.code, url = url, id = rule.id }
end

local function decide(request, module)
    local trip = {
        uri = request.uri, line = spelling.line(request.uri), hops = MOST_HOPS_OF_ALL,
        pattern_runs = module.pattern_runs,
    }
    return path_variants.any(request, choose, module, trip) or { code = false }
end

function _M.access(_, request, module)
    local made = request.redirect
    if not made then
        made = decide(request, module)
        request.redirect = made
    end
    if made.code then
        var.e_cause, var.e_rule = _M.name, made.id
        return made.code, made.url
    end
end
return _M
