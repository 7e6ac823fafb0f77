-- Variants of a URL. nginx's Vary handling works on our field X-E-Vary: a hash of the request fields that the origin
-- named. Their names and a random token are the recipe. The token makes variants of a lost recipe unreachable,
-- so losing one costs misses and never a wrong variant.
local accepts = require("edge.http.accepts")
local urls = require("edge.cache.urls")
local joined = require("edge.http.cache_control").joined
local gsub, gmatch, match, lower, concat = string.gsub, string.gmatch, string.match, string.lower, table.concat
local sort = table.sort
local ipairs, tonumber, md5 = ipairs, tonumber, ngx.md5

local _M = {}
-- In a list of names: whether the visitor accepts WebP. No header field has this name.
_M.WEBP = "image/webp"

-- "de;q=0.5, en" and "en,de; q=0.5" are equivalent.
local function languages(value)
    local list = {}
    for item in gmatch(gsub(lower(value), "%s+", ""), "[^,]+") do
        local tag, q = match(item, "^([^;]+);q=([%d%.]+)$")
        list[#list + 1] = { tag or item, tonumber(q) or 1 }
    end
    sort(list, function(a, b)
        if a[2] ~= b[2] then
            return a[2] > b[2]
        end
        return a[1] < b[1]
    end)
    for i, one in ipairs(list) do
        list[i] = one[1] .. "=" .. one[2]
    end
    return concat(list, ",")
end

local function normalised(name, value)
    if not value then
        return "-"
    end
    if name == "accept-language" then
        return languages(value)
    end
    return (gsub(gsub(gsub(value, "%s*,%s*", ","), "^%s+", ""), "%s+$", ""))
end

-- The names in a Vary field, ordered and unique. nil when none. "*" means that no later request can match.
function _M.names(value)
    local list, has = {}, {}
    for name in gmatch(lower(value), "[^%s,]+") do
        if name == "*" then
            return "*"
        end
        if not has[name] then
            has[name] = true
            list[#list + 1] = name
        end
    end
    sort(list)
    return #list > 0 and concat(list, ",") or nil
end

-- Whether the recipe needs no request fields.
function _M.by_encoding_alone(recipe)
    return match(recipe, "^accept%-encoding;") ~= nil
end

function _M.by_webp(recipe)
    return match("," .. match(recipe, "^[^;]*") .. ",", ",image/webp,") ~= nil
end

-- Whether the recipe needs Accept only.
function _M.by_webp_alone(recipe)
    return match(recipe, "^image/webp;") ~= nil
end

-- The recipe that an image will get, so that requests waiting for its first response know it.
function _M.ahead(site_id, url)
    return urls.recipe_ahead(site_id, url, _M.WEBP .. ";" .. urls.new_token())
end

-- The recipe for a URL. An equal known one is kept, so that its variants stay reachable.
function _M.recipe(site_id, url, names)
    local known = urls.recipe(url)
    if known and match(known, "^[^;]*") == names then
        return known
    end
    local made = names == _M.WEBP and _M.ahead(site_id, url) or names .. ";" .. urls.new_token()
    urls.note_recipe(site_id, url, made)
    return made
end

-- `encoding`: the visitor's encoding class, used in place of the field. `webp`: whether WebP is accepted, where already
-- known.
function _M.hash(recipe, encoding, webp)
    local names, token = match(recipe, "^([^;]*);(.*)$")
    local values = { token }
    local headers
    for name in gmatch(names, "[^,]+") do
        if name == "accept-encoding" then
            values[#values + 1] = encoding
        elseif name == _M.WEBP then
            if webp == nil then
                webp = accepts.webp(ngx.var.http_accept)
            end
            values[#values + 1] = webp and name or ""
        else
            headers = headers or ngx.req.get_headers(0)
            values[#values + 1] = name .. ":" .. normalised(name, joined(headers[name]))
        end
    end
    return md5(concat(values, "\n"))
end
return _M
