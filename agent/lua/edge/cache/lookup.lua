-- Hop A, before the cache lookup: the request's cache key, and whether it may be served from the cache.
local accepts = require("edge.http.accepts")
local auto_slices = require("edge.cache.auto_slices")
local compression = require("edge.cache.compression")
local cookies = require("edge.cache.cookies")
local disk = require("edge.cache.disk")
local images = require("edge.cache.images")
local cjson = require("cjson.safe")
local keys = require("edge.cache.keys")
local leaders = require("edge.cache.leaders")
local marks = require("edge.cache.marks")
local purge_timestamps = require("edge.shield.purge_timestamps")
local requests = require("edge.core.request")
local rules = require("edge.cache.rules")
local settings = require("edge.core.settings")
local site_generation = require("edge.cache.site_generation")
local steering = require("edge.http.steering_fields")
local stored = require("edge.cache.stored")
local urls = require("edge.cache.urls")
local vary = require("edge.cache.vary")
local visitor_control = require("edge.cache.visitor_control")
local get_headers, set_header, clear_header = ngx.req.get_headers, ngx.req.set_header, ngx.req.clear_header
local var, time, max, sub = ngx.var, ngx.time, math.max, string.sub
local token_of = urls.token

local _M = {}
local SAFE = { GET = true, HEAD = true, OPTIONS = true }
local STORED = { GET = true, HEAD = true }

-- Whether a POST's response may be stored for later GETs. A POST ignores key cookies and key fields.
local function stores_post(site, request, rule)
    return site.storePost and request.method == "POST" and not site.passHeaders and not settings.relay
        and not (rule and (rule.cookies or rule.passCookies or rule.slices or rules.never_stores(rule)))
end

-- Decided by request line and site, and remembered with the request.
local function plan(site, request)
    -- Read before the prefix: versions of an earlier generation only cost a miss.
    local generation = site_generation.of(site.id)
    local rule = rules.of(site, request)
    local host, target = request.host.doc, request.name .. request.path
    local marked = marks.of(site.id, target)
    local uri = rules.key_uri(rule, request.uri)
    local made = {
        generation = generation,
        url = request.name .. uri,
        prefix = keys.prefix(site, host, target, marked),
        never = not STORED[request.method] or (rule ~= nil and rules.never_stores(rule)),
        unsafe = not SAFE[request.method],
    }
    made.honours_visitor = site.honourVisitors
    made.stores_post = stores_post(site, request, rule)
    made.found = rule
    made.compressible = site.compression ~= nil and compression.is_likely(request.path)
    made.image = not made.never and images.is_likely(site, request.path)
    if rule and not made.never then
        made.rule = rule
        made.slices = rule.slices and settings.slices
        made.by_cookies = rule.cookies ~= nil
        made.pass_cookies = rule.passCookies ~= nil
        made.odd = made.slices or made.by_cookies or made.pass_cookies
        -- Parameters that are not in the key must not change a stored response. Edge nodes send relays only the others.
        made.uri = uri ~= request.uri and not settings.relay and uri or nil
    end
    if not made.never then
        made.pass_headers = site.passHeaders
        made.odd = made.odd or made.pass_headers ~= nil
    end
    -- For slices nothing is compared: any purge that may concern them does.
    made.slice_prefix = marked and made.prefix .. "." .. (marked.soft or "") .. "." .. (marked.tagged or "") or made.prefix
    if made.slices then
        made.prefix = made.slice_prefix
    elseif marked then
        made.soft, made.tagged = marked.soft, marked.tagged
    end
    request.cache = made
    return made
end

