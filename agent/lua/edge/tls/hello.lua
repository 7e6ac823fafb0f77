-- Before nginx chooses the version of TLS: a domain may ask for a newer one than its zone.
local hello = require("ngx.ssl.clienthello")
local certificates = require("edge.tls.certificates")
local docs = require("edge.core.docs")
local requests = require("edge.core.request")
local staples = require("edge.tls.staples")
local lower = string.lower

local _M = {}
local NEWER = { ["TLSv1.3"] = { "TLSv1.3" } }

function _M.limit()
    local name = hello.get_client_hello_server_name()
    if not name then
        return
    end
    name = lower(name)
    docs.sync()
    local host = requests.host(name)
    local only = host and host.doc.https and NEWER[host.doc.https.minTLS]
    if only then
        assert(hello.set_protocols(only))
    end
    local list = certificates.pairs_for(name)
    if list then
        staples.look(list)
    end
end
return _M
