-- Decisions of plugins about a simulated request, with the rule behind each.
local type = type

local _M = {}

function _M.rule(kind, id)
    return id and { kind = kind, id = id } or nil
end

-- For a plugin's results.
function _M.common(outcome)
    local answer = outcome.answer
    if not outcome.ok then
        return "failed", { status = answer }
    end
    if answer == nil or type(answer) == "string" then
        return "passed"
    end
    if outcome.target then
        return "redirected", { status = answer, target = outcome.target }
    end
    if answer == 204 then
        return "answered", { status = answer }
    end
    return answer == 444 and "closed" or "refused", { status = answer }
end
return _M
