-- How a rule treats the visitor's cookies: those that are part of the key, and those that bypass the cache.
local gmatch, gsub, lower, match, sub = string.gmatch, string.gsub, string.lower, string.match, string.sub
local concat, sort = table.concat, table.sort
local ipairs, md5, unescape_uri = ipairs, ngx.md5, ngx.unescape_uri

local _M = {}

-- Equal for all names that usual frameworks read as one: "a", "a " and "%61", and in PHP "a[]" and "a[b]".
local function as_read(name)
    local text = match(unescape_uri(name), '^[%s"]*([^%[]*)')
    return lower(gsub(gsub(text, '[%s"]+$', ""), "[%s.]", "_"))
end

local compiled = setmetatable({}, { __mode = "k" })
local function patterns(list)
    local made = compiled[list]
    if not made then
        made = { exact = {}, begins = {}, read = {} }
        for _, name in ipairs(list) do
            if sub(name, -1) == "*" then
                made.begins[#made.begins + 1] = sub(name, 1, -2)
            else
                made.exact[name] = true
                made.read[as_read(name)] = true
            end
        end
        compiled[list] = made
    end
    return made
end

local function is_one_of(name, made)
    if made.exact[name] then
        return true
    end
    for _, beginning in ipairs(made.begins) do
        if sub(name, 1, #beginning) == beginning then
            return true
        end
    end
    return false
end

-- Whether one of the cookies bypasses the cache.
function _M.pass(rule, text)
    local made = patterns(rule.passCookies)
    for name in gmatch(text, "([^=;%s]+)[^;]*") do
        if is_one_of(name, made) then
            return true
        end
    end
    return false
end

-- A hash of the key's cookies, independent of their order. "" when there are none.
function _M.mark(rule, text)
    local all = rule.cookies == "all"
    local made = not all and patterns(rule.cookieNames)
    local list = {}
    for pair in gmatch(text or "", "[^;]+") do
        pair = match(pair, "^%s*(.-)%s*$")
        if pair ~= "" and (all or made.read[as_read(match(pair, "^[^=]*"))]) then
            list[#list + 1] = pair
        end
    end
    sort(list)
    return #list > 0 and md5(concat(list, ";")) or ""
end
return _M
