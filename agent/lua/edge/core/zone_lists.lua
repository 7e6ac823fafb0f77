-- The zone's subscribed lists (document `zoneLists`).
local address_lists = require("edge.core.address_lists")
local docs = require("edge.core.docs")

local _M = {}
local KEY = "zoneLists"
local NOWHERE = {}

-- Held here, because each request needs it, and the sets of sites would displace it.
local current

-- nil: the zone has no lists. nil, true: a list is not here yet.
local function lists()
    local entry, why = docs.get(KEY)
    if not entry then
        if why == "absent" and current then
            -- Removed lists must not come back while a later list is not here yet.
            address_lists.forget(KEY)
            current = nil
        end
        return nil
    end
    current = address_lists.of(KEY, entry.doc.lists)
    return current, current == nil
end

-- The set, the lists in it with this address, and whether a list is not here yet.
local function search(address)
    local set, is_missing = lists()
    return set, set and address_lists.find(set, address) or NOWHERE, is_missing
end

-- Whether an allow list has this address.
function _M.is_allowed(address)
    local set, found = search(address)
    for i = 1, #found do
        if not set.refs[found[i].at].isBlack and address_lists.holds(found[i]) then
            return true
        end
    end
    return false
end

-- The block list with this address, or nil. Lists that only monitor count last. Second result: whether a list is not
-- here yet.
function _M.block_of(address)
    local set, found, is_missing = search(address)
    local monitored
    for i = 1, #found do
        local ref = set.refs[found[i].at]
        if ref.isBlack and address_lists.holds(found[i]) then
            if not ref.monitor then
                return ref
            end
            monitored = monitored or ref
        end
    end
    return monitored, is_missing
end
return _M
