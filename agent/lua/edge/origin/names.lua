local _M = {}
function _M.resolve() return {} end
return _M
