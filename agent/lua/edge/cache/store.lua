-- Hop B, when the origin has responded: whether hop A stores the response, for how long, in which variants, and what an
-- unsafe method invalidates. Hop A receives the decision in private fields:
-- X-Accel-Expires  0: not stored; n: fresh for n more seconds; @1: stored as stale, so that it is always revalidated
-- Cache-Control    how long it may be served stale (before X-Accel-Expires: nginx 1.22 reads them in order)
-- Vary             X-E-Vary, if there are variants
-- X-E-CC, X-E-V    the origin's own Cache-Control and Vary, for visitors
-- X-E-Birth        see object_age.lua; X-E-Recipe: see vary.lua; X-E-Hide: fields for the first visitor only
-- X-E-Tags         see tags.lua
-- X-E-Length       the length of a body that arrives in chunks
-- X-E-Browser      lifetime in browsers, in seconds from now
-- X-E-Unbuffered   from a relay: the origin wants the response to be sent piece by piece
local auto_slices = require("edge.cache.auto_slices")
local object_age = require("edge.cache.object_age")
local content_types = require("edge.cache.content_types")
local compression = require("edge.cache.compression")
local control = require("edge.http.cache_control")
local dates = require("edge.http.dates")
local disk = require("edge.cache.disk")
local fields = require("edge.http.fields")
local freshness = require("edge.cache.freshness")
local images = require("edge.cache.images")
local keys = require("edge.cache.keys")
local large_fetches = require("edge.cache.large_fetches")
local leaders = require("edge.cache.leaders")
local paths = require("edge.core.paths")
local relay_request = require("edge.shield.relay_request")
local rules = require("edge.cache.rules")
local settings = require("edge.core.settings")
local tags = require("edge.cache.tags")
local unlink = require("edge.cache.unlink")
local upstream_attempts = require("edge.origin.upstream_attempts")
local urls = require("edge.cache.urls")
local vary = require("edge.cache.vary")
local joined = control.joined
local header, var, time, now = ngx.header, ngx.var, ngx.time, ngx.now
local floor, max, min, tonumber, tostring, type = math.floor, math.max, math.min, tonumber, tostring, type
local ipairs, find = ipairs, string.find
local lower, gsub, match = string.lower, string.gsub, string.match

local _M = {}

local function set(list)
    local has = {}
    for _, value in ipairs(list) do
        has[value] = true
    end
    return has
end

local SAFE = set { "GET", "HEAD", "OPTIONS", "TRACE" }
-- Statuses that may be stored under must-understand (RFC 9111 5.2.2.3).
local UNDERSTOOD = set {
    200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 414, 500, 501, 502, 503, 504,
}
-- Statuses that a rule's lifetime applies to when the origin states none. Not-found statuses get a short one.
local RULED = set { 200, 203, 300, 301, 308 }
local RULED_BRIEFLY = set { 404, 410 }
local BRIEFLY = 10
-- Statuses with heuristic freshness (RFC 9110 15.1).
local GUESSED = set { 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501 }
local MOST = 2147483648
local FAILURES = set { 500, 502, 503, 504 }
-- How long an uncacheable URL is remembered (hit-for-miss).
local UNCACHEABLE_SECONDS, FAILURE_SECONDS = 3600, 10
-- Shorter than any response header. A larger bound would stream small complete bodies and make hits slower.
local MIN_HEADER_BYTES = 100

-- The properties of the response that the decision needs.
local function read_response(site, request, relayed)
    local slice = var.http_x_e_slice
    local response = {
        status = ngx.status,
        method = ngx.req.get_method(),
        path = request.path,
        rule = rules.of(site, request),
        time = time(),
        control_text = joined(header["Cache-Control"]),
        vary_text = joined(header["Vary"]),
        authorized = var.http_authorization ~= nil,
        -- Over HTTP/2 hop A does not see a body of unknown length.
        has_body = var.http_transfer_encoding ~= nil or (var.http_content_length or "0") ~= "0",
        slice = slice and slice ~= "" and slice or nil,
        tags = joined(header["Cache-Tag"]),
        relayed = relayed ~= nil,
        requested_at = relayed and relayed.requested_at or ngx.req.start_time(),
    }
    response.is_auto_slice = response.slice ~= nil and not (response.rule and response.rule.slices)
    header["Cache-Tag"] = nil
    local facts = {
        Age = header["Age"], Date = header["Date"], Expires = header["Expires"], ["Last-Modified"] = header["Last-Modified"],
    }
    local targeted = control.parse_targeted(joined(header["CDN-Cache-Control"]))
    response.control = targeted or control.parse(response.control_text)
    response.age = freshness.age(facts, response.time, floor(now() - ngx.req.start_time()))
    response.generated_at = max(response.time - response.age, 0)
    response.lifetime = freshness.lifetime(facts, response.control, targeted, response.time)
    response.explicit = response.lifetime ~= nil
    response.stated = response.explicit
    response.guessed = freshness.guessed(facts, response.time)
    response.validator = joined(header["ETag"]) or (dates.parse(header["Last-Modified"]) and header["Last-Modified"]) or nil
    response.names = response.vary_text and vary.names(response.vary_text)
    return response
