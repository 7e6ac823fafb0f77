-- The cache rule that applies to a path, and the part of the URL that is in the key.
local memo = require("edge.core.memo")
local paths = require("edge.core.paths")
local set = require("edge.core.set")
local find, sub, match, concat = string.find, string.sub, string.match, table.concat
local sort = table.sort
local ipairs = ipairs

local _M = {}
-- Applies to ambiguous paths, and when a pattern reaches its match limit or does not compile, so that nothing wrong is
-- served.
local NEVER = { cacheTime = 0, query = "all", honourOrigin = false }

-- With 0 seconds a rule that honours origin headers stores only responses with a stated lifetime.
function _M.never_stores(rule)
    return rule.cacheTime == 0 and not rule.honourOrigin
end

local matchers = memo(function(rules)
    local list = {}
    for i, rule in ipairs(rules) do
        list[i] = { rule = rule, matches = paths.matcher(rule) }
    end
    return list
end)

-- The first matching rule, or nil.
function _M.find(site, path)
    local extension = paths.extension(path)
    for _, matcher in ipairs(matchers(site.cacheRules)) do
        local matches, err, is_broken = matcher.matches(path, extension)
        if matches then
            return matcher.rule
        end
        if is_broken then
            return NEVER
        end
        if err then
            ngx.log(ngx.WARN, "cache rule ", matcher.rule.id, ": ", err)
            return NEVER
        end
    end
end

-- The rule for a request. Servers may take an ambiguous path for another one, whose page is not to be shared.
function _M.of(site, request)
    return request.path_variants and NEVER or _M.find(site, request.path)
end

local function pairs_of(args, wanted)
    local list = {}
    for pair in string.gmatch(args, "[^&]+") do
        local name = ngx.unescape_uri(match(pair, "^[^=]*"))
        if not wanted or wanted[name] then
            list[#list + 1] = { name, #list, pair }
        end
    end
    -- Sorted by name. Repeated names keep their order, which may be significant.
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

-- The part of the URL that is in the key under this rule.
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
    local key_args = pairs_of(args, query == "listed" and set(rule.queryNames) or nil)
    return key_args == "" and path or path .. "?" .. key_args
end
return _M
