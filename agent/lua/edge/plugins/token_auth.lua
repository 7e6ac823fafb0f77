-- Token authentication: requests need a time and a signature made with a key. The first entry that matches the path
-- decides. The token is removed before rules, cache and origin. Fails closed.
local digest = require("edge.core.digest")
local paths = require("edge.core.paths")
local path_variants = require("edge.core.path_variants")
local unseal = require("edge.tls.unseal")
local is_preflight = require("edge.plugins.cors").is_preflight
local re_match, encode_base64 = ngx.re.match, ngx.encode_base64
local get_headers, set_header, clear_header = ngx.req.get_headers, ngx.req.set_header, ngx.req.clear_header
local set_uri, set_uri_args = ngx.req.set_uri, ngx.req.set_uri_args
local byte, char, concat, format, gmatch, gsub, lower, match, sub, upper = string.byte, string.char, table.concat,
    string.format, string.gmatch, string.gsub, string.lower, string.match, string.sub, string.upper
local floor, ipairs, time, tonumber, type, var = math.floor, ipairs, ngx.time, tonumber, type, ngx.var

local _M = { name = "tokenAuth", priority = 3000, fails = "closed", of_module = true, restricts_access = true }
-- Longer texts are no tokens, and matching them is expensive.
local LONGEST = 1024

local function is_about(request, auth)
    local path = request.path
    local extension = paths.extension(path)
    local about, err = auth.about(path, extension)
    -- At the match limit a pattern counts as included, and an exception as not matching.
    return (about or err) and not (auth.excepts and auth.excepts(path, extension))
end

local function unescape(text)
    return (gsub(text, "%%(%x%x)", function(code)
        return char(tonumber(code, 16))
    end))
end

local function escape(path)
    return (gsub(path, "[^%w/_.~!$&'()*+,;=:@-]", function(one)
        return format("%%%02X", byte(one))
    end))
end

-- Adds the parts of the text to `values`. False when it is no token.
local function read_into(values, part, text)
    local found = #text <= LONGEST and re_match(text, part.pattern, "jo")
    if not found then
        return false
    end
    for i, name in ipairs(part.variables) do
        values[name] = found[i]
    end
    return true
end

local places = {}

