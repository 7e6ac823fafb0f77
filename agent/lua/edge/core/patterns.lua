-- Runs tenants' patterns. A pattern that this nginx cannot compile matches nothing. It is counted, and listed by GET
-- /status for an hour after its last use. The caller handles the match limit.
local counters = require("edge.core.counters")
local changes = require("edge.core.dicts").changes
local re_find, re_match = ngx.re.find, ngx.re.match
local find, sub, match, concat = string.find, string.sub, string.match, table.concat
local ipairs = ipairs

local _M = {}
local SLOTS = 20
local SECONDS = 3600

local function report(rule, err)
    counters.count("patternFailed")
    local site = ngx.var.e_site or ""
    local head = site .. "|" .. (rule or "") .. "|"
    for i = 1, SLOTS do
        local entry = changes:get("pattern:" .. i)
        local is_known = entry and sub(entry, 1, #head) == head
        if is_known or not entry then
            changes:set("pattern:" .. i, head .. sub(err, 1, 500), SECONDS)
            if not is_known then
                ngx.log(ngx.ERR, "rule ", rule, " of site ", site, ": ", err)
            end
            return
        end
    end
end

-- Reaching the match limit is no error of the pattern.
local function is_limit(err)
    return find(err, "pcre_exec", 1, true) ~= nil
end

-- Where the pattern matches. Otherwise nil, the error at a limit, and true when it does not compile. `ctx`: where to
-- begin, if given.
function _M.find(subject, pattern, rule, ctx)
    local from, _, err = re_find(subject, pattern, "jo", ctx)
    if err and not is_limit(err) then
        report(rule, err)
        return nil, nil, true
    end
    return from, err
end

-- The captures. Otherwise the same results as find.
function _M.match(subject, pattern, rule)
    local captures, err = re_match(subject, pattern, "jo")
    if err and not is_limit(err) then
        report(rule, err)
        return nil, nil, true
    end
    return captures, err
end

-- Where a group of a matching pattern begins and ends. Empty at the beginning for a group without a part in the match.
function _M.group(subject, pattern, number)
    local from, to = re_find(subject, pattern, "jo", nil, number)
    if not from or from < 1 then
        return 1, 0
    end
    return from, to
end

-- A target with captured texts. `parts`: a text and the number of a group in turn. `text_of`: by such a number.
function _M.fill(parts, text_of)
    if #parts == 1 then
        return parts[1]
    end
    local list = {}
    for i, part in ipairs(parts) do
        list[i] = i % 2 == 1 and part or text_of(part + 0)
    end
    return concat(list)
end

function _M.failing()
    local list = {}
    for i = 1, SLOTS do
        local entry = changes:get("pattern:" .. i)
        if entry then
            local site, rule, err = match(entry, "^([^|]*)|([^|]*)|(.*)$")
            list[#list + 1] = { site = site, rule = rule, error = err }
        end
    end
    return list
end
return _M