end

-- A slice is stored like the whole file.
local function whole_status(response)
    return response.slice and response.status == 206 and 200 or response.status
end

-- A rule that overrides the origin, or an origin without a lifetime: the rule's time counts from now.
local function ruled_seconds(response)
    local rule, status = response.rule, whole_status(response)
    if RULED[status] then
        return rule.cacheTime
    end
    return RULED_BRIEFLY[status] and min(rule.cacheTime, BRIEFLY)
end

-- A rule replaces the origin's lifetime and no-cache. Its no-store and private stay in force.
local function prohibitions(directives)
    return {
        ["no-store"] = directives["no-store"], ["must-understand"] = directives["must-understand"], private = directives["private"],
        ["no-cache"] = type(directives["no-cache"]) == "string" and directives["no-cache"] or nil,
    }
end

local function apply_rule(site, response)
    local rule, directives = response.rule, response.control
    if rule and rule.overrideOrigin then
        directives["no-store"], directives["private"] = nil, nil
    end
    local forbade = directives["no-store"] or directives["no-cache"] or directives["private"]
    local spoke = response.explicit or forbade
    if rule and rule.cacheTime > 0 and response.method ~= "POST" and not (rule.honourOrigin and spoke) then
        local seconds = ruled_seconds(response)
        if seconds then
            response.lifetime = response.age + seconds
            response.ruled = true
            response.control = prohibitions(directives)
            return
        end
    elseif rule and response.explicit and not forbade then
        response.lifetime = max(response.lifetime, response.age + (rule.minTime or 0))
        response.lifetime = min(response.lifetime, response.age + (rule.maxTime or MOST))
    end
    if not spoke and site.heuristics and (GUESSED[whole_status(response)] or directives["public"]) then
        response.lifetime = response.guessed
        response.explicit = response.guessed ~= nil
    end
end

-- no-cache="field" and private="field" concern these fields only: later visitors do not receive them.
local function qualified_fields(response)
    local directives, names = response.control, nil
    for _, directive in ipairs { "no-cache", "private" } do
        if type(directives[directive]) == "string" then
            local list = gsub(lower(directives[directive]), '["%s]', "")
            names = names and names .. "," .. list or list
            directives[directive] = nil
        end
    end
    return names
end

-- How a stored response's cookies are handled: "strip", "keep", or nil when the response is not stored.
local function cookie_policy(site, response)
    local rule = response.rule
    if rule and rule.stripCookies then
        return "strip"
    end
    -- The site's choice covers responses with a lifetime of the origin. Rules and heuristics do not consider cookies.
    if site.setCookie and response.stated and not response.ruled then
        return site.setCookie
    end
    return rule and rule.overrideOrigin and "strip" or nil
end

-- RFC 9110 9.3.3: with a stated lifetime and its own URL as Content-Location, a POST's response may serve later GETs.
local function may_store_post(site, request, response)
    return site.storePost and var.http_x_e_state ~= nil and response.stated and not response.ruled
        and response.status >= 200 and response.status < 300
        and fields.same_host_path(request.name, request.uri, joined(header["Content-Location"])) == request.uri
end

