-- Before nginx chooses the TLS version: a domain may require a newer one than its zone.
local hello = require("ngx.ssl.clienthello")
local certificates = require("edge.tls.certificates")
local docs = require("edge.core.docs")
local staples = require("edge.tls.staples")
local find, lower = string.find, string.lower

local _M = {}
local NEWER = { ["TLSv1.3"] = { "TLSv1.3" } }

-- Returns "refuse" for a handshake that must fail.
function _M.limit()
    local name = hello.get_client_hello_server_name()
    if not name then
        return
    end
    -- The name is part of $e_facts, where a space would let one request imitate another.
    if find(name, "[^%w._-]") then
        return "refuse"
    end
    name = lower(name)
    docs.sync()
    local known = certificates.of(name)
    if not known then
        return
    end
    local https = known.host.doc.https
    local only = https and NEWER[https.minTLS]
    if only then
        assert(hello.set_protocols(only))
    end
    if known.pairs then
        staples.look(known.pairs)
    end
end
return _M
