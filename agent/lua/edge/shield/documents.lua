-- The documents that decided a request, as one text that is equal on nodes with equal documents. A relay with others
-- would use another origin or apply another rule.
local concat, sort, pairs = table.concat, table.sort, pairs

local _M = {}

-- nil where a document may differ from its file.
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
