-- The ports on which a site serves: always 80 and 443, others if it opens them.
local ipairs = ipairs

local _M = {}
local opened = setmetatable({}, { __mode = "k" })

function _M.is_open(site, port)
    local ports = site.ports
    if not ports then
        return true
    end
    local has = opened[ports]
    if not has then
        has = { [80] = true, [443] = true }
        for _, one in ipairs(ports) do
            has[one] = true
        end
        opened[ports] = has
    end
    return has[port] == true
end
return _M
