-- Matches of rules that only monitor. The log row names the last one as its rule, and its decision trail names each.
local trails = require("edge.core.trails")
local var = ngx.var

-- `ends`: whether the rule, if it were enforced, would end the request: by a refusal, a challenge or a redirect.
return function(step, rule, ends)
    var.e_cause, var.e_rule = step, "monitor/" .. rule
    trails.add_note(step, ends and "would" or "match", rule)
end
