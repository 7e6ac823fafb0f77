-- Decisions of plugins about a simulated request, with the rule behind each.
local type = type

local _M = {}

function _M.rule(kind, id)
    return id and { kind = kind, id = id } or nil
end

-- For a plugin's results.
function _M.common(told)
    local answer = told.answer
    if not told.ok then
        return "failed", { status = answer }
    end
    if answer == nil or type(answer) == "string" then
        return "passed"
    end
    if told.target then
        return "redirected", { status = answer, target = told.target }
    end
    if answer == 204 then
        return "answered", { status = answer }
    end
    return answer == 444 and "closed" or "refused", { status = answer }
end
return _M
