-- Hop-by-hop header fields, and references within one host.
local joined = require("edge.http.cache_control").joined
local paths = require("edge.core.paths")
local header, var = ngx.header, ngx.var
local gmatch, lower, match, gsub, sub = string.gmatch, string.lower, string.match, string.gsub, string.sub
local ipairs = ipairs

local _M = {}
local HOP_BY_HOP = {
    "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "TE",
    "Trailer",
}
-- These stay even when Connection names them: removing them would change or expose the message.
local RESPONSE_FIELDS = {
    ["content-length"] = true, ["transfer-encoding"] = true, ["connection"] = true, ["cache-control"] = true,
    ["date"] = true, ["close"] = true, ["keep-alive"] = true, ["upgrade"] = true,
}
local REQUEST_FIELDS = {
    ["host"] = true, ["authorization"] = true, ["cookie"] = true, ["content-length"] = true, ["content-type"] = true,
    ["transfer-encoding"] = true, ["accept-encoding"] = true, ["via"] = true, ["cdn-loop"] = true, ["range"] = true,
    ["x-forwarded-for"] = true, ["x-forwarded-proto"] = true, ["x-real-ip"] = true, ["x-request-id"] = true,
    ["expect"] = true, ["connection"] = true, ["upgrade"] = true, ["close"] = true, ["keep-alive"] = true,
}

function _M.remove_hop_by_hop(status)
    local named = var.upstream_http_connection
    if named then
        for name in gmatch(named, "[^%s,]+") do
            if not RESPONSE_FIELDS[lower(name)] then
                header[name] = nil
            end
        end
    end
    for _, name in ipairs(HOP_BY_HOP) do
        header[name] = nil
    end
    if status ~= 101 then
        header["Upgrade"] = nil
    end
end

-- Removes fields that the visitor's Connection names, except those that we or the origin's security need. Before
-- anything reads them: what the origin does not get must not be in the cache key (RFC 9110 7.6.1).
function _M.remove_named_by_visitor()
    local named = joined(ngx.req.get_headers(0)["connection"])
    for name in gmatch(lower(named or ""), "[^%s,]+") do
        if not REQUEST_FIELDS[name] then
            ngx.req.clear_header(name)
        end
    end
end

-- RFC 9110 13.1.5: a weak ETag in If-Range never matches, so the range is ignored.
function _M.remove_range()
    ngx.req.clear_header("Range")
    ngx.req.clear_header("If-Range")
end

-- Path and query of a reference on the same host, otherwise nil.
function _M.same_host_path(host, uri, reference)
    if not reference then
        return nil
    end
    local there, rest = match(reference, "^%a[%w+%-%.]*://([^/?#]*)([^#]*)")
    if not there then
        there, rest = match(reference, "^//([^/?#]*)([^#]*)")
    end
    if there then
        if gsub(lower(there), ":%d+$", "") ~= host then
            return nil
        end
        return sub(rest, 1, 1) == "/" and rest or "/" .. rest
    end
    rest = gsub(reference, "#.*$", "")
    if sub(rest, 1, 1) == "/" then
        return rest
    end
    return gsub(paths.without_query(uri), "[^/]*$", "") .. rest
end
return _M
