-- Redirects. Exact paths first, then the longest prefix, then patterns in order. The first two are table lookups,
-- however many there are. Decided once per cached request line. Fails open.
local patterns = require("edge.core.patterns")
local readings = require("edge.core.readings")
local spelling = require("edge.core.spelling")
local byte, find, gsub, lower, match, sub = string.byte, string.find, string.gsub, string.lower, string.match,
    string.sub
local ipairs, pairs, var = ipairs, pairs, ngx.var

local _M = { name = "urlRedirect", priority = 1900, of_module = true }
local SLASH = byte("/")
-- Limit of followed redirects. A visitor who would loop is not redirected.
local MOST_HOPS = 10

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

function _M.prepare(doc)
    local starts, other = by_start(doc.patterns)
    local longest = -1
    for key in pairs(doc.prefix) do
        local path = match(key, "/.*") or ""
        longest = #path > longest and #path or longest
    end
    return {
        exact = doc.exact, prefix = doc.prefix, starts = starts, other = other, hosts = doc.hosts,
        queries = doc.queries, longest = longest,
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

-- At the match limit there is no redirect.
local function by_pattern(module, path)
    for _, rule in ipairs(module.starts[sub(path, 1, START)] or module.other) do
        if sub(path, 1, #rule.literal) == rule.literal then
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

-- The matching rule and its target. Parts of the path `at` keep their spelling.
local function target(module, host, at, args)
    local path = at.path
    local rule, from = by_path(module, host, path, args), nil
    if not rule and module.longest >= 0 then
        rule, from = by_prefix(module, host, path)
    end
    if not rule then
        rule = by_pattern(module, path)
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

-- Path and query of a URL on this network, otherwise nil.
local function place(url, host)
    local named, tail = match(url, "^https?://([^/?#]*)(.*)$")
    if named and gsub(lower(named), ":%d+$", "") ~= host then
        return nil
    end
    tail = named and tail or url
    local args = match(tail, "^[^?#]*%?([^#]+)")
    return spelling.read(byte(tail) == SLASH and tail or "/" .. tail), args
end

local function comes_back(module, host, start, args, url)
    local at, query = place(url, host)
    for _ = 1, MOST_HOPS do
        if not at then
            return false
        end
        if at.path == start.path and query == args then
            return true
        end
        local further = target(module, host, at, query)
        if not further then
            return false
        end
        at, query = place(further, host)
    end
    return true
end

local function choose(request, module, line)
    local args = request.args ~= "" and request.args or nil
    local at = spelling.of(line, request.path)
    local url, rule = target(module, request.name, at, args)
    if not url or comes_back(module, request.name, at, args, url) then
        return nil
    end
    return { code = rule.code, url = url, id = rule.id }
end

local function decide(request, module)
    return readings.any(request, choose, module, spelling.line(request.uri)) or { code = false }
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
