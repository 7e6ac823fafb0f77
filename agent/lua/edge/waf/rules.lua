-- The rules by place, and how they match. They come from the pack in this release of the agent, or from a newer one.
local cjson = require("cjson.safe")
local counters = require("edge.core.counters")
local model = require("edge.waf.model")
local scan = require("edge.waf.scan")
local re_find = ngx.re.find
local assert, error, ipairs, match, open, pairs, pcall, tonumber, tostring, type = assert, error, ipairs, string.match,
    io.open, pairs, pcall, tonumber, tostring, type

-- `alone_at` has the rules of `at` that are marked alone. `version`: of the pack in use. `fault`: why the installed
-- pack is not used. nil: it is used, or older than this release, or there is none.
local _M = { at = {}, alone_at = {}, by_id = {}, of_model = {}, category_of_group = {}, version = nil, fault = nil }
-- The body rule of a request with more values, parts or bytes than are inspected.
_M.TOO_MANY_VALUES = "protocol-too-many-values"
local FORMAT = 1
-- The pattern of rules that the code reports.
local NEVER = "(?!)"

-- At the match limit a rule does not match, and the limit is counted.
function _M.matches(rule, text)
    local from, _, err = re_find(text, rule.pattern, "jos")
    if err then
        counters.count("wafPatternFailed")
    end
    return from ~= nil
end

local function add(lists, place, rule)
    local list = lists[place] or {}
    lists[place] = list
    list[#list + 1] = rule
end

local function tables_of(rules)
    local made = { at = {}, alone_at = {}, by_id = {}, of_model = {} }
    for _, rule in ipairs(rules) do
        made.by_id[rule.id] = rule
        if rule.pattern then
            for _, place in ipairs(rule.targets) do
                add(made.at, place, rule)
                if rule.alone then
                    add(made.alone_at, place, rule)
                end
            end
        else
            made.of_model[rule.category] = rule
        end
    end
    return made
end

-- Groups are bits, in the order of the categories.
local function groups_of(categories)
    local category_of, group_of = {}, {}
    for i, category in ipairs(categories) do
        category_of[2 ^ (i - 1)], group_of[category] = category, 2 ^ (i - 1)
    end
    return category_of, group_of
end

local function use(pack)
    local made = tables_of(pack.rules)
    local category_of_group, group_of = groups_of(pack.categories)
    for _, list in ipairs(pack.keywords) do
        list.group = assert(group_of[list.category], "a keyword has no category")
    end
    scan.load(pack.keywords)
    model.load(pack.model)
    for name, value in pairs(made) do
        _M[name] = value
    end
    _M.category_of_group, _M.version = category_of_group, pack.version
end

local built_in = assert(cjson.decode(require("edge.waf.pack")))
use(built_in)

-- Whether a version exceeds that of the rules in this release.
local function is_newer(version)
    local numbers = { match(tostring(version), "^(%d+)%.(%d+)%.(%d+)$") }
    if not numbers[1] then
        error("it has no version", 0)
    end
    local own = { match(built_in.version, "^(%d+)%.(%d+)%.(%d+)$") }
    for i = 1, 3 do
        local number, own_number = tonumber(numbers[i]), tonumber(own[i])
        if number ~= own_number then
            return number > own_number
        end
    end
    return false
end

local function assert_compiles(rule)
    local _, _, err = re_find("", rule.pattern, "jos")
    if err then
        error("the pattern of " .. rule.id .. " is invalid: " .. err, 0)
    end
end

-- A pack must have the rules that the code reports, by their ids and for each category of the model.
local function assert_complete(made)
    for _, rule in ipairs(built_in.rules) do
        if not made.by_id[rule.id] and (not rule.pattern or rule.pattern == NEVER) then
            error("it lacks the rule " .. rule.id, 0)
        end
    end
end

local function use_if_newer(text)
    local pack = cjson.decode(text)
    if type(pack) ~= "table" then
        error("it is torn or no JSON", 0)
    end
    if not is_newer(pack.version) then
        return
    end
    if pack.format ~= FORMAT then
        error("it has the format " .. tostring(pack.format) .. ", and this release reads " .. FORMAT, 0)
    end
    assert_complete(tables_of(pack.rules))
    for _, rule in ipairs(pack.rules) do
        if rule.pattern then
            assert_compiles(rule)
        end
    end
    use(pack)
end

-- Runs in the master. A pack that cannot be used leaves the built-in rules in use, and nginx starts. The format is in
-- packages/contract/src/edge/waf-pack.ts.
function _M.load(path)
    local file = open(path, "rb")
    if not file then
        return
    end
    local text = file:read("*a") or ""
    file:close()
    local is_usable, err = pcall(use_if_newer, text)
    if not is_usable then
        use(built_in)
        -- Without the place in the code.
        _M.fault = match(tostring(err), "^%S+%.lua:%d+: (.*)$") or tostring(err)
    end
end
return _M
