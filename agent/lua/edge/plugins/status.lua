-- Whether a site is in service. Paused, limited, locked and expired sites get 904. Fails open.
local _M = { name = "status", priority = 9000 }

function _M.access(site)
    if site.status ~= "normal" then
        return 904
    end
end
return _M
