-- The zone's subscribed lists (document `zoneLists`).
local address_lists = require("edge.core.address_lists")
local docs = require("edge.core.docs")

local _M = {}
local KEY = "zoneLists"

-- The current sets of the zone's lists. nil: it has none. nil, true: a list is not here yet.
local function lists()
    local entry = docs.get(KEY)
    if not entry then
        return nil
    end
    local set = address_lists.of(KEY, entry.doc.lists)
    return set, set == nil
end

-- The first list that applies to this address: its reference. Allow lists come first, then those that block, then
-- those that only monitor. Second result: whether a list is not here yet.
function _M.find(address)
    local set, is_missing = lists()
    if not set then
        return nil, is_missing
    end
    local found = address_lists.find(set, address)
    local monitored
    for i = 1, #found do
        local ref = set.refs[found[i].at]
        if address_lists.holds(found[i]) then
            if not ref.isBlack or not ref.monitor then
                return ref
            end
            monitored = monitored or ref
        end
    end
    return monitored
end

-- Whether an allow list has this address.
function _M.allows(address)
    local ref = _M.find(address)
    return ref ~= nil and not ref.isBlack
end
return _M
