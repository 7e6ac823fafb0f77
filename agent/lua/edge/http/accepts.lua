-- What a visitor takes, by his Accept field (RFC 9110 12.5.1).
local find, match = string.find, string.match

local _M = {}

-- Only who names it: "image/*" and "*/*" are said by programs as well that cannot show it.
function _M.webp(text)
    if not text or not find(text, "image/webp", 1, true) then
        return false
    end
    local q = match(text, "image/webp%s*;%s*q=([%d.]+)")
    return not q or tonumber(q) ~= 0
end
return _M
