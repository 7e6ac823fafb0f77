-- Decides whether hop B compresses an uncompressed response, and how. nginx's filters compress by Accept-Encoding,
-- which is rewritten here. Hop A stores the result, so each encoding is made once.
local control = require("edge.http.cache_control")
local settings = require("edge.core.settings")
local vary = require("edge.cache.vary")
local header, var, set_header = ngx.header, ngx.var, ngx.req.set_header
local find, lower, match, sub, tonumber, ipairs = string.find, string.lower, string.match, string.sub, tonumber, ipairs
local type = type

local _M = {}
-- Statuses that nginx's filters compress.
local STATUSES = { [200] = true, [403] = true, [404] = true }

local compiled = setmetatable({}, { __mode = "k" })
local function has(list)
    local made = compiled[list]
    if not made then
        made = {}
        for _, value in ipairs(list) do
            made[value] = true
        end
        compiled[list] = made
    end
    return made
end

local TEXT = has {
    "css", "htm", "html", "js", "json", "map", "md", "mjs", "rss", "svg", "ttf", "txt", "wasm", "webmanifest", "xml",
}

-- Guesses for an unknown URL, or its first response would be stored under another key than later looked for.
function _M.is_likely(path)
    local extension = match(path, "%.([^./]+)$")
    return not extension or TEXT[lower(extension)] == true
end

-- Independent of the visitor's encodings: the uncompressed response is one of the variants.
local function is_eligible(wanted, response)
    local encoding, kind = header["Content-Encoding"], header["Content-Type"]
    if not STATUSES[response.status] or response.slice or response.image or not kind
        or (encoding and encoding ~= "identity")
        -- nginx before 1.23 passes on repeated fields and cannot weaken one of two validators.
        or type(header["ETag"]) == "table" then
        return false
    end
    local length = tonumber(header["Content-Length"])
    return (not length or length >= wanted.minBytes)
        and has(wanted.types)[lower(match(kind, "^%s*([^;%s]*)"))] == true
        and not control.parse(response.control_text)["no-transform"]
end

local function chosen(wanted)
    local accepted = var.http_accept_encoding or ""
    if wanted.brotli and settings.brotli and find(accepted, "br", 1, true) then
        return "br"
    end
    return wanted.gzip and find(accepted, "gzip", 1, true) and "gzip" or nil
end

function _M.apply(site, response)
    local wanted = settings.compression ~= false and site.compression or nil
    local encoding
    -- The relay has compressed it.
    if wanted and not response.relayed and is_eligible(wanted, response) then
        local before = response.vary_text
        response.vary_text = before and before .. ", Accept-Encoding" or "Accept-Encoding"
        response.names = vary.names(response.vary_text)
        encoding = chosen(wanted)
        local etag = encoding and header["ETag"]
        if etag and sub(etag, 1, 2) ~= "W/" then
            header["ETag"] = "W/" .. etag
        end
    end
    response.compressed = encoding
    set_header("Accept-Encoding", encoding or "identity")
end
return _M
