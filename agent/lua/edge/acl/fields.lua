-- The fields of access rules and scripts. Each returns the field of the present request: a text or number, a list of
-- texts, or nil. Second result: an error when the field cannot be judged. Fields of visitors are read once per request.
local bots = require("edge.core.bots")
local geo = require("edge.core.geo")
local paths = require("edge.core.paths")
local risk = require("edge.core.risk")
local decode_args, get_headers, read_body = ngx.decode_args, ngx.req.get_headers, ngx.req.read_body
local discard_body = ngx.req.discard_body
local get_body_data, get_body_file = ngx.req.get_body_data, ngx.req.get_body_file
local find, sub, tonumber, type, var = string.find, string.sub, tonumber, type, ngx.var
local open = io.open

local _M = {}
local LONGEST_BODY = 65536
local BODILESS = { GET = true, HEAD = true, OPTIONS = true }

local function headers(seen)
    local all = seen.headers
    if not all then
        all = get_headers(0)
        seen.headers = all
    end
    return all
end

local function trimmed(text, from, to)
    local first = find(text, "[^ \t]", from)
    if not first or first > to then
        return ""
    end
    while to > first and (sub(text, to, to) == " " or sub(text, to, to) == "\t") do
        to = to - 1
    end
    return sub(text, first, to)
end

local function add(all, name, value)
    local had = all[name]
    if had == nil then
        all[name] = value
    elseif type(had) == "table" then
        had[#had + 1] = value
    else
        all[name] = { had, value }
    end
end

-- By plain searches: a pattern could backtrack over a line of spaces.
local function read_cookies(all, line)
    local from, size = 1, #line
    while from <= size do
        local to = find(line, ";", from, true) or size + 1
        local equals = find(line, "=", from, true)
        if equals and equals < to then
            add(all, trimmed(line, from, equals - 1), trimmed(line, equals + 1, to - 1))
        end
        from = to + 1
    end
end

local function cookies(seen)
    local all = seen.cookies
    if not all then
        all = {}
        local lines = headers(seen)["cookie"]
        if type(lines) == "table" then
            for i = 1, #lines do
                read_cookies(all, lines[i])
            end
        elseif lines then
            read_cookies(all, lines)
        end
        seen.cookies = all
    end
    return all
end

local function arguments(seen, request)
    local all = seen.arguments
    if not all then
        all = request.args and decode_args(request.args, 0) or {}
        seen.arguments = all
    end
    return all
end

-- HTTP/2 and 3 do not announce a body. nginx discards one of these methods, so that the origin sees none either.
local function announces_none(request)
    if sub(var.server_protocol, 1, 6) == "HTTP/1" then
        return true
    end
    if BODILESS[request.method] then
        discard_body()
        return true
    end
end

-- nginx has no way to read a part of a body. So larger ones, and those of unknown length, are not read at all.
local function read_text(request)
    local length = var.http_content_length
    if var.e_body == "" and (length or announces_none(request)) then
        return ""
    end
    local size = tonumber(length)
    if not size or size > LONGEST_BODY then
        return nil, "the body is too long"
    end
    read_body()
    local text = get_body_data()
    if text then
        return text
    end
    local name = get_body_file()
    if not name then
        return ""
    end
    local file = open(name, "rb")
    if not file then
        return nil, "the body cannot be read"
    end
    text = file:read(LONGEST_BODY) or ""
    file:close()
    return text
end

local VERSIONS = { ["HTTP/2.0"] = "2", ["HTTP/3.0"] = "3" }

function _M.ip() return var.binary_remote_addr end
local function known(text)
    return text ~= "" and text or nil
end
local function place(name)
    return function()
        local found = geo.place(var.binary_remote_addr)
        return found and known(found[name])
    end
end
_M.country, _M.province, _M.continent = place("country"), place("province"), place("continent")
function _M.isp()
    local found = geo.network(var.binary_remote_addr)
    return found and known(found.isp)
end
function _M.asn()
    local found = geo.network(var.binary_remote_addr)
    return found and found.asn ~= 0 and found.asn or nil
end
function _M.method(_, request) return request.method end
function _M.scheme(_, request) return request.scheme end
function _M.host(_, request) return request.name end
function _M.port(_, request) return request.port end
function _M.uri(_, request) return request.uri end
-- nginx's normalized and decoded path, or another variant of it (path_variants.lua).
function _M.path(_, request) return request.path end
function _M.args(_, request) return request.args or nil end
function _M.userAgent() return var.http_user_agent end
function _M.referer() return var.http_referer end
function _M.contentLength() return tonumber(var.http_content_length) end
function _M.fileExtension(_, request) return paths.extension(request.path) end
function _M.riskScore() return risk.score(var.binary_remote_addr) end
local function of_bot(name)
    return function(_, request)
        local bot = bots.of(request)
        return bot and bot[name]
    end
end
_M.bot, _M.botCategory, _M.botState = of_bot("name"), of_bot("category"), of_bot("state")
function _M.httpVersion()
    local protocol = var.server_protocol
    return VERSIONS[protocol] or sub(protocol, 6)
end
function _M.header(seen, _, name) return headers(seen)[name] end
function _M.cookie(seen, _, name) return cookies(seen)[name] end
-- A parameter without a value is an empty text.
function _M.arg(seen, request, name)
    local value = arguments(seen, request)[name]
    if value == true then
        return ""
    end
    if type(value) == "table" and not seen[value] then
        for i = 1, #value do
            value[i] = value[i] == true and "" or value[i]
        end
        seen[value] = true
    end
    return value
end
function _M.bodyText(seen, request)
    if seen.body == nil and not seen.body_error then
        seen.body, seen.body_error = read_text(request)
    end
    return seen.body, seen.body_error
end
return _M
