-- The content types that a visitor accepts (RFC 9110 12.5.1).
local find, match = string.find, string.match

local _M = {}

-- Only an explicit image/webp: programs that send "image/*" or "*/*" may not support it.
function _M.webp(text)
    if not text or not find(text, "image/webp", 1, true) then
        return false
    end
    local q = match(text, "image/webp%s*;%s*q=([%d.]+)")
    return not q or tonumber(q) ~= 0
end
return _M
