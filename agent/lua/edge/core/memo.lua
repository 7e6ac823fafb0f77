-- Caches what is derived from a part of a document, by that part. The derived value must not refer to the part, or
-- neither would be collected.
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
