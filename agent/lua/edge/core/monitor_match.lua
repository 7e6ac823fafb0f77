-- Records a match of a rule that only monitors. The log row names the last match, unless a later step names another
-- rule. The decision trail keeps the first 16 notes.
local trails = require("edge.core.trails")
local var = ngx.var

-- `would_end`: whether the rule would refuse, challenge or redirect the request if it were enforced. `cause` goes into
-- the log row, by default the step.
return function(step, rule, would_end, cause)
    var.e_cause, var.e_rule = cause or step, "monitor/" .. rule
    trails.add_note(step, would_end and "would" or "match", rule)
end
