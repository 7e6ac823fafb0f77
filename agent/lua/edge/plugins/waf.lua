-- The web application firewall of a site. Fails closed where it refuses requests; where it only monitors, an error
-- changes nothing.
local counters = require("edge.core.counters")
local decisions = require("edge.simulate.decision")
local inspect = require("edge.waf.inspect")
local white = require("edge.core.white")
local get_body_data, get_body_file, get_headers, read_body = ngx.req.get_body_data, ngx.req.get_body_file, ngx.req.get_headers,
    ngx.req.read_body
local error, ipairs, log, open, pcall, tonumber, var = error, ipairs, ngx.log, io.open, pcall, tonumber, ngx.var

local _M = { name = "waf", priority = 3200, fails = "closed", of_module = true, guards = true }
local REFUSED, LENGTH_REQUIRED, TOO_LARGE = 403, 411, 413
local BODY_RULE, LENGTH_RULE = "protocol-large-body", "protocol-unknown-length"
local BODILESS = { GET = true, HEAD = true, OPTIONS = true, DELETE = true, TRACE = true, CONNECT = true }

function _M.prepare(doc)
    local disabled = {}
    for _, id in ipairs(doc.disabled) do
        disabled[id] = true
    end
    return {
        id = doc.id, off = doc.mode == "off", monitor = doc.mode == "monitor", level = doc.paranoia, disabled = disabled,
        exceptions = doc.exceptions, body_bytes = doc.bodyBytes, denies_large = doc.deniesLargeBodies,
    }
end

-- HTTP/2 and HTTP/3 need no Content-Length, and some versions of nginx cannot read such bodies. Returns whether there
-- is nothing to read, and whether that is unknown.
local function has_none(method)
    if var.e_body ~= "" then
        return false
    end
    if BODILESS[method] or var.server_protocol:sub(1, 6) == "HTTP/1" then
        return true
    end
    return not pcall(read_body), true
end

-- Second result: a rule that the body breaks, and the status for it.
local function body_of(module, method)
    local nothing, unknown = has_none(method)
    if nothing then
        return nil, unknown and LENGTH_RULE or nil, LENGTH_REQUIRED
    end
    local size = tonumber(var.http_content_length)
    local limit = module.denies_large and BODY_RULE or nil
    if limit and size and size > module.body_bytes then
        return nil, limit, TOO_LARGE
    end
    read_body()
    local text = get_body_data()
    if text then
        return text:sub(1, module.body_bytes), #text > module.body_bytes and limit or nil, TOO_LARGE
    end
    local name = get_body_file()
    if not name then
        return nil
    end
    local file = open(name, "rb")
    if not file then
        error("the body cannot be read", 0)
    end
    text = file:read(module.body_bytes) or ""
    local is_longer = file:read(1) ~= nil
    file:close()
    return text, is_longer and limit or nil, TOO_LARGE
end

local function judge(request, module)
    local body, broken, status = body_of(module, request.method)
    if broken and not module.disabled[broken] and not module.disabled.protocol then
        return { rule = broken, place = "body", name = "", score = 0 }, status
    end
    local found, score = inspect.check({
        target = request.uri, path = request.path, path_variants = request.path_variants, headers = get_headers(0),
        body = body,
    }, module)
    return found, REFUSED, score
end

function _M.access(site, request, module)
    if module.off or white.has(site) then
        return nil
    end
    if not module.monitor then
        local found, status, score = judge(request, module)
        if request.simulated then
            request.waf = { found = found, score = score }
        end
        return found and status, nil, found and found.rule
    end
    local ok, found, _, score = pcall(judge, request, module)
    if not ok then
        counters.count("pluginFailed")
        log(ngx.ERR, "waf: ", found)
        return nil
    end
    if request.simulated then
        request.waf = { found = found, score = score }
    end
    if found then
        var.e_cause, var.e_rule = _M.name, "monitor/" .. found.rule
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    local module = outcome.module
    if not module or module.off then
        return "unused"
    end
    local made = outcome.request.waf
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    if made then
        detail.score = made.score and ("%.1f"):format(made.score)
        local found = made.found
        if found then
            detail.rule, detail.place, detail.name = found.rule, found.place, found.name ~= "" and found.name or nil
            if module.monitor then
                detail.why = "monitored"
            end
        end
    end
    return decision, detail, decisions.rule("module", module.id)
end
return _M