-- False comes with the reason.
local function may_store(site, request, response)
    local directives, status = response.control, response.status
    if response.method == "POST" then
        if not may_store_post(site, request, response) then
            return false, "method"
        end
    elseif response.method ~= "GET" and response.method ~= "HEAD" then
        return false, "method"
    elseif response.has_body then
        return false, "body"
    end
    if response.rule and rules.never_stores(response.rule) then
        return false, request.path_variants and "ambiguous" or "rule"
    end
    if status == 304 or status < 200 then
        return false, "status"
    end
    if response.names == "*" then
        return false, "vary"
    end
    -- A slice has its own key. An origin that ignores the range may answer with the whole file once.
    if response.slice then
        if status == 200 and not find(response.slice, "^bytes=0%-") then
            return false, "partial"
        end
    elseif status == 206 then
        return false, "partial"
    end
    -- A 416 concerns the range, which is not part of the key.
    if status == 416 then
        return false, "partial"
    end
    if directives["must-understand"] and not UNDERSTOOD[whole_status(response)] then
        return false, "status"
    end
    if directives["no-store"] and not directives["must-understand"] or directives["private"] == true then
        return false, "forbidden"
    end
    if response.authorized and not (directives["public"] or directives["must-revalidate"] or directives["s-maxage"]) then
        return false, "authorization"
    end
    if header["Set-Cookie"] and not cookie_policy(site, response)
        and not (response.hide and find("," .. response.hide .. ",", ",set-cookie,", 1, true)) then
        return false, "setCookie"
    end
    if not content_types.fits(site, response.rule, response.path, response.status, header["Content-Type"]) then
        return false, "contentType"
    end
    return response.ruled or response.explicit or directives["no-cache"] ~= nil, "noTime"
end

-- nginx treats an object as fresh while `valid >= now`, the RFC while `age < lifetime`: hence one second less.
local function accel_expires(response)
    local left = (response.lifetime or 0) - response.age - 1
    if response.control["no-cache"] then
        left = -1
    end
    if left > 0 then
        return tostring(left)
    end
    if left == 0 then
        return "@" .. response.time
    end
    return response.validator and "@1" or "0"
end

-- Unstored responses keep the origin's Cache-Control, unless the rule concerns browsers only.
local function tells_browsers(response)
    local rule = response.rule
    return rule and rules.never_stores(rule) and RULED[response.status] and not response.authorized
        and not header["Set-Cookie"]
end

local function set_browser_lifetime(response)
    local seconds = response.rule and response.rule.browserTime
    if seconds then
        header["X-E-Browser"] = seconds
        header["Expires"] = nil
    end
    return seconds
end

-- Whether an unstored response shows that its URL is uncacheable. Unsatisfiable ranges and request bodies do not.
local function is_about_url(response, url)
    if response.method ~= "GET" or response.status == 416 or response.has_body then
        return false
    end
    return auto_slices.is_about_url(response, url)
end

local function is_refusing_buffers()
    return lower(var.upstream_http_x_accel_buffering or "") == "no" or var.upstream_http_x_e_unbuffered
end

local function is_event_stream()
    return find(lower(joined(header["Content-Type"]) or ""), "^text/event%-stream") ~= nil
end

-- Hop A buffers an unstored response only if its rate is limited: nginx ignores limit_rate otherwise. An origin may
-- refuse buffers, or send events, but not escape the limit that the operator has set for the site.
local function is_buffered(site)
    if (var.http_x_e_rate or "0") == "0" then
        return false
    end
    return site.responseRate or not (is_event_stream() or is_refusing_buffers())
end

-- nginx buffers bodies of known length and streams chunked ones. An incomplete body goes to hop A in chunks, and hop A
-- restores the length.
local function stream(response)
    local length = tonumber(header["Content-Length"])
    if not length or response.status ~= 200 or response.method ~= "GET" or response.slice or response.image
        or response.compressed or var.http_x_e_image then
        return false
    end
    local received = tonumber(match(var.upstream_bytes_received or "", "%d+$")) or 0
    if received >= length + MIN_HEADER_BYTES then
        return false
    end
    header["Content-Length"] = nil
    header["X-E-Length"] = length
    return true
end

local function not_stored(request, response, key)
    local is_storable = response.why == "diskFull" or response.why == "busyVisitor"
    if is_storable or tells_browsers(response) then
        set_browser_lifetime(response)
    end
    header["X-Accel-Expires"] = "0"
    local has_buffers = is_buffered(request.site.doc)
    header["X-Accel-Buffering"] = has_buffers and "yes" or "no"
    if has_buffers and is_event_stream() then
        stream(response)
    end
    -- nginx on a relay does not pass the origin's X-Accel-Buffering on.
    header["X-E-Unbuffered"] = settings.relay and is_refusing_buffers() and 1 or nil
    if response.age > 0 then
        header["X-E-Birth"] = object_age.pack(response.generated_at, 0)
    end
    local url = key and keys.url_of(key)
    if url and not is_storable and is_about_url(response, url) and var.http_x_e_state then
        local has_failed = response.status >= 500 or not var.upstream_status
        urls.note_pass(request.site.doc.id, url, keys.scope(request, key),
            has_failed and FAILURE_SECONDS or UNCACHEABLE_SECONDS, response.authorized)
    end
    header["X-E-CC"] = response.control_text
    header["X-E-V"] = response.vary_text
    header["Cache-Control"] = nil
    header["Vary"] = nil
    header["Age"] = nil
