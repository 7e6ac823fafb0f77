-- What a rule makes of the cookies that a visitor sends: which of them name the stored object, and which lead past the
-- store.
local gmatch, match, sub = string.gmatch, string.match, string.sub
local concat, sort = table.concat, table.sort
local ipairs, md5 = ipairs, ngx.md5

local _M = {}

local compiled = setmetatable({}, { __mode = "k" })
local function patterns(list)
    local made = compiled[list]
    if not made then
        made = { exact = {}, begins = {} }
        for _, name in ipairs(list) do
            if sub(name, -1) == "*" then
                made.begins[#made.begins + 1] = sub(name, 1, -2)
            else
                made.exact[name] = true
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

-- Whether one of the cookies leads past the store.
function _M.pass(rule, text)
    local made = patterns(rule.passCookies)
    for name in gmatch(text, "([^=;%s]+)[^;]*") do
        if is_one_of(name, made) then
            return true
        end
    end
    return false
end

-- A mark for what the counting cookies say; "" when there are none, in whatever order they come.
function _M.mark(rule, text)
    local all = rule.cookies == "all"
    local made = not all and patterns(rule.cookieNames)
    local list = {}
    for pair in gmatch(text or "", "[^;]+") do
        pair = match(pair, "^%s*(.-)%s*$")
        if pair ~= "" and (all or made.exact[match(pair, "^[^=]*")]) then
            list[#list + 1] = pair
        end
    end
    sort(list)
    return #list > 0 and md5(concat(list, ";")) or ""
end
return _M
