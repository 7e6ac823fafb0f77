-- The rules by place, from the pack of packages/waf-rules, and how they match.
local counters = require("edge.core.counters")
local model = require("edge.waf.model")
local pack = require("edge.waf.pack")
local scan = require("edge.waf.scan")
local re_find, ipairs = ngx.re.find, ipairs

-- `alone_at` has the rules of `at` that are marked alone.
local _M = { at = {}, alone_at = {}, by_id = {}, of_model = {}, category_of_group = pack.groups }
-- The body rule of a request with more values, parts or bytes than are inspected.
_M.TOO_MANY_VALUES = "protocol-too-many-values"

local function add(lists, place, rule)
    local list = lists[place] or {}
    lists[place] = list
    list[#list + 1] = rule
end

for _, rule in ipairs(pack.rules) do
    _M.by_id[rule.id] = rule
    if rule.pattern then
        for _, place in ipairs(rule.targets) do
            add(_M.at, place, rule)
            if rule.alone then
                add(_M.alone_at, place, rule)
            end
        end
    else
        _M.of_model[rule.category] = rule
    end
end
scan.load(pack.keywords)
model.load(pack.model)

-- At the match limit a rule does not match, and the limit is counted.
function _M.matches(rule, text)
    local from, _, err = re_find(text, rule.pattern, "jos")
    if err then
        counters.count("wafPatternFailed")
    end
    return from ~= nil
end
return _M
