-- Hop A, when the response headers are known: Age and Cache-Status (RFC 9211), and the slow path of special responses.
local cjson = require("cjson.safe")
local lrucache = require("resty.lrucache")
local unpack_age = require("edge.cache.object_age").unpack
local leaders = require("edge.cache.leaders")
local tags = require("edge.cache.tags")
local settings = require("edge.core.settings")
local urls = require("edge.cache.urls")
local vary = require("edge.cache.vary")
local header, var, time = ngx.header, ngx.var, ngx.time
local tonumber, gmatch, pairs, select = tonumber, string.gmatch, pairs, select
local max, floor, concat = math.max, math.floor, table.concat

local _M = {}
local decoded = lrucache.new(1000)
-- Two caches on one path need two names.
local NAME = settings.relay and "Edgeloom-Relay" or "Edgeloom"
local HIT = NAME .. "; hit; ttl="
local FROM_STORE = { HIT = true, REVALIDATED = true, STALE = true, UPDATING = true }
-- Why the request was forwarded.
local FORWARDED = {
    MISS = "uri-miss", EXPIRED = "stale", STALE = "stale", REVALIDATED = "stale", BYPASS = "bypass",
}

-- `ttl` when the response is being stored. The header precedes the body, so it cannot contain `stored`.
local function forwarded(state, ttl)
    local reason = FORWARDED[state]
    if state == "MISS" and var.http_x_e_vary then
        reason = "vary-miss"
    elseif not reason then
        local method = var.request_method
        reason = (method == "GET" or method == "HEAD") and "bypass" or "method"
    end
    local text = NAME .. "; fwd=" .. reason
    if state == "REVALIDATED" then
        return text .. "; fwd-status=304; stored"
    end
    if state == "STALE" then
        return text .. "; detail=stale-if-error"
    end
    local status = var.upstream_status
    if status and status ~= "" then
        text = text .. "; fwd-status=" .. (status:match("%d+$") or status)
    end
    return ttl and text .. "; ttl=" .. ttl or text
end

-- Caches nearer to the origin come first.
local function set_cache_status(text)
    local before = var.upstream_http_cache_status
    header["Cache-Status"] = before and before .. ", " .. text or text
end

local function hide(names)
    for name in gmatch(names, "[^,]+") do
        header[name] = nil
    end
end

-- Browsers count from the origin's Date, so the age is added to the remaining lifetime.
local function set_browser_lifetime(age)
    local seconds = not settings.relay and var.upstream_http_x_e_browser
    if seconds then
        var.e_cache_control = seconds == "0" and "no-cache" or "max-age=" .. seconds + age
    end
end

-- A 304 renews nginx's expiry of an object, not its fields. The newer fields are in the dictionary. Returns when the
-- origin generated the 304, its lifetime, and the time of the request to the origin (milliseconds).
local function freshened()
    local text = urls.freshened(var.e_key .. ":" .. (var.upstream_http_etag or var.upstream_http_last_modified or ""))
    if not text then
        return nil
    end
    local newer = decoded:get(text)
    if not newer then
        newer = cjson.decode(text)
        decoded:set(text, newer)
    end
    for name, value in pairs(newer.fields) do
        header[name] = value
    end
    if newer.control then
        var.e_cache_control = newer.control
    end
    if newer.fields["Expires"] and var.upstream_http_x_e_browser then
        header["Expires"] = nil
    end
    return newer.birth, newer.lifetime, newer.asked
end

-- nginx needs the length to handle ranges. Only responses of 200 arrive in chunks.
local function restore_length()
    local length = var.upstream_http_x_e_length
    if length and ngx.status == 200 then
        header["Content-Length"] = length
    end
end

local function stored_answer(state, generated_at, lifetime, closer)
    if closer then
        restore_length()
        local names = var.upstream_http_x_e_hide
        if names and state ~= "REVALIDATED" then
            hide(names)
        end
    end
    local age = time() - generated_at
    if age >= lifetime then
        local newer, newer_lifetime = freshened()
        if newer then
            age, lifetime = time() - newer, newer_lifetime or lifetime
        end
    end
    age = age > 0 and age or 0
    header["Age"] = age
    if closer then
        set_browser_lifetime(age)
    end
    if state == "HIT" then
        set_cache_status(HIT .. lifetime - age)
    elseif state == "UPDATING" then
        set_cache_status(HIT .. lifetime - age .. "; detail=stale-while-revalidate")
    else
        set_cache_status(forwarded(state))
    end
end

local function fetched_answer(state, packed)
    restore_length()
    local recipe = var.upstream_http_x_e_recipe
    if recipe then
        -- nginx hashes this field when it stores the file, which is after this filter.
        local hash = vary.hash(recipe, var.e_encoding)
        ngx.req.set_header("X-E-Vary", hash)
        local turn = var.upstream_http_x_e_turn
        if turn then
            leaders.note_variant(turn, hash)
        end
    end
    local generated_at, lifetime = time(), 0
    if packed then
        generated_at, lifetime = unpack_age(packed)
    end
    local age = max(time() - generated_at, 0)
    if age > 0 then
        header["Age"] = age
    end
    set_browser_lifetime(age)
    local is_storable = FORWARDED[state] and packed and var.upstream_http_x_accel_expires ~= "0"
    set_cache_status(forwarded(state, is_storable and lifetime - age or nil))
end

function _M.header_filter()
    local state = var.upstream_cache_status
    local packed = tonumber(var.upstream_http_x_e_birth)
    if state == "HIT" and packed then
        local generated_at, lifetime, closer = unpack_age(packed)
        local age = time() - generated_at
        if age >= 0 and age < lifetime and not closer then
            header["Age"] = age
            header["Cache-Status"] = HIT .. lifetime - age
            return
        end
        return stored_answer(state, generated_at, lifetime, closer)
    end
    if packed and FROM_STORE[state] then
        return stored_answer(state, unpack_age(packed))
    end
    if var.upstream_status then
        return fetched_answer(state, packed)
    end
    set_cache_status(NAME .. "; detail=own-answer")
end

-- On a relay, after the filter: facts for the edge node, with the tags. The lifetime since the response left the origin
-- ("-": the edge node decides), and the milliseconds since the request to the origin.
function _M.for_edge()
    local state, packed = var.upstream_cache_status, tonumber(var.upstream_http_x_e_birth)
    local arrived_at = ngx.req.start_time() * 1000
    local requested_at, list = arrived_at, nil
    local field = var.upstream_http_x_e_tags
    if field then
        requested_at, list = tags.read(field)
    end
    local lifetime
    if packed and var.upstream_http_x_accel_expires ~= "0" then
        lifetime = select(2, unpack_age(packed))
    end
    if FROM_STORE[state] and state ~= "REVALIDATED" then
        local _, newer_lifetime, newer_requested_at = freshened()
        lifetime, requested_at = newer_lifetime or lifetime, max(requested_at, newer_requested_at or 0)
    elseif state == "REVALIDATED" then
        requested_at = arrived_at
    end
    return (lifetime or "-") .. "," .. max(0, floor(arrived_at - requested_at)), list and list[1] and concat(list, ",") or nil
end
return _M
