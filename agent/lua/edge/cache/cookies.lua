-- How a rule treats the visitor's cookies: those that are part of the key, and those that bypass the cache.
local gmatch, gsub, lower, match, reverse, sub = string.gmatch, string.gsub, string.lower, string.match, string.reverse,
    string.sub
local concat, sort = table.concat, table.sort
local ipairs, md5, unescape_uri = ipairs, ngx.md5, ngx.unescape_uri

local _M = {}

-- Without these characters at its end. A pattern with `$` would take quadratic time for a long run of them.
local function without_end(text, characters)
    return reverse(match(reverse(text), "^" .. characters .. "*(.*)$"))
end

-- Equal for all names that usual frameworks read as one: "a", "a " and "%61", and in PHP "a[]" and "a[b]".
local function as_read(name)
    local text = match(unescape_uri(name), '^[%s"]*([^%[]*)')
    return lower((gsub(without_end(text, '[%s"]'), "[%s.]", "_")))
end

-- Whether the test holds for the name of any cookie. Some frameworks also split at commas and blanks, so that
-- `a=1, b=2` is two cookies.
local function has_name(text, test, made)
    local before
    for word in gmatch(text, "[^;,%s]+") do
        local name = match(word, "^[^=]*")
        -- As in `a =1`.
        if name == "" then
            name = before
        end
        if name and name ~= word and test(name, made) then
            return true
        end
        before = word
    end
    return false
end

local compiled = setmetatable({}, { __mode = "k" })
local function patterns(list)
    local made = compiled[list]
    if not made then
        made = { begins = {}, read = {} }
        for _, name in ipairs(list) do
            if sub(name, -1) == "*" then
                made.begins[#made.begins + 1] = as_read(sub(name, 1, -2))
            else
                made.read[as_read(name)] = true
            end
        end
        compiled[list] = made
    end
    return made
end

local function is_listed(name, made)
    return made.read[as_read(name)] == true
end

local function is_one_of(name, made)
    local read = as_read(name)
    if made.read[read] then
        return true
    end
    for _, beginning in ipairs(made.begins) do
        if sub(read, 1, #beginning) == beginning then
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
    return has_name(text, is_one_of, made)
end

-- A hash of the key's cookies, independent of their order. "" when there are none.
function _M.mark(rule, text)
    local all = rule.cookies == "all"
    local made = not all and patterns(rule.cookieNames)
    local list = {}
    for pair in gmatch(text or "", "[^;]+") do
        pair = without_end(match(pair, "^%s*(.*)$"), "%s")
        if pair ~= "" and (all or is_listed(match(pair, "^[^=]*"), made) or has_name(pair, is_listed, made)) then
            list[#list + 1] = pair
        end
    end
    sort(list)
    return #list > 0 and md5(concat(list, ";")) or ""
end
return _M
