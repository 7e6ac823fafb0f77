-- CORS (Fetch standard): which other origins' scripts may read responses. Replaces the origin's CORS fields and answers
-- preflight requests here. Fails open: without our fields browsers refuse.
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

-- The requested host in any scheme, with an optional port.
local function is_own(origin, own)
    local _, at = find(origin, "^https?://")
    local host = var.host
    return at ~= nil and sub(origin, at + 1, at + #host) == host and own[sub(origin, at + #host + 1)] == true
end

local function is_allowed(origin, module)
    local plain = lower(origin)
    return module.doc.any or module.exact[plain] or fits(plain, module.doc.wildcards) or is_own(plain, module.own)
end

-- Access-Control-Allow-Origin. The same for everyone where all origins are allowed, otherwise with Vary.
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

-- Requested header names are repeated only when they are a valid list.
local function headers_of(module)
    if module.doc.headers ~= "*" then
        return module.doc.headers
    end
    local asked = var.http_access_control_request_headers or ""
    return #asked <= 2048 and not find(asked, "[^%w!#$%%&'*+.^_`|~, -]") and asked or ""
end

-- Whether this is a preflight request.
local function is_preflight()
    return get_method() == "OPTIONS" and var.http_origin and var.http_access_control_request_method
end

_M.is_preflight = is_preflight

function _M.access()
    return is_preflight() and 204 or nil
end

-- Checks first: removing a missing field costs nginx several times as much.
local function drop(name)
    if header[name] then
        header[name] = nil
    end
end

function _M.header_filter(_, _, module)
    -- Written out, because a loop would end LuaJIT's trace.
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
