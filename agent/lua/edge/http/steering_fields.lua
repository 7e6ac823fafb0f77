-- Request fields that frameworks and proxies use to override host, scheme, port, path or method. They change responses
-- and are in no key, so the origin never receives them. A site may pass a field on, which then becomes part of the key.
local joined = require("edge.http.cache_control").joined
local memo = require("edge.core.memo")
local set = require("edge.core.set")
local concat, find, ipairs, md5 = table.concat, string.find, ipairs, ngx.md5

local _M = {}

-- Hop A sets these.
local OURS = { ["x-forwarded-for"] = true, ["x-forwarded-proto"] = true }
local NAMES = {
    ["forwarded"] = true, ["x-forwarded"] = true, ["x-host"] = true, ["x-http-host-override"] = true,
    ["x-host-override"] = true, ["x-scheme"] = true, ["x-url-scheme"] = true, ["x-forward-proto"] = true,
    ["x-forward-host"] = true, ["x-forward-for"] = true, ["front-end-https"] = true, ["x-proto"] = true, ["x-real-host"] = true,
    ["x-rewrite-url"] = true, ["x-rewrite-uri"] = true, ["x-http-path-override"] = true, ["x-path"] = true,
    ["x-proxy-url"] = true, ["x-proxy-host"] = true, ["x-base-url"] = true, ["x-backend-host"] = true, ["x-script-name"] = true,
    ["x-envoy-original-path"] = true, ["x-accel-redirect"] = true, ["x-sendfile-type"] = true, ["x-accel-mapping"] = true,
    ["x-http-method"] = true, ["x-http-method-override"] = true, ["x-method-override"] = true,
}

function _M.is_steering(name)
    return NAMES[name]
        or (find(name, "x-forwarded-", 1, true) == 1 or find(name, "x-original-", 1, true) == 1) and not OURS[name]
        or false
end

local NONE = {}
local set_of = memo(set)

-- The fields that the site passes on, by lower-case name.
function _M.passed(site)
    return site.passHeaders and set_of(site.passHeaders) or NONE
end

-- A hash of the request's passed-on fields. "" when there are none.
function _M.mark(names)
    local headers, list = ngx.req.get_headers(0), {}
    for _, name in ipairs(names) do
        local value = joined(headers[name])
        if value then
            list[#list + 1] = name .. ":" .. value
        end
    end
    return #list > 0 and "." .. md5(concat(list, "\n")) or ""
end
return _M
