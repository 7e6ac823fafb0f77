-- Converts a list into a table of membership.
local ipairs = ipairs

return function(values)
    local has = {}
    for _, value in ipairs(values) do
        has[value] = true
    end
    return has
end
