-- Whether a request came by a connection whose handshake followed other rules than its host has (RFC 9110 15.5.20):
-- browsers reuse HTTP/2 connections for all names of a certificate.
local lower, var = string.lower, ngx.var

local _M = {}
local ANY_TLS = "TLSv1.2"

local function least_version(host)
    return host and host.doc.https and host.doc.https.minTLS or ANY_TLS
end

local function is_forced(host)
    return host and host.doc.https ~= nil and host.doc.https.force
end

-- nil where both have one name. Second, the document of the handshake's name, which the answer depends on. `find`: the
-- document of a name.
function _M.is(name, host, find)
    local shown = var.ssl_server_name
    shown = shown and lower(shown)
    if shown == name then
        return nil
    end
    local other = shown and find(shown)
    if least_version(other) ~= least_version(host) then
        return true, other
    end
    -- A handshake that names none of ours followed no rule but the zone's, and forcing HTTPS asks nothing of it.
    return other ~= nil and is_forced(other) ~= is_forced(host), other
end
return _M
