-- The context of a simulated request: its origin response, its documents, and the observer of plugins' decisions.
local address_lists = require("edge.core.address_lists")
local ffi = require("ffi")
local docs = require("edge.core.docs")
local explain = require("edge.simulate.explain")
local requests = require("edge.core.request")
local traces = require("edge.simulate.traces")
local urls = require("edge.cache.urls")
local floor, sub, tostring, var = math.floor, string.sub, tostring, ngx.var

local _M = {}
local methods = {}

ffi.cdef [[ int edgeloom_clock(int clock, int64_t *time) __asm__("clock_gettime"); ]]
local MONOTONIC = 1
local time = ffi.new("int64_t[2]")
local function microseconds()
    ffi.C.edgeloom_clock(MONOTONIC, time)
    return tonumber(time[0]) * 1e6 + tonumber(time[1]) / 1e3
end

-- nil when its time has run out.
function _M.of(id)
    local order = id and traces.order(id)
    if not order then
        return nil
    end
    local self = setmetatable({ id = id, order = order, mark = microseconds() }, { __index = methods })
    self.get = function(key)
        return self:document(key)
    end
    return self
end

-- Values made for this request only must not be stored in shared entries.
function methods:document(key)
    local draft = self.order.docs and self.order.docs[key]
    if draft == ngx.null then
        return nil, "absent"
    end
    if draft then
        return docs.made(key, draft)
    end
    local entry, why = docs.get(key)
    if entry and sub(key, 1, 5) == "host/" then
        return { key = key, doc = entry.doc, sum = entry.sum }
    end
    return entry, why
end

function methods:modules_by_name(name)
    return (requests.modules_of(name, self.get))
end

local function simulated(self, request)
    local drafted = self.order.docs
    if request then
        request.simulated = true
        -- Only the orders of a replay share the documents of a draft.
        request.replayed = self.order.draft ~= nil
        request.drafted_lists = drafted and function(_, refs)
            return address_lists.of_draft(drafted, refs, self.get)
        end
        self.request = request
    end
    return request
end

function methods:visitor()
    local at = self.order.scheme .. ":" .. self.order.port
    local request, why, closed = requests.visiting(var.host, at, docs.sync(), self.get)
    self:record("host", request and "passed" or "refused", {
        why = why and (closed and "port" or why), site = request and request.site.doc.id or closed and closed.id,
        by = request and request.host.doc.name,
    })
    return simulated(self, request), why, closed
end

function methods:inner()
    return simulated(self, requests.describe(var.host, var.http_x_e_at or "http:0", docs.sync(), self.get))
end

-- The request that an origin would receive.
function methods:record_origin_request(method, uri, fields)
    traces.add(self.id, { step = "asked", method = method, uri = uri, headers = fields })
end

function methods:record(step, decision, detail, rule)
    local texts = {}
    for name, value in pairs(detail or {}) do
        texts[name] = tostring(value)
    end
    traces.add(self.id, {
        step = step, decision = decision, rule = rule, detail = texts,
        microseconds = floor(microseconds() - self.mark + 0.5),
    })
    self.mark = microseconds()
end

-- Records a plugin's decision.
function methods:saw(phase, plugin, result)
    local step, decision, detail, rule = explain(phase, plugin, result)
    if step then
        self:record(step, decision, detail, rule)
    else
        self.mark = microseconds()
    end
end

-- Prevents writes that later requests would see. The choice of an origin may yield to other requests, which do write,
-- but it writes nothing itself.
function methods:around(phase, visit, ...)
    if phase == "origin_access" then
        return visit(...)
    end
    return urls.dry(visit, ...)
end
return _M
