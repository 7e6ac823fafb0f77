-- Large files without a slices rule. A visitor may want one byte of a file or leave at once, and nginx would fetch and
-- store the whole file. So hop B ends the first origin request after its header, and the URL is fetched in slices from
-- then on, each with the ETag of that header in its key and as If-Range: a changed file is not mixed from two versions.
-- A HEAD request for a large file that cannot be sliced goes to the origin as HEAD.
local error_pages = require("edge.error_pages")
local joined = require("edge.http.cache_control").joined
local keys = require("edge.cache.keys")
local leaders = require("edge.cache.leaders")
local rules = require("edge.cache.rules")
local settings = require("edge.core.settings")
local urls = require("edge.cache.urls")
local header, time, var, set_header = ngx.header, ngx.time, ngx.var, ngx.req.set_header
local find, format, lower, match = string.find, string.format, string.lower, string.match
local pairs, select, tonumber = pairs, select, tonumber

local _M = {}
-- Smaller files are fetched whole: four slices cost more origin requests than they save.
local LARGE_BYTES = 4 * 1024 * 1024
local STRONG_ETAG = '^"[^"]*"$'
-- Marks a URL that is not sliced until a time: its origin does not honour ranges, or slices were of different versions.
local WHOLE, WHOLE_UNTIL = "^whole (%d+)$", "whole %d"
local YEAR_SECONDS = 31536000
-- A changed file is sliced again afterwards. Origins that disagree about its ETag break one response in this time.
local CHANGED_SECONDS = 3600
local GONE = { [404] = true, [410] = true }

-- Results: the ETag of a URL that hop A serves from slices, or nil; whether the URL is not sliced.
local function known(url)
    local fact = urls.parts(url)
    local till = fact and match(fact, WHOLE)
    if till then
        return nil, tonumber(till) > time()
    end
    return fact, false
end

function _M.etag(url)
    return (known(url))
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
        and not select(2, known(url))
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

-- Hop B, with the header of a response that would be stored. True: the response is not used.
function _M.replace(site, request, response, key)
    if not leaders.is_leading() or settings.relay or request.simulated or response.status ~= 200
        or (tonumber(header["Content-Length"]) or 0) <= LARGE_BYTES then
        return false
    end
    local url = keys.url_of(key)
    if can_be_sliced(site, response, url) and urls.note_parts(site.id, url, joined(header["ETag"])) then
        send_back()
        return true
    end
    if var.http_x_e_method == "HEAD" then
        send_back()
        return true
    end
    return false
end

-- Hop B, before the request to the origin.
function _M.origin_access(site, request)
    if (var.http_x_e_slice or "") == "" then
        return
    end
    local rule = rules.of(site, request)
    local url = not (rule and rule.slices) and keys.url_of(var.http_x_e_key or "")
    local etag = url and _M.etag(url)
    if etag then
        set_header("If-Range", etag)
    end
end

-- Without room for the mark, there is none for an ETag either.
local function serve_whole(site_id, url, seconds)
    if not urls.note_parts(site_id, url, format(WHOLE_UNTIL, time() + (seconds or YEAR_SECONDS))) then
        urls.forget_parts(site_id, url)
    end
end

-- The response for the whole file may be stored briefly or replaced by the site's error page, a slice's is not. While
-- an origin has trouble, the stored slices are worth more than a page.
local function is_better_whole(request, status)
    return GONE[status]
        or status < 500 and error_pages.find(request.site.doc, status, request.name, request.path) ~= nil
end

-- Hop B, with the header of a slice without a rule: whether it is stored, and why not. `may` and `why`: what holds for
-- any response. Only a 206 of the known version is stored. After one of another version, the next request begins with
-- the whole file. So it does when slices cannot be stored, since the whole file perhaps can.
function _M.may_store_slice(request, response, key, may, why)
    local site_id, url, etag = request.site.doc.id, keys.url_of(key or ""), joined(header["ETag"])
    local status = response.status
    local expected = url and _M.etag(url)
    if expected and status == 206 and etag == expected then
        if not may and not response.authorized then
            serve_whole(site_id, url, CHANGED_SECONDS)
        end
        return may, why
    end
    if expected and (status == 200 or status == 206) then
        local has_changed = etag ~= expected
        if has_changed then
            -- Visitors cause this. So it is not in the purge log, and need not be: the ETag is in the key.
            urls.set_version(site_id, url, urls.new_token())
        end
        serve_whole(site_id, url, has_changed and CHANGED_SECONDS or nil)
    elseif expected and is_better_whole(request, status) then
        urls.forget_parts(site_id, url)
    end
    return false, "partial"
end
return _M
