-- A list as what can be asked at once whether it has something.
local ipairs = ipairs

return function(values)
    local has = {}
    for _, value in ipairs(values) do
        has[value] = true
    end
    return has
end
