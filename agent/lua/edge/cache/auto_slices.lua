-- Automatic slicing: large files without a slices rule. A visitor may want one byte of a file or leave at once, and
-- nginx would fetch and store the whole file. So hop B ends the first origin request after its header, and the URL is
-- fetched in slices from then on, each with the ETag of that header in its key. A HEAD request for a large file that
-- cannot be sliced goes to the origin as HEAD.
--
-- nginx breaks off a response whose slices differ in their ETags. Slices are requested without If-Range: the origin
-- would send the whole file if it changed.
local error_pages = require("edge.error_pages")
local joined = require("edge.http.cache_control").joined
local keys = require("edge.cache.keys")
local leaders = require("edge.cache.leaders")
local settings = require("edge.core.settings")
local shares = require("edge.cache.shares")
local urls = require("edge.cache.urls")
local header, md5, time, var = ngx.header, ngx.md5, ngx.time, ngx.var
local find, format, lower, match = string.find, string.format, string.lower, string.match
local pairs, tonumber = pairs, tonumber

local _M = {}
-- The same as nginx's `slice 1m` (cache-conf.ts).
local SLICE_BYTES = 1024 * 1024
-- nginx's $slice_range for the first slice.
_M.FIRST_SLICE = "bytes=0-" .. SLICE_BYTES - 1
-- Smaller files are fetched whole: four slices cost more origin requests than they save.
_M.LARGE_BYTES = 4 * SLICE_BYTES
local STRONG_ETAG = '^"[^"]*"$'
-- A file that changes more than once in this time, without a purge in between, is fetched whole for as long. Its
-- origins may disagree about its ETag, and each change breaks off a response.
local CHANGED_SECONDS = 3600
local GONE = { [404] = true, [410] = true }
-- Client errors that do not last, or that only concern the slice.
local TEMPORARY = { [408] = true, [416] = true, [425] = true, [429] = true }
-- After so many slices that the origin refused, the next request is for the whole file.
local MAX_REFUSED = 2

-- The state of a URL is "<whole_until> <last_change> <refused> <etag>". `whole_until`: the URL is not sliced before
-- this time, since its origin does not honour ranges, or its slices could not be used. `last_change`: of a slice that
-- had another ETag, from format_change, or "-". `refused`: how many slices the origin refused since its last 200 for
-- the whole file. `etag`: of the file that the slices belong to, or "".
local function note_state(site_id, url, state)
    local whole_until, last_change = state.whole_until or 0, state.last_change or "-"
    local text = format("%d %s %d %s", whole_until, last_change, state.refused or 0, state.etag or "")
    return urls.note_slices(site_id, url, text)
end

local function state_of(url)
    local whole_until, last_change, refused, etag = match(urls.slices(url) or "", "^(%d+) (%S+) (%d+) (.*)$")
    return {
        is_known = etag ~= nil, whole_until = tonumber(whole_until) or 0, last_change = last_change,
        refused = tonumber(refused) or 0, etag = etag ~= "" and etag or nil,
    }
end

-- The time, and the hash of the purges in the slice's key. A file may change with each purge.
local function format_change(key, at)
    return format("%d:%s", at, md5(match(key, "^[^|]*")))
end

-- Whether the file changed within this time, since the last purge that concerns it.
local function has_changed(state, key)
    local at = tonumber(match(state.last_change or "", "^%d+"))
    return at ~= nil and at > time() - CHANGED_SECONDS and state.last_change == format_change(key, at)
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
    if not leaders.can_send_back() or settings.relay or request.simulated or response.status ~= 200
        or (tonumber(header["Content-Length"]) or 0) <= _M.LARGE_BYTES then
        return false
    end
    local url = keys.url_of(key)
    local is_sliced = can_be_sliced(site, response, url)
        and note_state(site.id, url, { last_change = state_of(url).last_change, etag = joined(header["ETag"]) })
    if is_sliced or var.http_x_e_method == "HEAD" then
        restart_lookup()
        return true
    end
    return false
end

-- Without room for the state, an older one must not stay.
local function replace_state(site_id, url, state)
    if not note_state(site_id, url, state) then
        urls.forget_slices(site_id, url)
    end