-- The token precedes the path, after its first slash.
function places.path(auth, token, made)
    local part = auth.parts[1]
    local found = re_match(made.uri, part.pattern, "jo")
    if not found then
        token.fault = "missing"
        return
    end
    token.values = {}
    for i, name in ipairs(part.variables) do
        token.values[name] = found[i]
    end
    local signed = re_match(made.signed, part.pattern, "jo")
    made.signed = signed and signed[0] == found[0] and sub(made.signed, #found[0]) or sub(made.uri, #found[0])
    made.uri, made.path = sub(made.uri, #found[0]), sub(made.path, #found[0])
end

function places.query(auth, token, made)
    local rest, found = {}, {}
    for pair in gmatch(made.args or "", "[^&]+") do
        local name, value = match(pair, "^([^=]*)=?(.*)$")
        local part = auth.names[unescape(name)]
        if not part then
            rest[#rest + 1] = pair
        elseif found[part] then
            token.fault = "twice"
        else
            found[part] = unescape(value)
        end
    end
    token.values = {}
    for _, part in ipairs(auth.parts) do
        if not found[part] then
            token.fault = token.fault or "missing"
        elseif not read_into(token.values, part, found[part]) then
            token.fault = token.fault or "malformed"
        end
    end
    made.args = #rest > 0 and concat(rest, "&") or nil
end

-- `known`: path variants by path, computed once for all entries that leave the same path.
local function add_path_variants(at, known)
    local variants = known[at.uri]
    if variants == nil then
        variants = path_variants.of(at) or false
        known[at.uri] = variants
    end
    at.path_variants = variants or nil
end

-- The effective path and the entry that decides. Removing a token from the path may reveal one that an earlier entry
-- protects. Then that entry decides and finds no token.
local function choose(auths, made, known)
    for i, auth in ipairs(auths) do
        local at = made
        local token = { auth = auth }
        if auth.place == "path" then
            at = { path = made.path, uri = made.uri, signed = made.signed, args = made.args }
            places.path(auth, token, at)
        end
        add_path_variants(at, known)
        if path_variants.any(at, is_about, auth) then
            for k = 1, i - 1 do
                if at ~= made and path_variants.any(at, is_about, auths[k]) then
                    return { auth = auths[k], fault = "missing" }, made
                end
            end
            if auth.place == "query" then
                places.query(auth, token, at)
            end
            return token, at
        end
    end
    return nil, made
end

-- For the request line as received, and cached with the request. Changing tokens are checked at @signed.
function _M.read(module, request)
    local asked = paths.without_query(request.uri)
    -- Otherwise the origin could serve another path than was checked, so it gets the checked one.
    local plain = path_variants.is_only_decoded(asked, request.path)
    local made = { path = request.path, uri = plain and asked or escape(request.path), signed = asked, args = request.args }
    local known = {}
    local token, at = choose(module, made, known)
    if token then
        token.path, token.decoded = at.signed, at.path
        token.uri = at.args and at.signed .. "?" .. at.args or at.signed
        request.token = token
    end
    add_path_variants(at, known)
    request.path, request.args = at.path, at.args
    local uri = at.args and at.uri .. "?" .. at.args or at.uri
    if uri ~= request.uri and not (plain and at == made and at.args == var.args) then
        request.uri, request.place = uri, "@signed"
    end
    request.path_variants = at.path_variants and path_variants.rebind(at.path_variants, request)
end

local function headers_of(auth, token)
    local headers = get_headers(0)
    local values = {}
    for _, part in ipairs(auth.parts) do
        local text = headers[part.name]
        if text == nil then
            return "missing"
        end
        if type(text) == "table" then
            return "twice"
        end
        if not read_into(values, part, text) then
            return "malformed"
        end
    end
    token.values = values
end

local function drop_headers(auth)
    for _, part in ipairs(auth.parts) do
        clear_header(part.name)
    end
end

local function cookie_text()
    local text = get_headers(0)["Cookie"]
    return type(text) == "table" and concat(text, "; ") or text or ""
end

local function cookies_of(auth, token)
    local values, found = {}, {}
    for name, value in gmatch(cookie_text(), "([^=;%s]+)=([^;]*)") do
        local part = auth.names[name]
        if part and found[part] then
            return "twice"
        elseif part then
            found[part] = gsub(value, "%s+$", "")
        end
    end
    for _, part in ipairs(auth.parts) do
        if not found[part] then
            return "missing"
        end
        if not read_into(values, part, found[part]) then
            return "malformed"
        end
    end
    token.values = values
end

local function drop_cookies(auth)
    local rest = {}
    for pair in gmatch(cookie_text(), "[^;]+") do
        local plain = gsub(gsub(pair, "^%s+", ""), "%s+$", "")
        if plain ~= "" and not auth.names[match(plain, "^[^=]*")] then
            rest[#rest + 1] = plain
        end
    end
    set_header("Cookie", #rest > 0 and concat(rest, "; ") or nil)
end

local read = { header = headers_of, cookie = cookies_of }
local drop = { header = drop_headers, cookie = drop_cookies }

-- Days from 1970 to a date (Howard Hinnant's algorithm).
local function days(year, month, day)
    year = month <= 2 and year - 1 or year
    local era = floor(year / 400)
    local of_era = year - era * 400
    local of_year = floor((153 * (month + (month > 2 and -3 or 9)) + 2) / 5) + day - 1
    return era * 146097 + of_era * 365 + floor(of_era / 4) - floor(of_era / 100) + of_year - 719468
end

local MONTHS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function minutes(text, offset)
    local year, month, day, hour, minute = match(text, "^(%d%d%d%d)(%d%d)(%d%d)(%d%d)(%d%d)$")
    year, month, day, hour, minute = year + 0, month + 0, day + 0, hour + 0, minute + 0
    local leap = month == 2 and year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) and 1 or 0
    if not MONTHS[month] or day < 1 or day > MONTHS[month] + leap or hour > 23 or minute > 59 then
        return nil
    end
    return days(year, month, day) * 86400 + hour * 3600 + minute * 60 - offset * 60
end

-- In seconds. nil when invalid.
local function moment(auth, text)
    local as = auth.time_format
    if as == "minutes" then
        return minutes(text, auth.offset)
    end
    return as == "hex" and tonumber(text, 16) or as == "milliseconds" and floor(text / 1000) or tonumber(text)
end

local variables = {}
function variables.path(token) return token.path end
function variables.decodedPath(token) return token.decoded end
function variables.uri(token) return token.uri end
function variables.time(token) return token.values.time end
function variables.rand(token) return token.values.rand or "" end
function variables.user(token) return token.values.user or "" end
function variables.address() return var.remote_addr end
function variables.host(_, request) return request.name end

local function to_hex(bytes)
    return (gsub(bytes, ".", function(one)
        return format("%02x", byte(one))
    end))
end
local encodings = {
    hex = to_hex,
    lowerHex = to_hex,
    upperHex = function(bytes) return upper(to_hex(bytes)) end,
    base64 = function(bytes) return (gsub(encode_base64(bytes), "=", "")) end,
    base64url = function(bytes)
        return (gsub(encode_base64(bytes), "[+/=]", { ["+"] = "-", ["/"] = "_", ["="] = "" }))
    end,
}

local function is_signed_by(auth, token, request, key)
    local list = {}
    for i, part in ipairs(auth.text) do
        list[i] = i % 2 == 1 and part or part == "key" and key or variables[part](token, request)
    end
    local made = encodings[auth.encoding](digest.of(auth.hash, concat(list), auth.hmac and key or nil))
    local given = token.values.sign
    return digest.equal(made, auth.encoding == "hex" and lower(given) or given)
end

local function is_signed(auth, token, request)
    for _, key in ipairs(auth.keys) do
        if is_signed_by(auth, token, request, key) then
            return true
        end
    end
    return false
end

-- Why a request is refused. nil: it is not. The result is cached where the request line alone decides.
local function fault_of(auth, token, request)
    if token.fault then
        return token.fault
    end
    local at = read[auth.place]
    if at then
        token = { path = token.path, decoded = token.decoded, uri = token.uri }
        local fault = at(auth, token)
        if fault then
            return fault
        end
    end
    local from, now = moment(auth, token.values.time), time()
    if not from then
        return "malformed"
    end
    if now > from + auth.good + auth.leeway then
        return "expired"
    end
    if auth.not_early and from > now + auth.leeway then
        return "early"
    end
    local signed = token.signed
    if signed == nil then
        signed = is_signed(auth, token, request)
        if not auth.by_address then
            token.signed = signed
        end
    end
    return not signed and "signature" or nil
end

local function refuse(auth, request)
    local to = auth.redirect
    -- A redirect to a URL that needs a token itself would loop.
    if to and not (to.host == request.name and to.path == request.path) then
        return 302, to.url, auth.id
    end
    return 403, nil, auth.id
end

function _M.access(_, request)
    local token = request.token
    if not token then
        return nil
    end
    local auth = token.auth
    assert(auth.keys, "a key does not open")
    -- Preflight requests carry no cookies or custom fields. They are answered here and reveal nothing.
    if request.modules.cors and is_preflight() then
        return nil
    end
    local fault = fault_of(auth, token, request)
    if fault then
        request.token_fault = fault
        return refuse(auth, request)
    end
    if drop[auth.place] then
        drop[auth.place](auth)
    elseif request.place then
        -- For the log: an expired token may still be a secret.
        set_uri(request.path, false, true)
        set_uri_args(request.args or "")
    end
end

local function opened(keys, document)
    local list = {}
    for i, sealed in ipairs(keys) do
        local key, why = unseal.open(sealed, document)
        if not key then
            ngx.log(ngx.ERR, document, ": key ", i, " does not open: ", why)
            return nil
        end
        list[i] = key
    end
    return list
end

local function prepare(doc, document)
    local auth = {
        id = doc.id, about = paths.matcher(doc.paths, doc.id), excepts = doc.except and paths.matcher(doc.except, doc.id),
        place = doc.place, parts = {}, names = {}, text = doc.text, hash = doc.hash, hmac = doc.hmac, encoding = doc.encoding,
        time_format = doc.timeFormat, offset = doc.utcOffset, good = doc.goodSeconds, not_early = doc.notEarly,
        leeway = doc.leewaySeconds, keys = opened(doc.keys, document), redirect = doc.redirect, by_address = false,
    }
    for i, part in ipairs(doc.parts) do
        local pattern = doc.place == "path" and "^/" .. part.pattern .. "/" or "^" .. part.pattern .. "\\z"
        auth.parts[i] = { name = part.name, pattern = pattern, variables = part.variables }
        auth.names[part.name] = auth.parts[i]
    end
    for i = 2, #doc.text, 2 do
        auth.by_address = auth.by_address or doc.text[i] == "address"
    end
    return auth
end

function _M.prepare(doc, document)
    local list = {}
    for i, auth in ipairs(doc.auths) do
        list[i] = prepare(auth, document)
    end
    return list
end
return _M
