-- OCSP stapling. The agent fetches and validates responses; each is decoded once per change and valid until it expires.
local hello = require("ngx.ssl.clienthello")
local ocsp = require("ngx.ocsp")
local ssl = require("ngx.ssl")
local docs = require("edge.core.docs")
local decode_base64, md5, time, sub = ngx.decode_base64, ngx.md5, ngx.time, string.sub

local _M = {}
local SIGNATURE_ALGORITHMS = 13
local P256, P384 = "\4\3", "\5\3"
local TLS13 = 0x304

-- The key of a chain's staple. nil when the chain names no responder.
function _M.key_of(chain)
    local der = ssl.cert_pem_to_der(chain)
    return der and ocsp.get_ocsp_responder_from_der_chain(der) and "ocsp/" .. md5(chain)
end

-- The current staple of a pair, if any.
local function current(pair)
    local entry = pair.staple_key and docs.get(pair.staple_key)
    if not entry or time() >= entry.doc["until"] then
        return nil
    end
    entry.response = entry.response or decode_base64(entry.doc.response)
    return entry
end

-- Whether the ClientHello offers ECDSA with the curves in use. Only then is one of two pairs chosen.
function _M.look(list)
    if #list < 2 or not (list[1].staple_key or list[2].staple_key) then
        return
    end
    local algorithms = hello.get_client_hello_ext(SIGNATURE_ALGORITHMS) or ""
    local found = 0
    for i = 3, #algorithms - 1, 2 do
        local algorithm = sub(algorithms, i, i + 1)
        if algorithm == P256 or algorithm == P384 then
            found = found + 1
        end
    end
    ngx.ctx.takes_ecdsa = found == 2
end

-- The pair that nginx will certainly use, and its staple. nginx accepts one staple and chooses between pairs
-- afterwards. A staple of the other pair would break the handshake.
function _M.choose(list)
    if #list == 1 then
        local staple = current(list[1])
        return list[1], staple and staple.response
    end
    if not ngx.ctx.takes_ecdsa or ssl.get_tls1_version() ~= TLS13 then
        return nil
    end
    for i = 1, #list do
        local staple = current(list[i])
        if staple and staple.doc.keyType == "ecdsa" then
            return list[i], staple.response
        end
    end
end

_M.show = ocsp.set_ocsp_status_resp
return _M