end

-- nginx before 1.23 passes on repeated fields, which are tables here.
local function validator_text()
    return joined(header["ETag"]) or joined(header["Last-Modified"]) or ""
end

-- Slices of two versions do not fit together: nginx aborts where they meet. With the first slice of a new version the
-- whole URL is purged, so that the next visitor starts with it. Slices without a rule have their version in the key.
local function keep_one_version(site, url)
    local validator = validator_text()
    local known = urls.validator(url) or var.http_if_none_match or var.http_if_modified_since
    if known == validator then
        return
    end
    if known then
        urls.set_lasting_version(site.id, url, urls.new_token())
    end
    urls.note_validator(site.id, url, validator)
end

local NO_RULE = {}
local function stored(site, response, key, expires)
    local directives, url = response.control, keys.url_of(key)
    urls.forget_pass(site.id, url, response.authorized)
    urls.forget_freshened(key .. ":" .. validator_text())
    if response.slice and not response.is_auto_slice then
        keep_one_version(site, url)
    end
    local recipe = response.names and vary.recipe(site.id, url, response.names)
    local strict = directives["must-revalidate"] or directives["proxy-revalidate"] or directives["no-cache"]
    local rule = response.rule or NO_RULE
    local while_revalidating = strict and 0
        or rule.staleWhileRevalidate or max(directives["stale-while-revalidate"] or 0, 0)
    local on_error = strict and 0 or rule.staleIfError
        or max(directives["stale-if-error"] or (directives["s-maxage"] and 0 or site.staleIfError), 0)
    if cookie_policy(site, response) == "strip" then
        header["Set-Cookie"] = nil
    end
    local is_streamed = stream(response)
    local closer = set_browser_lifetime(response) or response.hide or header["Cache-Status"] or is_streamed
    header["Age"] = nil
    header["X-E-CC"] = response.control_text
    header["X-E-V"] = response.vary_text
    header["X-E-Recipe"] = recipe
    header["X-E-Hide"] = response.hide
    -- A relay reports the time of the request to the origin.
    if response.tags or settings.relay then
        header["X-E-Tags"] = tags.field(response.tags or "", response.requested_at)
    end
    header["X-E-Birth"] = object_age.pack(response.generated_at, not directives["no-cache"] and response.lifetime or 0, closer)
    header["Vary"] = recipe and "X-E-Vary" or nil
    -- Set again, so that it precedes X-Accel-Expires. Without it nginx does not serve stale responses.
    header["X-Accel-Expires"] = nil
    header["Cache-Control"] = nil
    if while_revalidating + on_error > 0 then
        header["Cache-Control"] = "stale-while-revalidate=" .. while_revalidating .. ", stale-if-error=" .. on_error
    end
    header["X-Accel-Expires"] = expires
end

local UNFRESHENED = set {
    "content-length", "content-encoding", "content-type", "content-range", "transfer-encoding", "connection",
    "x-accel-expires", "cache-control", "vary", "age", "x-request-id", "set-cookie",
    "cache-tag",
}

-- A 304 renews the stored response: nginx its expiry, the dictionary its fields. Without X-Accel-Expires, or with 0,
-- nginx applies the stored lifetime again.
local function freshen(site, response, key)
    header["Cache-Control"] = nil
    header["Vary"] = nil
    if response.has_body then
        header["X-Accel-Expires"] = "@1"
        return
    end
    local directives, newer = response.control, {}
    -- The weak validator of a compressed variant is ours.
    local weak = find(var.http_if_none_match or "", "^W/")
    for name, value in pairs(ngx.resp.get_headers(0, true)) do
        local plain = lower(name)
        local is_newer = not UNFRESHENED[plain] or plain == "set-cookie" and cookie_policy(site, response) == "keep"
        if is_newer and not (weak and plain == "etag") and plain:sub(1, 4) ~= "x-e-" then
            newer[name] = value
        end
    end
    local forbidden = directives["no-cache"] or directives["no-store"] or directives["private"]
    local validator = var.http_if_none_match or var.http_if_modified_since or ""
    urls.note_freshened(site.id, key .. ":" .. validator, {
        fields = newer, birth = response.generated_at, control = response.control_text,
        lifetime = forbidden and 0 or response.lifetime, asked = floor(response.requested_at * 1000),
    })
    if forbidden then
        header["X-Accel-Expires"] = "@1"
    elseif response.lifetime then
        local expires = accel_expires(response)
        header["X-Accel-Expires"] = expires == "0" and "@1" or expires
    else
        header["X-Accel-Expires"] = nil
    end
