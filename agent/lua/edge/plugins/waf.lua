-- The web application firewall of a site. Fails closed where it refuses requests; where it only monitors, an error
-- changes nothing.
local counters = require("edge.core.counters")
local decisions = require("edge.simulate.decision")
local explain = require("edge.waf.explain")
local inflate = require("edge.waf.inflate")
local inspect = require("edge.waf.inspect")
local record_monitor_match = require("edge.core.monitor_match")
local white = require("edge.core.white")
local zones = require("edge.core.zone")
local get_body_data, get_body_file, get_headers, read_body = ngx.req.get_body_data, ngx.req.get_body_file, ngx.req.get_headers,
    ngx.req.read_body
local error, ipairs, log, open, pcall, tonumber, var = error, ipairs, ngx.log, io.open, pcall, tonumber, ngx.var

local _M = { name = "waf", priority = 3200, fails = "closed", of_module = true, restricts_access = true }
local LARGE_RULE, LENGTH_RULE, COMPRESSED_RULE = "protocol-large-body", "protocol-unknown-length", "protocol-compressed-body"
local REFUSED, STATUS = 403, { [LENGTH_RULE] = 411, [LARGE_RULE] = 413 }
local BODILESS = { GET = true, HEAD = true, OPTIONS = true, DELETE = true, TRACE = true, CONNECT = true }

-- An older document has no limited exceptions.
local function exceptions_of(doc)
    local exceptions = {}
    for _, list in ipairs({ doc.exceptions, doc.limitedExceptions or {} }) do
        for _, exception in ipairs(list) do
            exceptions[#exceptions + 1] = exception
        end
    end
    return exceptions
end

function _M.prepare(doc)
    local disabled = {}
    for _, id in ipairs(doc.disabled) do
        disabled[id] = true
    end
    return {
        id = doc.id, off = doc.mode == "off", monitor = doc.mode == "monitor", level = doc.paranoia, disabled = disabled,
        exceptions = exceptions_of(doc), body_bytes = doc.bodyBytes, denies_large = doc.deniesLargeBodies,
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

-- The first bytes of the body, and whether there are more.
local function read_start(limit)
    read_body()
    local text = get_body_data()
    if text then
        return text:sub(1, limit), #text > limit
    end
    local name = get_body_file()
    if not name then
        return "", false
    end
    local file = open(name, "rb")
    if not file then
        error("the body cannot be read", 0)
    end
    text = file:read(limit) or ""
    local is_longer = file:read(1) ~= nil
    file:close()
    return text, is_longer
end

-- The text to inspect, and the rules that the body breaks. An exception may cover the first of them only.
local function body_of(request, module, encoding)
    local nothing, unknown = has_none(request.method)
    if nothing then
        return nil, { unknown and LENGTH_RULE or nil }
    end
    local size, limit = tonumber(var.http_content_length), module.body_bytes
    if module.denies_large and size and size > limit and inspect.has_rule(LARGE_RULE, request, module) then
        return nil, { LARGE_RULE }
    end
    local packed, has_more = read_start(limit)
    local text, is_longer = inflate.unpack(packed, encoding, limit, has_more)
    if not text then
        -- Some origins ignore the encoding and read the bytes as they are.
        return packed, { COMPRESSED_RULE, has_more and LARGE_RULE or nil }
    end
    return text, { is_longer and LARGE_RULE or nil }
end

local function judge(request, module)
    local headers = get_headers(0)
    local body, broken_rules = body_of(request, module, headers["content-encoding"])
    return inspect.check({
        name = request.name, target = request.uri, path = request.path, path_variants = request.path_variants,
        headers = headers, body = body, broken_rules = broken_rules,
    }, module)
end

-- A long body whose start is harmless.
local function is_tolerated(module, found)
    return found.rule == LARGE_RULE and not module.denies_large
end

-- Whether a finding is only logged: in monitor mode, and of a tolerated body.
local function is_only_logged(module, found)
    return module.monitor or is_tolerated(module, found)
end

local function explain_finding(found, site)
    var.e_waf = explain.to_json(found, site.logMask)
end

-- The zone's kill switch. It precedes all code that can fail, because it is used when the firewall itself is broken.
local function is_switched_off()
    local zone = zones.get()
    return zone ~= nil and zone.doc.wafOff == true
end

function _M.access(site, request, module)
    if module.off or is_switched_off() or white.has(site) then
        return nil
    end
    local ok, found, score = true, nil, nil
    if module.monitor then
        ok, found, score = pcall(judge, request, module)
    else
        found, score = judge(request, module)
    end
    if not ok then
        counters.count("pluginFailed")
        log(ngx.ERR, "waf: ", found)
        return nil
    end
    if request.simulated then
        request.waf = { found = found, score = score }
    end
    if not found then
        return nil
    end
    -- An error of the explanation changes no decision.
    local explained, err = pcall(explain_finding, found, site)
    if not explained then
        log(ngx.ERR, "waf explanation: ", err)
    end
    if is_only_logged(module, found) then
        record_monitor_match(_M.name, found.rule, not is_tolerated(module, found))
        return nil
    end
    return STATUS[found.rule] or REFUSED, nil, found.rule
end

_M.explain = {}
function _M.explain.access(outcome)
    local module = outcome.module
    if not module or module.off then
        return "unused"
    end
    if is_switched_off() then
        return "switchedOff", nil, decisions.rule("module", module.id)
    end
    local made = outcome.request.waf
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    if made then
        detail.score = made.score and ("%.1f"):format(made.score)
        local found = made.found
        if found then
            detail.rule, detail.place, detail.name = found.rule, found.place, found.name ~= "" and found.name or nil
            detail.path, detail.explanation = outcome.request.path, var.e_waf
            if is_only_logged(module, found) then
                detail.why = "monitored"
            end
        end
    end
    return decision, detail, decisions.rule("module", module.id)
end
return _M
