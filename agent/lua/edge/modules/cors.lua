-- Which scripts of other origins may read what is served here (Fetch standard, CORS). What the origin says of it is
-- replaced. Questions beforehand are answered here and reach no origin. Fails open: without our fields browsers refuse.
local var, header, ipairs = ngx.var, ngx.header, ipairs
local get_method = ngx.req.get_method
local find, lower, sub = string.find, string.lower, string.sub

local _M = { name = "cors", priority = 1800, of_module = true }
local function set(list)
    local has = {}
    for _, value in ipairs(list) do
        has[value] = true
    end
    return has
end

function _M.prepare(doc)
    return { doc = doc, exact = set(doc.exact), own = set(doc.own) }
end

local function fits(origin, wildcards)
    for _, card in ipairs(wildcards) do
        local from, to = #card.before + 1, #origin - #card.after
        if to >= from and sub(origin, 1, from - 1) == card.before and sub(origin, to + 1) == card.after
            and not find(sub(origin, from, to), "[./:]") then
            return true
        end
    end
    return false
end

-- The host that was asked, whatever the scheme, with what may follow it.
local function is_own(origin, own)
    local _, at = find(origin, "^https?://")
    local host = var.host
    return at ~= nil and sub(origin, at + 1, at + #host) == host and own[sub(origin, at + #host + 1)] == true
end

local function is_allowed(origin, module)
    local plain = lower(origin)
    return module.doc.any or module.exact[plain] or fits(plain, module.doc.wildcards) or is_own(plain, module.own)
end

-- Whom the answer is for. Of all origins alike it is the same for everyone; otherwise caches must tell them apart.
local function say_origin(module, origin)
    if module.doc.any then
        header["Access-Control-Allow-Origin"] = "*"
        return true
    end
    local vary = header["Vary"]
    header["Vary"] = vary and { vary, "Origin" } or "Origin"
    if not origin or not is_allowed(origin, module) then
        return false
    end
    header["Access-Control-Allow-Origin"] = origin
    if module.doc.credentials then
        header["Access-Control-Allow-Credentials"] = "true"
    end
    return true
end

-- What a script asks for is repeated only where it is a list of names.
local function headers_of(module)
    if module.doc.headers ~= "*" then
        return module.doc.headers
    end
    local asked = var.http_access_control_request_headers or ""
    return #asked <= 2048 and not find(asked, "[^%w%-_, ]") and asked or ""
end

-- A question beforehand?
local function is_preflight()
    return get_method() == "OPTIONS" and var.http_origin and var.http_access_control_request_method
end

_M.is_preflight = is_preflight

function _M.access()
    return is_preflight() and 204 or nil
end

-- Asked for first: to remove a field that is not there costs nginx several times as much.
local function drop(name)
    if header[name] then
        header[name] = nil
    end
end

function _M.header_filter(_, _, module)
    -- Written out: what is compiled of an answer would end at a loop.
    drop("Access-Control-Allow-Origin")
    drop("Access-Control-Allow-Credentials")
    drop("Access-Control-Allow-Methods")
    drop("Access-Control-Allow-Headers")
    drop("Access-Control-Expose-Headers")
    drop("Access-Control-Max-Age")
    local preflight = is_preflight()
    if preflight then
        header["Vary"] = "Access-Control-Request-Method, Access-Control-Request-Headers"
    end
    if not say_origin(module, var.http_origin) then
        return
    end
    if preflight then
        header["Access-Control-Allow-Methods"] = module.doc.methods
        local headers = headers_of(module)
        header["Access-Control-Allow-Headers"] = headers ~= "" and headers or nil
        header["Access-Control-Max-Age"] = module.doc.maxAge
    elseif module.doc.expose ~= "" then
        header["Access-Control-Expose-Headers"] = module.doc.expose
    end
end
return _M
