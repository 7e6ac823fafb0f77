-- An approximate LRU cache of two tables: when the young one is full it becomes the old one. A lookup is one table
-- index, without a list to maintain.
local setmetatable = setmetatable

local _M = {}
local methods = {}

function _M.new(size)
    return setmetatable({ young = {}, old = {}, count = 0, size = size }, { __index = methods })
end

function methods:set(key, value)
    if self.count >= self.size then
        self.old, self.young, self.count = self.young, {}, 0
    end
    self.young[key] = value
    self.count = self.count + 1
end

function methods:get(key)
    local value = self.young[key]
    if value then
        return value
    end
    value = self.old[key]
    if value then
        self:set(key, value)
    end
    return value
end
return _M
