-- Serves the site's robots.txt before its rules are applied: a crawler that is kept out must be able to read why. The
-- blocks of the zone come first. The site's limits do not apply, so this plugin has one of its own for each address.
-- Fails open: the origin's file is served.
local addresses = require("edge.core.addresses")
local count_exceeds = require("edge.limits.count_exceeds")
local memo = require("edge.core.memo")
local find, md5 = string.find, ngx.md5
local header, var = ngx.header, ngx.var

local _M = { name = "robots", priority = 8000 }
local PATH = "/robots.txt"
-- Crawlers keep the file for up to a day anyway (RFC 9309 2.4).
local CACHE_CONTROL = "max-age=600"
local MAX_PER_MINUTE, MINUTE, RETRY_SECONDS = 120, 60, "60"
local TOO_MANY = 429

local etag_of = memo(function(site)
    return '"' .. md5(site.robots) .. '"'
end)

local function is_exceeded(site, request)
    local address = addresses.network(var.binary_remote_addr)
    return count_exceeds(request, site, address, nil, MINUTE, MAX_PER_MINUTE)
end

local function is_current(etag)
    local known = var.http_if_none_match
    return known ~= nil and (known == "*" or find(known, etag, 1, true) ~= nil)
end

function _M.access(site, request)
    local text = site.robots
    if not text or request.path ~= PATH or request.misdirected then
        return nil
    end
    local method = ngx.req.get_method()
    if method ~= "GET" and method ~= "HEAD" then
        return nil
    end
    if is_exceeded(site, request) then
        header["Retry-After"] = RETRY_SECONDS
        return TOO_MANY
    end
    local etag = etag_of(site)
    header["ETag"] = etag
    header["Cache-Control"] = CACHE_CONTROL
    if is_current(etag) then
        return 304, { file = "" }
    end
    header["Content-Type"] = "text/plain; charset=utf-8"
    header["Content-Length"] = #text
    return 200, { file = text }
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.robots then
        return "unused"
    end
    if not outcome.answer then
        return "passed"
    end
    return outcome.answer == TOO_MANY and "refused" or "answered", { status = outcome.answer }
end
return _M
