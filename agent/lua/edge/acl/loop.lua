-- Whether a redirect leads to the requested URL, and so would not end. Fragments stay in the browser.
local gsub, lower, match, tonumber, unescape_uri = string.gsub, string.lower, string.match, tonumber, ngx.unescape_uri

local PORTS = { http = 80, https = 443 }

return function(target, request)
    local url = gsub(target, "#.*$", "")
    local scheme, authority, rest = match(url, "^(%a+)://([^/?]*)(.*)$")
    if scheme then
        scheme = lower(scheme)
        local port = match(authority, ":(%d+)$")
        if scheme ~= request.scheme or lower(gsub(authority, ":%d+$", "")) ~= request.name
            or (tonumber(port) or PORTS[scheme]) ~= request.port then
            return false
        end
        url = rest
    end
    local path, args = match(url, "^([^?]*)%??(.*)$")
    path = path == "" and "/" or path
    if request.path_variants then
        return url == request.uri
    end
    return args == (request.args or "") and unescape_uri(path) == request.path
end
