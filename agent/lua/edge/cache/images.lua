-- Which images go to visitors as WebP, and how they come to be that. The work is done by a service beside nginx: hop B
-- lets what is likely to be such an image go through it (@image), and the service asks hop B once more for what it shall
-- look at. That second time decides as ever, and says by X-E-Image that the answer is to be converted. Where the field
-- comes back, nobody has done it: then the original is kept for a while only, and asked for anew.
local accepts = require("edge.http.accepts")
local birth_of = require("edge.cache.birth")
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
-- For how many seconds an original stands in.
local MEANWHILE = 300

-- Other ways than the store's keep nothing, and what is not kept would be made anew for each visitor.
local function is_for_the_store()
    local state = var.http_x_e_state
    return state and sub(state, 1, 5) ~= "AGAIN" and (var.http_x_e_slice or "") == ""
end

-- Where a relay is asked it keeps originals: what becomes of them is the edge node's.
local function wanted_of(site)
    return settings.webp and not settings.relay and site.webp or nil
end

-- Before anything is known of a URL.
function _M.is_likely(site, path)
    local wanted = wanted_of(site)
    local kind = wanted and EXTENSIONS[paths.extension(path)]
    return kind and set(wanted.types)[kind] or false
end

-- What is stored was fetched when the site wanted something else: a 304 would keep it for good.
local function ask_for_the_whole()
    clear_header("If-None-Match")
    clear_header("If-Modified-Since")
end

-- Hop B, before an origin is chosen.
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

-- Of what is stored as it is.
function _M.note_plain(request, key)
    if var.http_x_e_image then
        urls.note_plain(keys.url_of(key))
    elseif request.was_image then
        urls.forget_recipe(keys.url_of(key))
    end
end

-- Whatever the visitor takes: the original is one of the variants.
function _M.is_wanted(site, response)
    local wanted, kind, encoding = wanted_of(site), header["Content-Type"], header["Content-Encoding"]
    if not wanted or response.status ~= 200 or response.method ~= "GET" or not kind
        or (encoding and encoding ~= "identity") or not is_for_the_store()
        -- nginx before 1.23 passes on repeated fields, and of two validators it cannot make weak ones.
        or type(header["ETag"]) == "table" then
        return false
    end
    local length = tonumber(header["Content-Length"])
    return set(wanted.types)[lower(match(kind, "^%s*([^;%s]*)"))] == true
        and (not length or length >= wanted.minBytes and length <= wanted.maxBytes)
        -- What is downloaded is called what the origin calls it.
        and not find(lower(control.joined(header["Content-Disposition"]) or ""), "attachment", 1, true)
        and not control.parse(response.control_text)["no-transform"]
end

-- From then on there are two of it. The validator is the origin's, and weak: of two forms of one image.
function _M.tell_apart(response)
    local before = response.vary_text
    response.names = vary.names((before and before .. "," or "") .. vary.WEBP)
    response.vary_text = before and before .. ", Accept" or "Accept"
    response.webp = accepts.webp(var.http_accept)
    local etag = response.webp and header["ETag"]
    if etag and sub(etag, 1, 2) ~= "W/" then
        header["ETag"] = "W/" .. etag
    end
end

-- Without validators: whether the origin's image changed is not what is to be asked.
local function postpone()
    counters.count("imagesPostponed")
    local left = tonumber(header["X-Accel-Expires"])
    if left then
        left = min(left, MEANWHILE - 1)
        local birth, _, closer = birth_of.unpack(tonumber(header["X-E-Birth"]))
        header["X-Accel-Expires"] = left
        header["X-E-Birth"] = birth_of.pack(birth, time() - birth + left + 1, closer)
    end
    header["ETag"], header["Last-Modified"] = nil, nil
end

-- When it is known how the answer is stored.
function _M.order(site, request, response)
    if not response.webp or request.simulated then
        return
    end
    if var.http_x_e_image then
        header["X-E-Image"] = site.webp.quality .. " " .. site.webp.minBytes .. " " .. site.webp.maxBytes .. " " .. site.id
    else
        -- It did not look like an image, and next time it will.
        postpone()
    end
end

-- What came by way of the service, or past it where it is not there. True: there is no answer.
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
