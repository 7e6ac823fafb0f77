-- The origin's Cache-Tag, for purges by tag. Stored with the header and hidden from visitors.
local gmatch, lower, match, floor = string.gmatch, string.lower, string.match, math.floor
local concat, tonumber = table.concat, tonumber

local _M = {}
local MOST = 64
local LONGEST = 128

-- In lower case.
function _M.list(text)
    local list = {}
    for tag in gmatch(text, "[^,]+") do
        tag = lower(match(tag, "^%s*(.-)%s*$"))
        if tag ~= "" and #tag <= LONGEST then
            list[#list + 1] = tag
        end
        if #list == MOST then
            break
        end
    end
    return list
end

-- `requested_at`: the time of the request to the origin, in seconds.
function _M.field(text, requested_at)
    return concat({ floor(requested_at * 1000), unpack(_M.list(text)) }, ",")
end

-- Returns the time of the request to the origin, in milliseconds, and the tags.
function _M.read(field)
    local list, requested_at = {}, nil
    for part in gmatch(field, "[^,]+") do
        if not requested_at then
            requested_at = tonumber(part)
        else
            list[#list + 1] = part
        end
    end
    return requested_at, list
end
return _M
