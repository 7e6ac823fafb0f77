-- The phases of a simulated request: those of the real hops with an observer, and an origin that records its requests.
local runner = require("edge.runner")
local simulation = require("edge.simulate.simulation")
local clear_header, var = ngx.req.clear_header, ngx.var
local gmatch, ipairs, lower, match, min, rep, tonumber = string.gmatch, ipairs, string.lower, string.match, math.min,
    string.rep, tonumber

local _M = {}
local MOST_BYTES = 65536

local function begin(id)
    local self = simulation.of(id)
    if not self then
        return ngx.exit(ngx.HTTP_GONE)
    end
    var.e_trace = id
    return self
end

function _M.access()
    local self = begin(var.http_x_e_simulate)
    clear_header("X-E-Simulate")
    clear_header("X-E-Client")
    var.e_scheme, var.e_port = self.order.scheme, self.order.port
    -- Reading may yield, which the observed plugins must not.
    if var.e_body ~= "" then
        ngx.req.read_body()
    end
    return runner.access(self)
end

-- nginx's cache status.
local STATES = {
    HIT = "hit", MISS = "miss", EXPIRED = "expired", STALE = "stale", UPDATING = "stale", REVALIDATED = "hit",
    BYPASS = "bypass",
}
local function record_store(self)
    local state = STATES[var.upstream_cache_status]
    if not state then
        return
    end
    local cache_status = ngx.header["Cache-Status"] or ""
    self:record("store", state, {
        key = var.e_key, age = ngx.header["Age"], ttl = match(cache_status, "ttl=(%-?%d+)"),
    })
end

function _M.header_filter()
    local self = simulation.of(var.e_trace)
    if not self then
        return
    end
    runner.header_filter(self)
    record_store(self)
    self:record("end", "passed")
end

function _M.origin_access()
    local id = var.e_trace ~= "" and var.e_trace or var.http_x_e_trace
    local self = begin(id)
    clear_header("X-E-Trace")
    return runner.origin_access(self)
end

function _M.origin_header()
    local self = simulation.of(var.e_trace)
    if self then
        runner.origin_header(self)
    end
end

local function fields(text)
    local list, behind = {}, match(text, "^[^\n]*\n(.*)$") or ""
    for name, value in gmatch(behind, "([^:\r\n]+):[ \t]*([^\r\n]*)\r?\n") do
        local plain = lower(name)
        if plain ~= "x-e-trace" and plain ~= "connection" then
            list[#list + 1] = { name, value }
        end
    end
    return list
end

-- Responds as the order prescribes, with a body of the given size.
function _M.origin()
    local self = simulation.of(var.http_x_e_trace)
    if not self then
        return ngx.exit(ngx.HTTP_GONE)
    end
    self:record_origin_request(ngx.req.get_method(), var.request_uri, fields(ngx.req.raw_header()))
    -- nginx would handle these conditions itself.
    for _, name in ipairs { "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since" } do
        clear_header(name)
    end
    local answer = self.order.answer
    ngx.status = answer.status
    ngx.header["Server"] = nil
    local length = 0
    for _, field in ipairs(answer.headers) do
        local name, value = field[1], field[2]
        if lower(name) == "content-length" then
            length = tonumber(value) or 0
        end
        local before = ngx.header[name]
        if lower(name) == "content-type" or before == nil then
            ngx.header[name] = value
        else
            ngx.header[name] = type(before) == "table" and { unpack(before), value } or { before, value }
        end
    end
    ngx.print(rep(" ", min(length, MOST_BYTES)))
end
return _M
