-- Whether a visitor by HTTP is sent to HTTPS, and what browsers are told to remember of it (RFC 6797). Fails open.
local settings = require("edge.core.settings")
local zones = require("edge.core.zone")
local ipairs, var, header = ipairs, ngx.var, ngx.header

local _M = { name = "https", priority = 2000 }
local MISDIRECTED = 421
local USUAL = 443

-- Where HTTPS is answered, as it stands in a URL; nil where it is not.
local function place()
    local first
    for _, entry in ipairs(settings.ports) do
        if entry.tls and entry.port == USUAL then
            return ""
        end
        first = first or entry.tls and entry.port
    end
    return first and ":" .. first
end

local function redirect(request)
    local port = place()
    if not port then
        return nil
    end
    local zone = zones.get()
    local code = zone and zone.doc.forceSSLRedirectCode or 301
    -- As the visitor wrote it: a token in it is asked for again there.
    return code, "https://" .. request.name .. port .. var.request_uri
end

function _M.access(_, request)
    if request.misdirected then
        return MISDIRECTED
    end
    local https = request.host.doc.https
    if not https then
        return nil
    end
    if request.scheme == "https" then
        if https.hsts then
            var.e_hsts = https.hsts
        end
    elseif https.force then
        return redirect(request)
    end
end

-- nginx adds ours, in place of what the origin says.
function _M.header_filter()
    if var.e_hsts ~= "" then
        header["Strict-Transport-Security"] = nil
    end
end
return _M
