-- Runs in the master, as root where nginx starts as root: files that workers may not read are read here.
local cjson = require("cjson.safe")
local settings = require("edge.core.settings")

local _M = {}

function _M.start(json)
    require("resty.core")
    for name, value in pairs(assert(cjson.decode(json))) do
        settings[name] = value
    end
    require("edge.tls.unseal").read_keys(settings.dir .. "/keys")
    require("edge.core.risk").load(settings.dir .. "/packs/risk/current/risk.bin")
    require("edge.waf.rules").load(settings.dir .. "/packs/waf/current/waf.json")
    -- A global, because `require` in a phase costs each request a call that LuaJIT does not compile.
    edge = require("edge.runner")
    require("edge.cache.urls").restore(require("edge.cache.marks").restore)
end
return _M