end

local function serve_whole(site_id, url, seconds)
    replace_state(site_id, url, { whole_until = time() + seconds })
end

-- Also makes the stored versions unreachable. Visitors cause this, so the purge log does not have it, and need not:
-- the ETag is in the key.
local function serve_changed_whole(site_id, url, key)
    urls.set_version(site_id, url, urls.new_token())
    local whole_until = time() + CHANGED_SECONDS
    replace_state(site_id, url, { whole_until = whole_until, last_change = format_change(key, whole_until) })
end

-- A slice had another ETag than its key. The next requests use slices of this version.
local function note_change(site_id, url, key, state, etag)
    if has_changed(state, key) or not find(etag or "", STRONG_ETAG) then
        serve_changed_whole(site_id, url, key)
    else
        replace_state(site_id, url, { last_change = format_change(key, time()), etag = etag })
    end
end

-- Pages for the edge's own errors do not replace an origin's.
local function is_replaced_by_page(request, status)
    local page = error_pages.find(request.site.doc, status, request.name, request.path)
    return page ~= nil and not page.edgeOnly
end

-- The response for the whole file may be stored or replaced by an error page, a slice's is not. While an origin has
-- trouble, the stored slices are worth more than a page.
local function is_better_whole(request, status)
    return GONE[status] or status >= 300 and status < 400 or status < 500 and is_replaced_by_page(request, status)
end

-- The next 200 for the whole file makes its slices available again: its ETag finds them.
local function request_whole(site_id, url, state)
    replace_state(site_id, url, { last_change = state.last_change })
end

-- The origin may refuse one visitor, or everybody from now on. Responses to slices are not stored, so visitors would
-- wait for each other at nginx's lock.
local function note_refusal(site_id, url, state)
    local refused = state.refused + 1
    if refused == MAX_REFUSED then
        request_whole(site_id, url, state)
    else
        replace_state(site_id, url, { last_change = state.last_change, refused = refused, etag = state.etag })
    end
end

-- Hop B, with the header of a slice without a rule: whether it is stored, and why not. `is_storable`, `reason`: the
-- same for a response that is no slice. Only a 206 with the ETag of the key is stored. After a slice that may not be
-- stored, the next request fetches the whole file: that one perhaps may.
function _M.may_store(request, response, key, is_storable, reason)
    local site_id, url, etag = request.site.doc.id, keys.url_of(key or ""), joined(header["ETag"])
    local status, state = response.status, url and state_of(url)
    if not state or not state.etag then
        return false, "partial"
    end
    local is_of_key = etag ~= nil and md5(etag) == keys.etag_hash(key)
    if status == 206 and is_of_key then
        if not is_storable and not response.authorized then
            serve_whole(site_id, url, CHANGED_SECONDS)
        end
        return is_storable, reason
    end
    if status == 200 and is_of_key then
        serve_whole(site_id, url, shares.MAX_TTL_SECONDS)
    elseif status == 200 then
        serve_changed_whole(site_id, url, key)
    elseif status == 206 and etag ~= state.etag then
        note_change(site_id, url, key, state, etag)
    elseif is_better_whole(request, status) then
        request_whole(site_id, url, state)
    elseif status >= 400 and status < 500 and not TEMPORARY[status] then
        note_refusal(site_id, url, state)
    end
    return false, "partial"
end

-- Whether a response is an error or a redirect of a URL that is served in slices. It may concern only one visitor, so
-- the URL stays as it is.
local function is_error_of_sliced_file(response, url)
    if response.status < 300 then
        return false
    end
    local state = state_of(url)
    return state.is_known and state.whole_until <= time()
end

-- Whether an unstored response shows that its URL is uncacheable. may_store decides what an automatic slice shows.
function _M.is_about_url(response, url)
    if response.authorized then
        return response.why ~= "partial" or not response.slice
    elseif not response.slice then
        return not is_error_of_sliced_file(response, url)
    end
    return response.why ~= "partial" and not response.is_auto_slice
        and (response.status < 300 or not urls.validator(url))
end
return _M
