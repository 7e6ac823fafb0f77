-- Whether the present request is on a white list of its site, which exempts it from the site's own protection, but
-- never from the operator's. Request objects are shared, so the context notes it.
local _M = {}

function _M.add()
    ngx.ctx.is_white = true
end

function _M.has(site)
    return site.lists ~= nil and ngx.ctx.is_white == true
end
return _M
