-- The rules by place, from the pack of packages/waf-rules, and how they match.
local counters = require("edge.core.counters")
local model = require("edge.waf.model")
local pack = require("edge.waf.pack")
local scan = require("edge.waf.scan")
local re_find, ipairs = ngx.re.find, ipairs

local _M = { at = {}, of_model = {}, category_of_group = pack.groups }

for _, rule in ipairs(pack.rules) do
    if rule.pattern then
        for _, place in ipairs(rule.targets) do
            local list = _M.at[place] or {}
            _M.at[place] = list
            list[#list + 1] = rule
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
