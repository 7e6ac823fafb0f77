-- Large files without a slices rule. A visitor may want one byte of a file or leave at once, and nginx would fetch and
-- store the whole file. So hop B ends the first origin request after its header, and the URL is fetched in slices from
-- then on, each with the ETag of that header in its key and as If-Range: a changed file is not mixed from two versions.
-- A HEAD request for a large file that cannot be sliced goes to the origin as HEAD.
local joined = require("edge.http.cache_control").joined
local keys = require("edge.cache.keys")
local leaders = require("edge.cache.leaders")
local rules = require("edge.cache.rules")
local settings = require("edge.core.settings")
local urls = require("edge.cache.urls")
local header, var, set_header = ngx.header, ngx.var, ngx.req.set_header
local find, lower, pairs, tonumber = string.find, string.lower, pairs, tonumber

local _M = {}
-- Smaller files are fetched whole: four slices cost more origin requests than they save.
local LARGE_BYTES = 4 * 1024 * 1024
local STRONG_ETAG = '^"[^"]*"$'
-- Marks a URL whose origin does not honour ranges.
local WHOLE = "whole"

-- The ETag of a URL that hop A serves from slices, or nil.
function _M.etag(url)
    local etag = urls.parts(url)
    return etag ~= WHOLE and etag or nil
end

-- Slices share one key per URL, so the response must not depend on anything else of the request.
local function can_be_sliced(site, response, url)
    local rule = response.rule
    return settings.slices and not response.relayed and not response.authorized and not response.names
        and not response.image and not response.compressed and not header["Content-Encoding"] and not site.passHeaders
        and not (rule and (rule.cookies or rule.passCookies))
        and tonumber(response.expires) ~= nil
        and lower(var.upstream_http_accept_ranges or "") == "bytes"
        and find(joined(header["ETag"]) or "", STRONG_ETAG) ~= nil
        and urls.parts(url) ~= WHOLE
end

-- Ends the origin request. Hop A goes on in @wait (lookup.lua). nginx would copy some fields into the final response.
local function send_back()
    leaders.resign()
    for name in pairs(ngx.resp.get_headers(0, true)) do
        header[name] = nil
    end
    ngx.status = ngx.HTTP_NO_CONTENT
    header["X-Accel-Redirect"] = "@wait"
end

-- Hop B, with the header of a response that would be stored. True: the response is not used. `keep_one_version`: purges
-- slices of earlier versions.
function _M.replace(site, request, response, key, keep_one_version)
    if not leaders.is_leading() or settings.relay or request.simulated or response.status ~= 200
        or (tonumber(header["Content-Length"]) or 0) <= LARGE_BYTES then
        return false
    end
    local url = keys.url_of(key)
    if can_be_sliced(site, response, url) then
        keep_one_version(site, url)
        if urls.note_parts(site.id, url, joined(header["ETag"])) then
            send_back()
            return true
        end
    end
    if var.http_x_e_method == "HEAD" then
        send_back()
        return true
    end
    return false
end

local function is_slice_without_rule(rule)
    return (var.http_x_e_slice or "") ~= "" and not (rule and rule.slices)
end

-- Hop B, before the request for a slice.
function _M.origin_access(site, request)
    if not is_slice_without_rule(rules.of(site, request)) then
        return
    end
    local url = keys.url_of(var.http_x_e_key or "")
    local etag = url and _M.etag(url)
    if etag then
        set_header("If-Range", etag)
    end
end

-- Hop B, with the header of a slice. False: it is of another version than the stored slices, or the origin does not
-- honour ranges. Then it is passed on and not stored, and the next request begins with the whole file.
function _M.fits(site, response, key)
    local status = response.status
    if not is_slice_without_rule(response.rule) or status ~= 200 and status ~= 206 then
        return true
    end
    local url, etag = keys.url_of(key or ""), joined(header["ETag"])
    local expected = url and urls.parts(url)
    if status == 206 and etag and etag == expected then
        return true
    end
    if expected and expected ~= WHOLE then
        if etag and etag ~= expected then
            urls.set_lasting_version(site.id, url, urls.new_token())
        else
            urls.note_parts(site.id, url, WHOLE)
        end
    end
    return false
end
return _M
