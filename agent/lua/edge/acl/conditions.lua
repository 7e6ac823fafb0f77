-- Turns the conditions of access rules into functions. Each returns whether it holds, or nil and an error at a limit.
-- `seen.left`: the units of work that the request's rules may still use. Below 0 no condition is judged.
local fields = require("edge.acl.fields")
local networks = require("edge.core.networks")
local set = require("edge.core.set")
local work = require("edge.acl.work")
local find, lower, sub, tostring, type = string.find, string.lower, string.sub, tostring, type

local make = {}
local STEPS = 100000

make["in"] = function(condition)
    local has = set(condition.list)
    return function(value)
        return has[value] == true
    end
end
function make.networks(condition)
    local list = condition.list
    return function(address, seen)
        seen.left = seen.left - work.LOOKUP
        return networks(list, address)
    end
end
function make.contains(condition)
    local text = condition.text
    return function(value, seen)
        seen.left = seen.left - work.of_search(value, text)
        return find(value, text, 1, true) ~= nil
    end
end
function make.startsWith(condition)
    local text, size = condition.text, #condition.text
    return function(value)
        return sub(value, 1, size) == text
    end
end
function make.endsWith(condition)
    local text, size = condition.text, #condition.text
    return function(value)
        return #value >= size and sub(value, #value - size + 1) == text
    end
end
-- A pattern that does not compile matches nothing; patterns.lua counts it.
function make.matches(condition, id)
    local text = condition.text
    return function(value, seen)
        local holds, err, cost = work.matches(value, text, id, STEPS, seen.left)
        seen.left = seen.left - cost
        return holds, err
    end
end
function make.greater(condition)
    local number = condition.number
    return function(value)
        return value > number
    end
end
function make.less(condition)
    local number = condition.number
    return function(value)
        return value < number
    end
end
function make.exists()
    return function()
        return true
    end
end

local function judge(test, value, in_lower, seen)
    if type(value) == "string" then
        seen.left = seen.left - work.of_text(value)
        value = in_lower and lower(value) or value
    end
    return test(value, seen)
end

-- A repeated field holds when one of its lines does.
local function any_of(test, values, in_lower, seen)
    local limit
    for i = 1, #values do
        local holds, err = judge(test, values[i], in_lower, seen)
        if holds then
            return true
        end
        if seen.left < 0 then
            return nil, work.OVER
        end
        limit = limit or err
    end
    if limit then
        return nil, limit
    end
    return false
end

-- A field that is missing fulfils negative operators only.
return function(condition, id)
    local get, name, negated, in_lower = fields[condition.field], condition.name, condition.negated, condition.lower
    local test = get and make[condition.operator](condition, id)
    if not test then
        error("no such field: " .. tostring(condition.field))
    end
    local price = work.LOOKED_UP[condition.field] and work.LOOKUP or 1
    return function(seen, request)
        if seen.left < 0 then
            return nil, work.OVER
        end
        seen.left = seen.left - price
        local value, err = get(seen, request, name)
        if err then
            return nil, err
        end
        local holds = false
        if type(value) == "table" then
            holds, err = any_of(test, value, in_lower, seen)
        elseif value ~= nil then
            holds, err = judge(test, value, in_lower, seen)
        end
        if err then
            return nil, err
        end
        return holds ~= negated
    end
end
