-- Redirects HTTP to HTTPS, and HSTS (RFC 6797). Fails open.
local settings = require("edge.core.settings")
local zones = require("edge.core.zone")
local ipairs, var, header = ipairs, ngx.var, ngx.header

local _M = { name = "https", priority = 2000 }
local MISDIRECTED = 421
local USUAL = 443

-- The HTTPS port as in a URL. nil where there is no HTTPS.
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
    -- The original URL with its token, which HTTPS checks again.
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

-- nginx sends ours in place of the origin's.
function _M.header_filter()
    if var.e_hsts ~= "" then
        header["Strict-Transport-Security"] = nil
    end
end
return _M