end

-- A successful unsafe request invalidates its own URL and the URLs it refers to on the same host.
local function invalidate(site, request, key)
    local version = var.http_x_e_version
    if not version or version == "" or request.simulated then
        return
    end
    local url = keys.url_of(key)
    local obsolete = { [url] = true }
    for _, name in ipairs { "Location", "Content-Location" } do
        local path = fields.same_host_path(request.name, request.uri, joined(header[name]))
        if path then
            obsolete[keys.url(request.name, rules.find(site, paths.without_query(path)), path)] = true
        end
    end
    for each in pairs(obsolete) do
        urls.set_version(site.id, each, version)
        unlink.url(site, request.host.doc, each, "")
    end
end

-- RFC 9110 8.6: a response with several lengths is invalid. nginx before 1.23 uses the last of several fields, and
-- ignores lists.
local function has_several_lengths()
    local first, taken = var.upstream_http_content_length, header["Content-Length"]
    if not first or var.upstream_http_transfer_encoding then
        return false
    end
    return find(first, "%D") ~= nil or taken ~= nil and tonumber(first) ~= tonumber(joined(taken))
end

-- An empty file has no ranges, so the origin refuses its first slice.
local function is_empty_file()
    return find(var.http_x_e_slice or "", "^bytes=0%-") and find(joined(header["Content-Range"]) or "", "^bytes %*/0$")
end

local function answer_empty()
    ngx.status = 200
    header["Content-Range"] = nil
    header["Content-Type"] = nil
    header["Content-Length"] = 0
    ngx.ctx.page = ""
end

function _M.origin_header(site, request)
    local status, key = ngx.status, var.http_x_e_key
    -- Slices cannot be revalidated: the whole file would follow what has been sent.
    if var.http_x_e_state == "EXPIRED" and FAILURES[status] and (var.http_x_e_slice or "") == "" then
        return "close"
    end
    header["X-E-Up"] = upstream_attempts.addresses()
    -- nginx before 1.29 takes a 1xx for the final response and waits for the origin to close.
    if status < 200 and status ~= 101 or has_several_lengths() then
        return "close"
    end
    if status == 416 and is_empty_file() then
        status = 200
        answer_empty()
    end
    fields.remove_hop_by_hop(status)
    local relayed = relay_request.response(request)
    if relayed == "close" then
        return relayed
    end
    local response = read_response(site, request, relayed)
    request.response = response
    response.image = images.is_wanted(site, response)
    compression.apply(site, response)
    if not SAFE[response.method] and status >= 200 and status < 400 then
        invalidate(site, request, key)
    end
    apply_rule(site, response)
    if relayed and relayed.lifetime then
        -- The lifetime counts from the relay's response.
        response.lifetime = relayed.lifetime
    end
    if status == 304 and var.http_x_e_state == "EXPIRED" then
        return freshen(site, response, key)
    end
    response.hide = qualified_fields(response)
    local may, why = may_store(site, request, response)
    if response.is_auto_slice then
        may, why = auto_slices.may_store(request, response, key, may, why)
    end
    if may and not disk.has_room_for(tonumber(header["Content-Length"])) then
        may, why = false, "diskFull"
    end
    local expires = key and var.upstream_status and may and accel_expires(response) or "0"
    response.expires, response.why = expires, not may and why or nil
    if expires == "0" then
        return not_stored(request, response, key)
    end
    if auto_slices.end_large_response(site, request, response, key) then
        return
    end
    if not large_fetches.count_fetch(request, response) then
        -- Another visitor may store it.
        leaders.resign()
        response.expires, response.why = "0", "busyVisitor"
        return not_stored(request, response, key)
    end
    if not response.image then
        images.note_plain(request, key)
        return stored(site, response, key, expires)
    end
    images.separate_formats(response)
    stored(site, response, key, expires)
    images.order(site, request, response)
end
return _M
