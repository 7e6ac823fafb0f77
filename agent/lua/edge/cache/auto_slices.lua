-- Automatic slicing: large files without a slices rule. A visitor may want one byte of a file or leave at once, and
-- nginx would fetch and store the whole file. So hop B ends the first origin request after its header, and the URL is
-- fetched in slices from then on, each with the ETag of that header in its key and as If-Range: a changed file is not
-- mixed from two versions. A HEAD request for a large file that cannot be sliced goes to the origin as HEAD.
local error_pages = require("edge.error_pages")
local joined = require("edge.http.cache_control").joined
local keys = require("edge.cache.keys")
local leaders = require("edge.cache.leaders")
local rules = require("edge.cache.rules")
local settings = require("edge.core.settings")
local shares = require("edge.cache.shares")
local urls = require("edge.cache.urls")
local header, time, var, set_header = ngx.header, ngx.time, ngx.var, ngx.req.set_header
local find, format, lower, match = string.find, string.format, string.lower, string.match
local pairs, tonumber = pairs, tonumber

local _M = {}
-- nginx's `slice 1m` (cache-conf.ts).
local SLICE_BYTES = 1024 * 1024
-- Smaller files are fetched whole: four slices cost more origin requests than they save.
local LARGE_BYTES = 4 * SLICE_BYTES
local STRONG_ETAG = '^"[^"]*"$'
-- A changed file is sliced again afterwards. Origins that disagree about its ETag break one response in this time.
local CHANGED_SECONDS = 3600
local GONE = { [404] = true, [410] = true }

-- The state of a URL is "<whole_until> <etag>". `whole_until`: the URL is not sliced before this time, since its origin
-- does not honour ranges, or its slices could not be used. `etag`: of the file that the slices belong to, or "".
local function note_state(site_id, url, whole_until, etag)
    return urls.note_slices(site_id, url, format("%d %s", whole_until, etag))
end

local function state_of(url)
    local whole_until, etag = match(urls.slices(url) or "", "^(%d+) (.*)$")
    return { whole_until = tonumber(whole_until) or 0, etag = etag ~= "" and etag or nil }
end

-- The ETag of a URL that hop A serves from slices, or nil.
function _M.etag(url)
    return state_of(url).etag
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
        and state_of(url).whole_until <= time()
end

-- Ends the origin request and sends hop A to @wait, where it looks up the URL again (lookup.lua). nginx would copy some
-- fields into the final response.
local function restart_lookup()
    leaders.resign()
    for name in pairs(ngx.resp.get_headers(0, true)) do
        header[name] = nil
    end
    ngx.status = ngx.HTTP_NO_CONTENT
    header["X-Accel-Redirect"] = "@wait"
end

-- Hop B, with the header of a response that would be stored. True: the response is not used, since the URL is now
-- sliced, or HEAD goes to the origin as HEAD.
function _M.end_large_response(site, request, response, key)
    if not leaders.is_leading() or settings.relay or request.simulated or response.status ~= 200
        or (tonumber(header["Content-Length"]) or 0) <= LARGE_BYTES then
        return false
    end
    local url = keys.url_of(key)
    local is_sliced = can_be_sliced(site, response, url) and note_state(site.id, url, 0, joined(header["ETag"]))
    if is_sliced or var.http_x_e_method == "HEAD" then
        restart_lookup()
        return true
    end
    return false
end

-- Hop B, before the request to the origin.
function _M.set_if_range(site, request)
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

-- Without room for this state, an older one must not stay.
local function serve_whole(site_id, url, seconds)
    if not note_state(site_id, url, time() + (seconds or shares.MAX_TTL_SECONDS), "") then
        urls.forget_slices(site_id, url)
    end
end

-- The response for the whole file may be stored briefly or replaced by the site's error page, a slice's is not. While
-- an origin has trouble, the stored slices are worth more than a page.
local function is_better_whole(request, status)
    return GONE[status]
        or status < 500 and error_pages.find(request.site.doc, status, request.name, request.path) ~= nil
end

-- Hop B, with the header of a slice without a rule: whether it is stored, and why not. `is_storable`, `reason`: the
-- same for a response that is no slice. Only a 206 of the known version is stored. After a slice of another version,
-- the next request fetches the whole file, and also after a slice that may not be stored: the whole file perhaps may.
function _M.may_store(request, response, key, is_storable, reason)
    local site_id, url, etag = request.site.doc.id, keys.url_of(key or ""), joined(header["ETag"])
    local status = response.status
    local expected = url and _M.etag(url)
    if expected and status == 206 and etag == expected then
        if not is_storable and not response.authorized then
            serve_whole(site_id, url, CHANGED_SECONDS)
        end
        return is_storable, reason
    end
    if expected and (status == 200 or status == 206) then
        local has_changed = etag ~= expected
        if has_changed then
            -- Visitors cause this. So it is not in the purge log, and need not be: the ETag is in the key.
            urls.set_version(site_id, url, urls.new_token())
        end
        serve_whole(site_id, url, has_changed and CHANGED_SECONDS or nil)
    elseif expected and is_better_whole(request, status) then
        urls.forget_slices(site_id, url)
    end
    return false, "partial"
end

-- Whether an unstored slice shows that its URL is uncacheable. An error does not while other slices are stored.
-- may_store decides what an automatic slice shows.
function _M.is_slice_about_url(response, url)
    if response.why == "partial" then
        return false
    end
    return response.authorized or not response.is_auto_slice and (response.status < 300 or not urls.validator(url))
end
return _M
