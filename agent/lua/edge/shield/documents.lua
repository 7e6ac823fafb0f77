-- What a request was decided by, as one text that is the same on every node that has the same documents. A relay that has
-- others would ask another origin, or under another rule, than the edge node means.
local concat, sort, pairs = table.concat, table.sort, pairs

local _M = {}

-- nil where one of them is not sure to be what its file says.
function _M.of(request)
    local host, site, modules = request.host.sum, request.site.sum, request.modules
    if not host or not site or modules and modules.missing then
        return nil
    end
    local list = {}
    for kind, entry in pairs(modules and modules.entries or list) do
        if not entry.sum then
            return nil
        end
        list[#list + 1] = kind .. entry.sum
    end
    sort(list)
    return site .. "." .. host .. "." .. concat(list, ".")
end
return _M
