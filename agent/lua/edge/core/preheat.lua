-- Whether a request is a prefetch by this node's own agent (agent/src/link/preheat.ts). It carries a time and an HMAC
-- over time and URL with the zone's key. Access restrictions let it pass, and it is not billed.
local digest = require("edge.core.digest")
local unseal = require("edge.tls.unseal")
local abs, byte, format, gsub, ipairs, match, time, var = math.abs, string.byte, string.format, string.gsub, ipairs, string.match,
    ngx.time, ngx.var

local _M = {}
local SECONDS = 60

local function hex(bytes)
    return (gsub(bytes, ".", function(one)
        return format("%02x", byte(one))
    end))
end

function _M.is_ours()
    local moment, proof = match(var.http_x_e_preheat or "", "^(%d+)%.(%x+)$")
    if not moment or #moment > 12 or abs(time() - moment) > SECONDS then
        return false
    end
    local text = "edgeloom preheat\n" .. moment .. "\n" .. (var.http_host or "") .. "\n" .. var.request_uri
    for _, key in ipairs(unseal.keys()) do
        if digest.equal(hex(digest.of("sha256", text, key)), proof) then
            return true
        end
    end
    return false
end
return _M
