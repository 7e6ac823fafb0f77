-- A visitor's Cache-Control (RFC 9111 5.2.1), for sites that honour it. max-stale is ignored, as the RFC permits: nginx
-- decides about stale responses by the stored file alone.
local unpack_age = require("edge.cache.object_age").unpack
local cjson = require("cjson.safe")
local control = require("edge.http.cache_control")
local stored = require("edge.cache.stored")
local urls = require("edge.cache.urls")
local match, time, tonumber, type, var = string.match, ngx.time, tonumber, type, ngx.var

local _M = {}

local function read_directives()
    local headers = ngx.req.get_headers(0)
    local text = control.joined(headers["Cache-Control"])
    if text then
        return control.parse(text)
    end
    return control.parse(control.joined(headers["Pragma"]))
end

-- Seconds since the stored response, or a later 304, left the origin.
local function age_of(found, key)
    local newer = urls.freshened(key .. ":" .. (found.validator or ""))
    local generated_at = newer and cjson.decode(newer).birth or found.age and unpack_age(found.age) or found.date / 1000
    return time() - generated_at
end

local function is_too_old(found, key, directives)
    if directives["max-age"] and age_of(found, key) > directives["max-age"] then
        return true
    end
    local least = directives["min-fresh"]
    return least and found.valid - time() + 1 < (type(least) == "string" and tonumber(match(least, "^%d+$")) or 0)
end

-- Returns a location, a status, or nil for the cache. `place`: the location without this check.
function _M.apply(place)
    local directives = read_directives()
    if directives["no-store"] then
        return "@pass"
    end
    if directives["no-cache"] or (directives["max-age"] or 1) <= 0 then
        var.e_bypass = "1"
        return directives["only-if-cached"] and 504 or place
    end
    if place or not (directives["max-age"] or directives["min-fresh"] or directives["only-if-cached"]) then
        return place
    end
    local key = var.e_key
    local found = stored.find(key, var.http_x_e_vary or "")
    local too_old = found and is_too_old(found, key, directives)
    if directives["only-if-cached"] and (not found or too_old or found.valid < time()) then
        return 504
    end
    if too_old then
        var.e_bypass = "1"
    end
end
return _M