-- Entries about the URL, remembered until its token changes.
local function learn(made, request, token)
    local url, site_id = made.url, request.site.doc.id
    -- The token may be evicted while other entries of the URL still exist.
    local has_entries = urls.has_entries(site_id)
    local recipe = has_entries and urls.recipe(url)
    made.token = token
    recipe = recipe or made.image and vary.ahead(site_id, url) or nil
    made.recipe = recipe
    made.hash = recipe and vary.by_encoding_alone(recipe) and vary.hash(recipe, request.encoding) or nil
    made.hashes = recipe and vary.by_webp_alone(recipe) and {
        [true] = vary.hash(recipe, "", true), [false] = vary.hash(recipe, "", false),
    } or nil
    local scope = has_entries and keys.scope(request, made.prefix)
    made.pass_until = scope and urls.pass_until(url, scope) or 0
    made.personal_until = scope and urls.pass_until(url, scope, true) or 0
    -- Not by the recipe: the first response would be stored under another key than later looked for.
    made.left = made.prefix .. "|" .. request.at .. "|" .. (made.compressible and request.encoding or "")
    made.softened = has_entries and urls.softened(url, made.generation) or nil
    local etag = has_entries and not made.never and not made.odd and not made.image and auto_slices.etag(url) or nil
    made.is_auto_sliced = etag ~= nil
    local version = made.version or has_entries and urls.version(url, made.generation) or ""
    -- Slices are not revalidated: after a soft purge they are not found.
    if made.softened and (made.slices or made.is_auto_sliced) then
        version = version .. "~" .. made.softened
    end
    made.right = "|" .. version .. "|" .. url
    made.key = made.left .. made.right
    if etag then
        made.key = made.slice_prefix .. sub(made.left, #made.prefix + 1) .. "~" .. ngx.md5(etag) .. made.right
    end
    made.looked = nil
end

local function in_slices()
    var.e_accept = "identity"
    return "@slice"
end

-- Rare options: cookies that bypass the cache, key cookies and fields, and slices.
local function by_rule(made)
    local text = var.http_cookie
    if made.pass_cookies and text and cookies.pass(made.rule, text) then
        return "@pass"
    end
    if made.by_cookies or made.pass_headers then
        local mark = made.by_cookies and cookies.mark(made.rule, text) or ""
        if made.pass_headers then
            mark = mark .. steering.mark(made.pass_headers)
        end
        if mark ~= "" then
            var.e_key = made.left .. "~" .. urls.born() .. mark .. made.right
        end
    end
    if made.slices then
        return in_slices()
    end
end

-- The cache strips the visitor's conditions and ranges and turns HEAD into GET. They reach the origin only when it is
-- bypassed.
local function is_changed_by_store()
    local headers = get_headers(0)
    return var.request_method == "HEAD" or headers["Range"] or headers["If-None-Match"] or headers["If-Modified-Since"]
        or headers["If-Match"] or headers["If-Unmodified-Since"]
end

-- For a currently uncacheable URL: bypass the cache where it would strip something. Otherwise go through it, so that a
-- response that became cacheable is stored.
local function bypass_cache(made, now)
    if made.pass_until > now then
        if is_changed_by_store() then
            return "@pass"
        end
        var.e_bypass = "1"
    end
    -- Personal responses are not stored, so these requests do not wait for each other.
    if made.personal_until > now and var.http_authorization then
        return "@pass"
    end
end

local function later(a, b)
    return a and b and max(a, b) or a or b
end

-- When the origin got the request for the stored object, or for its last renewal (milliseconds). nil: unknown. The
-- file's date is later, so by the date alone a purge during the fetch would not concern the object.
local function last_request_at(key, found)
    local newer = urls.freshened(key .. ":" .. (found.validator or ""))
    return later(found.requested_at, newer and cjson.decode(newer).asked)
end

-- Whether a stored object was purged: "obsolete" and since when, or the time (milliseconds) before which it is stale.
local function verdict(site, made, key, found)
    local hard, soft
    if made.tagged and not found.known then
        return "obsolete"
    elseif made.tagged then
        hard, soft = marks.of_tags(site.id, found.tags)
    end
    if hard and (found.requested_at or found.date) <= hard then
        return "obsolete", hard
    end
    soft = later(soft, later(made.soft, made.softened))
    if soft and (last_request_at(key, found) or found.date) <= soft then
        return found.known and soft or "obsolete"
    end
end

-- Checks the file that nginx is about to open. True: it is obsolete, with everything of its URL. Remembered only for a
-- file that was requested after the purges: until then an older response may be in transit.
local function settle(site, made, key, simulated)
    local variant = var.http_x_e_vary or ""
    local what = key .. variant
    if made.looked == what then
        return false
    end
    local found = stored.find(key, variant)
    if not found then
        return false
    end
    local result, since = verdict(site, made, key, found)
    if result == "obsolete" and simulated then
        made.version = urls.new_token()
        return true
    elseif result == "obsolete" then
        urls.set_version(site.id, made.url, urls.new_token(since))
        stored.remove(found.path)
        return true
    end
    if result then
        if found.valid * 1000 >= result then
            stored.soften(found.path, result)
        end
    else
        made.looked = what
    end
    return false
end

-- The key, and the next location unless it is the cache.
local function locate(made, request)
    var.e_key = made.key
    local place = made.odd and by_rule(made) or made.is_auto_sliced and in_slices() or nil
    -- The response to a request with such a cookie is not stored.
    if made.uri and place ~= "@pass" then
        var.e_uri = made.uri
    end
    if made.recipe then
        set_header("X-E-Vary", made.hash or made.hashes and made.hashes[accepts.webp(var.http_accept)]
            or vary.hash(made.recipe, request.encoding))
    end
    if made.pass_until == 0 and made.personal_until == 0 then
        return place
    end
    return bypass_cache(made, time()) or place
end

-- On a relay: objects that were purged at an edge node are not served to it. A response requested from the origin
-- before `hard` (milliseconds) is obsolete, before `soft` it is revalidated. Slices are all dropped unless this node
-- knows of a purge as recent.
function _M.refresh(site, request, hard, soft, place)
    local made, key = request.cache, var.e_key
    local obsolete, found = false, nil
    if place then
        local own, own_soft = purge_timestamps.of(site.id, made.url, request.name .. request.path)
        obsolete = later(hard, soft) > (later(own, own_soft) or 0)
    else
        found = stored.find(key, var.http_x_e_vary or "")
        local last_request = found and (last_request_at(key, found) or 0)
        obsolete = found ~= nil and (hard ~= nil and last_request <= hard or not found.known)
        if found and not obsolete and soft and last_request <= soft then
            stored.soften(found.path, time() * 1000)
        end
    end
    if not obsolete then
        return place
    end
    urls.set_version(site.id, made.url, urls.new_token(hard))
    if found then
        stored.remove(found.path)
    end
    learn(made, request, token_of(made.url))
    return locate(made, request)
end

-- After waiting for another request: the next location unless it is the cache. The leader's origin request may
-- precede a purge that this request knows of.
function _M.wait()
    local asks_store = leaders.wait()
    local request = not settings.relay and requests:visitor()
    local made = request and request.cache
    -- The first response showed that the URL is a large file.
    if made and auto_slices.etag(made.url) then
        learn(made, request, token_of(made.url))
        if made.is_auto_sliced then
            return locate(made, request)
        end
    end
    if not asks_store then
        return is_changed_by_store() and "@pass" or nil
    end
    if made and (made.soft or made.tagged or made.softened) and settle(request.site.doc, made, var.e_key) then
        learn(made, request, token_of(made.url))
        return locate(made, request)
    end
end

-- While nothing can be stored, misses go straight to the origin and do not wait for each other.
local function around_full_disk(made, place)
    if place and place ~= "@slice" then
        return place
    end
    local key = place and var.e_key .. auto_slices.FIRST_SLICE or var.e_key
    if stored.find(key, var.http_x_e_vary or "") then
        return place
    end
    made.disk_full = true
    return "@pass"
end

function _M.access(site, request)
    local made = request.cache or plan(site, request)
    if made.tick ~= request.tick then
        local evictions, token = urls.evictions(site.id), token_of(made.url)
        if token ~= made.token or not token and evictions ~= made.evictions or not made.tick then
            learn(made, request, token)
        end
        made.tick, made.evictions = request.tick, evictions
    end
    -- Only hop A names the variant of a request.
    if request.odd and var.e_forged ~= "" then
        clear_header("X-E-Vary")
    end
    if made.never then
        var.e_key = made.key
        if made.unsafe then
            local version = urls.new_token()
            var.e_version = version
            -- The cache would strip the visitor's conditions.
            if made.stores_post and not is_changed_by_store() then
                var.e_key = made.left .. "|" .. version .. "|" .. made.url
                return "@post"
            end
        end
        return "@pass"
    end
    if request.odd then
        -- The body is not in the key, so the response to a GET with one is not shared.
        if var.e_upgrade ~= "" or var.e_body ~= "" then
            var.e_key = made.key
            return "@pass"
        end
        -- RFC 9110 13.1.3: If-None-Match overrides If-Modified-Since.
        if var.http_if_none_match then
            clear_header("If-Modified-Since")
        end
    end
    local place = locate(made, request)
    if (made.soft or made.tagged or made.softened) and not place and settle(site, made, var.e_key, request.simulated) then
        learn(made, request, token_of(made.url))
        place = locate(made, request)
    end
    if made.honours_visitor and (var.http_cache_control or var.http_pragma) then
        place = visitor_control.apply(place)
    end
    if disk.is_full then
        place = around_full_disk(made, place)
    end
    return place or made.uri and "@signed" or nil
end
return _M
