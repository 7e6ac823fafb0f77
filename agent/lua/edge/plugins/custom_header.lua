-- Adds, sets and removes header fields: to the origin in hop B, to the visitor in hop A after the cache, so that hits
-- get them too and none are stored. Fails open.
local var, header, ipairs, concat = ngx.var, ngx.header, ipairs, table.concat
local get_headers, set_header, clear_header = ngx.req.get_headers, ngx.req.set_header, ngx.req.clear_header
local lower = string.lower

local _M = { name = "customHeader", priority = 800, of_module = true }

-- Variables for values, in either hop.
local visitor = {
    clientIP = function() return var.remote_addr end,
    host = function() return var.host end,
    scheme = function() return var.e_scheme end,
    requestID = function() return var.request_id end,
}
local inner = {
    clientIP = function() return var.http_x_e_address or "" end,
    host = function() return var.host end,
    scheme = function(request) return request.scheme end,
    requestID = function() return var.http_x_request_id or "" end,
}

-- Most values are constants. Others are assembled per request.
local function value_of(parts)
    return #parts == 1 and parts[1] or parts
end

local function text(value, variables, request)
    if type(value) == "string" then
        return value
    end
    -- The usual case without a loop, which would end LuaJIT's trace.
    if #value == 3 then
        return value[1] .. variables[value[2]](request) .. value[3]
    end
    local list = {}
    for i, part in ipairs(value) do
        list[i] = i % 2 == 1 and part or variables[part](request)
    end
    return concat(list)
end

local function prepared(changes)
    local list = {}
    for i, change in ipairs(changes) do
        list[i] = { action = change.action, name = change.name, lower = lower(change.name), value = value_of(change.value) }
    end
    return #list > 0 and list or nil
end

function _M.prepare(doc)
    return { request = prepared(doc.request), response = prepared(doc.response) }
end

local function with(values, value)
    if values == nil then
        return value
    end
    if type(values) ~= "table" then
        return { values, value }
    end
    values[#values + 1] = value
    return values
end

-- After the choice of the origin: this phase may restart before that and would add a field twice.
function _M.origin_access(_, request, module)
    for _, change in ipairs(module.request or {}) do
        if change.action == "remove" then
            clear_header(change.name)
        elseif change.action == "set" then
            set_header(change.name, text(change.value, inner, request))
        else
            set_header(change.name, with(get_headers(0)[change.name], text(change.value, inner, request)))
        end
    end
end

-- Removing a missing field costs nginx several times as much as looking it up. Fields that nginx itself writes must
-- always be removed.
local WRITTEN = {
    server = true, date = true, etag = true, link = true, location = true, refresh = true, expires = true,
    ["content-type"] = true, ["last-modified"] = true, ["www-authenticate"] = true,
}
local function remove(change)
    if WRITTEN[change.lower] or header[change.name] then
        header[change.name] = nil
    end
end

-- nginx sends the origin's Cache-Control from a variable, after all filters. Responses of our own keep theirs.
local function change_control(change)
    if header["Cache-Control"] then
        return
    end
    if change.action == "remove" then
        var.e_cache_control = ""
        return
    end
    local value = text(change.value, visitor)
    local before = change.action == "add" and var.e_cache_control or ""
    var.e_cache_control = before ~= "" and before .. ", " .. value or value
end

function _M.header_filter(_, _, module)
    local changes = module.response
    for i = 1, changes and #changes or 0 do
        local change = changes[i]
        if change.lower == "cache-control" then
            change_control(change)
        elseif change.action == "remove" then
            remove(change)
        elseif change.action == "set" then
            header[change.name] = text(change.value, visitor)
        else
            header[change.name] = with(header[change.name], text(change.value, visitor))
        end
    end
end
return _M
