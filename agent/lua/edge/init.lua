-- Runs in the master, as root where nginx is started so: what workers may not read is read here.
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
    -- A global: `require` in a phase would cost each request a call that is never compiled.
    edge = require("edge.runner")
    require("edge.cache.urls").restore(require("edge.cache.marks").restore)
end
return _M
