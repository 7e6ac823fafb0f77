-- Whether a site is in service. One that is paused, limited, locked or expired is answered 904. Fails open.
local _M = { name = "status", priority = 9000 }

function _M.access(site)
    if site.status ~= "normal" then
        return 904
    end
end
return _M
