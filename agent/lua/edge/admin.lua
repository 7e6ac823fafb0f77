-- The admin API for the agent, on run/admin.sock.
local cjson = require("cjson.safe")
local blocks = require("edge.core.blocks")
local bots = require("edge.core.bots")
local choice = require("edge.origin.choice")
local closing = require("edge.core.closing")
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local disk = require("edge.cache.disk")
local docs = require("edge.core.docs")
local heartbeats = require("edge.core.heartbeats")
local lua_acl = require("edge.plugins.lua_acl")
local marks = require("edge.cache.marks")
local patterns = require("edge.core.patterns")
local purge = require("edge.cache.purge")
local risk = require("edge.core.risk")
local settings = require("edge.core.settings")
local spelling = require("edge.core.spelling")
local traces = require("edge.simulate.traces")
local waf_rules = require("edge.waf.rules")

local _M = {}
local calls = {}

calls["POST /bump"] = function(body)
    if body.all then
        return { seq = docs.bump_all() }
    end
    if type(body.keys) == "table" then
        return { seq = docs.bump(body.keys) }
    end
end

-- `urls`, or for one site `prefixes` (host and path; "" is the whole site) or `tags`. `soft`: kept as stale.
calls["POST /purge"] = function(body)
    docs.sync()
    local objects = 0
    for _, url in ipairs(body.urls or {}) do
        if body.soft then
            purge.soft_url(url)
        else
            objects = objects + purge.url(url)
        end
    end
    for _, prefix in ipairs(body.prefixes or {}) do
        marks.purge_prefix(body.site, spelling.bytes(prefix) or prefix, body.soft)
    end
    for _, tag in ipairs(body.tags or {}) do
        marks.purge_tag(body.site, tag, body.soft)
    end
    marks.pass_moment()
    return { objects = objects }
end

-- Results of active health checks.
calls["POST /health"] = function(body)
    if type(body.down) ~= "table" or type(body.up) ~= "table" or type(body.seconds) ~= "number" then
        return nil
    end
    choice.found(body.down, body.up, body.seconds)
    return { ok = true }
end

-- Makes visitors' connections close with their next response, for this many seconds, before a reload.
calls["POST /closing"] = function(body)
    if type(body.seconds) == "number" then
        closing.begin(body.seconds)
        docs.tick()
        return { ok = true }
    end
end

-- Blocks found here, then blocks from the agent. See core/blocks.lua.
calls["POST /blocks/fetch"] = function(body)
    if type(body.room) == "number" then
        return blocks.fetch(body.room, body.had)
    end
end
calls["POST /blocks"] = function(body)
    if type(body.blocks) == "table" then
        blocks.change(body.blocks, body.mark, body.begins)
        return { ok = true }
    end
end

-- Bots to verify, then the agent's verdicts. See core/bots.lua.
calls["POST /bots/fetch"] = function(body)
    if type(body.most) == "number" then
        return bots.fetch(body.most)
    end
end
calls["POST /bots"] = function(body)
    if type(body.verdicts) == "table" then
        bots.store_verdicts(body.verdicts, body.mark, body.held)
        return { ok = true }
    end
end

-- The next request with this id on simulate.sock is simulated.
calls["POST /simulate"] = function(body)
    if type(body.id) == "string" and type(body.order) == "table" then
        return { ok = traces.begin(body.id, body.order) or false }
    end
end

-- The recorded steps of a simulated request.
calls["POST /simulated"] = function(body)
    if type(body.id) == "string" then
        return { steps = traces.finish(body.id) }
    end
end

-- Only where nginx has the stub_status module.
local function connections()
    local active = tonumber(ngx.var.connections_active)
    return active and {
        active = active,
        reading = tonumber(ngx.var.connections_reading),
        writing = tonumber(ngx.var.connections_writing),
        waiting = tonumber(ngx.var.connections_waiting),
    }
end

calls["GET /status"] = function()
    local room = {}
    for name, dict in pairs(dicts) do
        room[name] = { capacity = dict:capacity(), free = dict:free_space() }
    end
    return {
        generation = settings.generation,
        pid = ngx.worker.pid(),
        seq = docs.seq(),
        dicts = room,
        counters = counters.all(),
        patterns = patterns.failing(),
        scripts = lua_acl.costs(),
        connections = connections(),
        workers = heartbeats.all(),
        diskFull = disk.is_full,
        risk = { ranges = risk.ranges, fault = risk.fault },
        waf = { version = waf_rules.version, fault = waf_rules.fault },
    }
end

local function read_body()
    ngx.req.read_body()
    local text = ngx.req.get_body_data()
    local file = not text and ngx.req.get_body_file()
    if file then
        local handle = assert(io.open(file, "rb"))
        text = handle:read("*a")
        handle:close()
    end
    return cjson.decode(text or "") or {}
end

function _M.serve()
    local method = ngx.req.get_method()
    local call = calls[method .. " " .. ngx.var.uri]
    local answer = call and call(method == "POST" and read_body() or nil)
    if not answer then
        ngx.status = call and 400 or 404
        answer = { error = call and "bad request" or "no such call" }
    end
    ngx.print(cjson.encode(answer))
end
return _M
