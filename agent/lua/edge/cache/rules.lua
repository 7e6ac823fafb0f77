-- Which cache rule of a site a path falls under, and what of a URL names the stored object.
local ngx_re_find = ngx.re.find
local find, sub, lower, match, concat = string.find, string.sub, string.lower, string.match, table.concat
local sort = table.sort
local ipairs = ipairs

local _M = {}
-- What applies when a pattern runs into its match limit: not "no match", but the choice that serves nothing wrong.
local NEVER = { ttlSeconds = 0, query = "all", honourOrigin = false }

local function set(values)
    local has = {}
    for _, value in ipairs(values) do
        has[value] = true
    end
    return has
end

local compile = {}
function compile.fileType(rule)
    local types = set(rule.values)
    return function(_, extension)
        return types[extension]
    end
end
function compile.url(rule)
    local urls = set(rule.values)
    return function(path)
        return urls[path]
    end
end
function compile.prefix(rule)
    local values = rule.values
    return function(path)
        for i = 1, #values do
            if sub(path, 1, #values[i]) == values[i] then
                return true
            end
        end
    end
end
function compile.regex(rule)
    local values = rule.values
    return function(path)
        for i = 1, #values do
            local from, _, err = ngx_re_find(path, values[i], "jo")
            if from then
                return true
            end
            if err then
                return nil, err
            end
        end
    end
end

local compiled = setmetatable({}, { __mode = "k" })
local function matchers(rules)
    local list = compiled[rules]
    if not list then
        list = {}
        for i, rule in ipairs(rules) do
            list[i] = { rule = rule, matches = compile[rule.type](rule) }
        end
        compiled[rules] = list
    end
    return list
end

-- The first rule that matches, or nothing.
function _M.find(site, path)
    local extension = match(path, "%.([^./]+)$")
    extension = extension and lower(extension) or ""
    for _, matcher in ipairs(matchers(site.cacheRules)) do
        local matches, err = matcher.matches(path, extension)
        if matches then
            return matcher.rule
        end
        if err then
            ngx.log(ngx.WARN, "cache rule ", matcher.rule.id, ": ", err)
            return NEVER
        end
    end
end

local function pairs_of(args, wanted)
    local list = {}
    for pair in string.gmatch(args, "[^&]+") do
        local name = ngx.unescape_uri(match(pair, "^[^=]*"))
        if not wanted or wanted[name] then
            list[#list + 1] = { name, #list, pair }
        end
    end
    -- By name; those of one name keep their order, for it may mean something.
    sort(list, function(a, b)
        if a[1] ~= b[1] then
            return a[1] < b[1]
        end
        return a[2] < b[2]
    end)
    for i, pair in ipairs(list) do
        list[i] = pair[3]
    end
    return concat(list, "&")
end

-- The part of the URL that takes part in the key, under that rule.
function _M.key_uri(rule, uri)
    local query = rule and rule.query or "all"
    local mark = find(uri, "?", 1, true)
    if query == "all" or not mark then
        return uri
    end
    local path, args = sub(uri, 1, mark - 1), sub(uri, mark + 1)
    if query == "none" then
        return path
    end
    local kept = pairs_of(args, query == "listed" and set(rule.queryNames) or nil)
    return kept == "" and path or path .. "?" .. kept
end
return _M
