-- What is made of a part of a document, once for as long as the document stays the same. What is made must not hold
-- that part itself, or neither would ever go.
local setmetatable = setmetatable

return function(make)
    local made = setmetatable({}, { __mode = "k" })
    return function(config)
        local value = made[config]
        if value == nil then
            value = make(config)
            made[config] = value
        end
        return value
    end
end
