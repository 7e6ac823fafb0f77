local _M = {}
function _M.read_key(path) end
return _M
