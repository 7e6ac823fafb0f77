-- The resolved addresses of an origin, without those that the zone forbids. Checked here as well as on input, since a
-- name may have changed. Fails closed.
local counters = require("edge.core.counters")
local names = require("edge.origin.names")
local policy = require("edge.origin.policy")
local zones = require("edge.core.zone")
local ipairs, find, sub = ipairs, string.find, string.sub

local _M = {}

local function literal(text)
    if find(text, "^%d+%.%d+%.%d+%.%d+$") then
        return text
    end
    if find(text, ":", 1, true) then
        return sub(text, 1, 1) == "[" and text or "[" .. text .. "]"
    end
end

local function allowed(zone, list)
    local permitted = {}
    for _, address in ipairs(list) do
        if policy.allows(zone.originPolicy, address) then
            permitted[#permitted + 1] = address
        else
            counters.count("originRefused")
        end
    end
    return permitted
end

-- A list that may be empty, with the reason: "refused" or "unknown".
function _M.of(name)
    local zone = zones.get()
    if not zone then
        return {}, "refused"
    end
    local own = literal(name)
    local list = own and { own } or names.resolve(name)
    local permitted = allowed(zone.doc, list)
    if #permitted > 0 then
        return permitted
    end
    return permitted, #list > 0 and "refused" or "unknown"
end
return _M
