-- Whether a request's connection was negotiated under other TLS rules than its host's (RFC 9110 15.5.20): browsers
-- reuse HTTP/2 connections for all names of a certificate.
local lower, var = string.lower, ngx.var

local _M = {}
local ANY_TLS = "TLSv1.2"

local function least_version(host)
    return host and host.doc.https and host.doc.https.minTLS or ANY_TLS
end

local function is_forced(host)
    return host and host.doc.https ~= nil and host.doc.https.force
end

-- nil where both names are equal. Second result: the document of the handshake's name. `find`: reads a name's document.
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
    -- Handshakes with unknown names follow the zone's rules, which forced HTTPS does not affect.
    return other ~= nil and is_forced(other) ~= is_forced(host), other
end
return _M
