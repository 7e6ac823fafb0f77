-- The only functions that generated scripts may call. Each charges fuel by the length of its texts. A script ends by an
-- error when its fuel, a text or its tables exceed their limits.
local fields = require("edge.acl.fields")
local networks = require("edge.core.networks")
local work = require("edge.acl.work")
local concat, error, find, floor, lower, sub, tonumber, tostring, type, upper = table.concat, error, string.find, math.floor,
    string.lower, string.sub, tonumber, tostring, type, string.upper
local max, min, var = math.max, math.min, ngx.var

local _M = {}
local H = {}
_M.helpers = H

local LONGEST_TEXT = 65536
local MOST_ENTRIES = 1000
-- Bytes that cost a unit.
local BYTES = 16
-- Comparisons of a search for a text, at worst one for each pair of bytes, that cost a unit.
local PAIRS = 512
local LOOKUP_COST = 50
-- Match limit of a pattern.
local STEPS = 20000
_M.SPENT = "spent"

function H.charge(R, units)
    local fuel = R.fuel - units
    R.fuel = fuel
    if fuel < 0 then
        error(_M.SPENT, 0)
    end
end
local charge = H.charge

local function str(value)
    if type(value) == "string" then
        return value
    end
    if type(value) == "number" then
        return tostring(value)
    end
    error("a text is needed, not a " .. type(value), 0)
end

local function text(R, value)
    value = str(value)
    charge(R, floor(#value / BYTES))
    return value
end

function H.num(value)
    if type(value) ~= "number" then
        error("a number is needed, not a " .. type(value), 0)
    end
    return value
end
local num = H.num

function H.step(value)
    if num(value) == 0 or value ~= value then
        error("a step must not be 0", 0)
    end
    return value
end

function H.table(value)
    if type(value) ~= "table" then
        error("a table is needed, not a " .. type(value), 0)
    end
    return value
end

function H.key(value)
    if type(value) ~= "string" and (type(value) ~= "number" or value ~= value) then
        error("a key must be a text or a number", 0)
    end
    return value
end

function H.get(from, key)
    return H.table(from)[key]
end

local function count(R, entries)
    R.entries = R.entries + entries
    if R.entries > MOST_ENTRIES then
        error("too many entries in tables", 0)
    end
end

function H.made(R, entries, made)
    count(R, entries)
    return made
end

function H.set(R, into, key, value)
    count(R, 1)
    H.table(into)[H.key(key)] = value
end

function H.len(value)
    return type(value) == "table" and #value or #str(value)
end

function H.concat(R, a, b)
    a, b = text(R, a), text(R, b)
    if #a + #b > LONGEST_TEXT then
        error("a text is too long", 0)
    end
    return a .. b
end

local function comparable(R, a, b)
    if type(a) ~= type(b) or type(a) ~= "number" and type(a) ~= "string" then
        error("only two numbers or two texts compare", 0)
    end
    if type(a) == "string" then
        charge(R, floor(min(#a, #b) / BYTES))
    end
end
function H.lt(R, a, b)
    comparable(R, a, b)
    return a < b
end
function H.le(R, a, b)
    comparable(R, a, b)
    return a <= b
end

-- One text of a field: repeated lines are joined.
local function one(R, value)
    if type(value) == "table" then
        local size = 0
        for i = 1, #value do
            size = size + #value[i] + 2
        end
        charge(R, floor(size / BYTES) + #value)
        if size > LONGEST_TEXT then
            error("a text is too long", 0)
        end
        return concat(value, ", ")
    end
    return value
end

function H.field(R, name)
    if name == "ip" then
        return var.remote_addr
    end
    if work.LOOKED_UP[name] then
        charge(R, LOOKUP_COST)
    end
    return one(R, fields[name](R.seen, R.request))
end
function H.header(R, name)
    return one(R, fields.header(R.seen, R.request, lower(text(R, name))))
end
-- The first use parses the line or the query.
function H.cookie(R, name)
    charge(R, floor(#(var.http_cookie or "") / BYTES))
    return one(R, fields.cookie(R.seen, R.request, text(R, name)))
end
function H.arg(R, name)
    charge(R, floor(#(R.request.args or "") / BYTES))
    return one(R, fields.arg(R.seen, R.request, text(R, name)))
end

local function search(R, value, part)
    value, part = text(R, value), text(R, part)
    charge(R, floor(#value * #part / PAIRS))
    return find(value, part, 1, true)
end
function H.contains(R, value, part)
    return search(R, value, part) ~= nil
end
function H.find(R, value, part)
    return (search(R, value, part))
end
function H.startsWith(R, value, part)
    value, part = text(R, value), text(R, part)
    return sub(value, 1, #part) == part
end
function H.endsWith(R, value, part)
    value, part = text(R, value), text(R, part)
    return #value >= #part and sub(value, #value - #part + 1) == part
end
function H.sub(R, value, from, to)
    return sub(text(R, value), num(from), to and num(to) or -1)
end
function H.lower(R, value)
    return lower(text(R, value))
end
function H.upper(R, value)
    return upper(text(R, value))
end
function H.matches(R, value, pattern)
    value = text(R, value)
    local holds, err, cost = work.matches(value, pattern, R.id, STEPS, R.fuel)
    charge(R, cost)
    if err then
        error("a pattern reached its match limit", 0)
    end
    return holds
end
function H.ipIn(R, list)
    charge(R, LOOKUP_COST)
    return networks(list, var.binary_remote_addr)
end
function H.tonumber(_, value)
    if type(value) == "number" then
        return value
    end
    return type(value) == "string" and #value <= 32 and find(value, "^%-?%d+%.?%d*$") and tonumber(value) or nil
end
function H.tostring(_, value)
    if type(value) == "table" then
        error("a table is no text", 0)
    end
    return tostring(value)
end
function H.floor(_, value)
    return floor(num(value))
end
function H.min(_, a, b)
    return min(num(a), num(b))
end
function H.max(_, a, b)
    return max(num(a), num(b))
end
return _M
