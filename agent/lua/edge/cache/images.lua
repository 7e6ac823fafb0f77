-- WebP conversion. A service beside nginx converts: hop B sends likely images through it (@image), and it requests the
-- image from hop B again. That second response is decided as usual, with X-E-Image to order the conversion. If the
-- field arrives unhandled, the original is cached briefly and requested again later.
local accepts = require("edge.http.accepts")
local object_age = require("edge.cache.object_age")
local control = require("edge.http.cache_control")
local counters = require("edge.core.counters")
local keys = require("edge.cache.keys")
local paths = require("edge.core.paths")
local set = require("edge.core.set")
local settings = require("edge.core.settings")
local urls = require("edge.cache.urls")
local vary = require("edge.cache.vary")
local header, var, time = ngx.header, ngx.var, ngx.time
local clear_header = ngx.req.clear_header
local find, lower, match, sub, min, tonumber = string.find, string.lower, string.match, string.sub, math.min, tonumber
local type = type

local _M = {}
local EXTENSIONS = { jpg = "image/jpeg", jpeg = "image/jpeg", png = "image/png" }
-- Seconds that an original is cached while conversion is unavailable.
local MEANWHILE = 300

-- Only responses that are stored are converted, or each visitor would cost a conversion.
local function is_for_the_store()
    local state = var.http_x_e_state
    return state and sub(state, 1, 5) ~= "AGAIN" and (var.http_x_e_slice or "") == ""
end

-- A relay stores originals. The edge node converts them.
local function wanted_of(site)
    return settings.webp and not settings.relay and site.webp or nil
end

-- A guess for an unknown URL.
function _M.is_likely(site, path)
    local wanted = wanted_of(site)
    local kind = wanted and EXTENSIONS[paths.extension(path)]
    return kind and set(wanted.types)[kind] or false
end

-- The stored object predates the site's setting, and a 304 would keep it.
local function ask_for_the_whole()
    clear_header("If-None-Match")
    clear_header("If-Modified-Since")
end

-- Hop B, before the origin is chosen.
function _M.origin_access(site, request)
    local wanted = wanted_of(site)
    if not wanted and var.http_x_e_state ~= "EXPIRED" or request.simulated or var.http_x_e_image
        or not is_for_the_store() or not accepts.webp(var.http_accept) then
        return nil
    end
    local url = keys.url_of(var.http_x_e_key or "")
    local recipe = url and urls.recipe(url)
    local is_known = recipe and vary.by_webp(recipe)
    if not wanted then
        if is_known then
            ask_for_the_whole()
            request.was_image = true
        end
        return nil
    end
    if not is_known and not _M.is_likely(site, request.path) then
        return nil
    end
    if not is_known and not urls.is_plain(url) then
        ask_for_the_whole()
    end
    return "@image"
end

-- An image that is stored unconverted.
function _M.note_plain(request, key)
    if var.http_x_e_image then
        urls.note_plain(request.site.doc.id, keys.url_of(key))
    elseif request.was_image then
        urls.forget_recipe(keys.url_of(key))
    end
end

-- Independent of the visitor's Accept: the original is one of the variants.
function _M.is_wanted(site, response)
    local wanted, kind, encoding = wanted_of(site), header["Content-Type"], header["Content-Encoding"]
    if not wanted or response.status ~= 200 or response.method ~= "GET" or not kind
        or (encoding and encoding ~= "identity") or not is_for_the_store()
        -- nginx before 1.23 passes on repeated fields and cannot weaken one of two validators.
        or type(header["ETag"]) == "table" then
        return false
    end
    local length = tonumber(header["Content-Length"])
    return set(wanted.types)[lower(match(kind, "^%s*([^;%s]*)"))] == true
        and (not length or length >= wanted.minBytes and length <= wanted.maxBytes)
        -- Downloads keep the name and format of the origin.
        and not find(lower(control.joined(header["Content-Disposition"]) or ""), "attachment", 1, true)
        and not control.parse(response.control_text)["no-transform"]
end

-- Both forms get the origin's validator, made weak.
function _M.separate_formats(response)
    local before = response.vary_text
    response.names = vary.names((before and before .. "," or "") .. vary.WEBP)
    response.vary_text = before and before .. ", Accept" or "Accept"
    response.webp = accepts.webp(var.http_accept)
    local etag = response.webp and header["ETag"]
    if etag and sub(etag, 1, 2) ~= "W/" then
        header["ETag"] = "W/" .. etag
    end
end

-- Without validators, since the question is not whether the origin's image changed.
local function postpone()
    counters.count("imagesPostponed")
    local left = tonumber(header["X-Accel-Expires"])
    if left then
        left = min(left, MEANWHILE - 1)
        local generated_at, _, closer = object_age.unpack(tonumber(header["X-E-Birth"]))
        header["X-Accel-Expires"] = left
        header["X-E-Birth"] = object_age.pack(generated_at, time() - generated_at + left + 1, closer)
    end
    header["ETag"], header["Last-Modified"] = nil, nil
end

-- Called when it is decided how the response is stored.
function _M.order(site, request, response)
    if not response.webp or request.simulated then
        return
    end
    if var.http_x_e_image then
        header["X-E-Image"] = site.webp.quality .. " " .. site.webp.minBytes .. " " .. site.webp.maxBytes .. " " .. site.id
    else
        -- The URL did not look like an image. The next request will go through the service.
        postpone()
    end
end

-- The response from the service, or from hop B when the service is down. True: there is none.
function _M.received()
    local order = header["X-E-Image"]
    if order == "close" or (ngx.status >= 502 and find(var.upstream_header_time or "", "%-$")) then
        return true
    end
    if order then
        header["X-E-Image"] = nil
        postpone()
    end
end
return _M
