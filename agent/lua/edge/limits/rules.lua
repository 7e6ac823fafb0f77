-- Which limits of a site apply to a request, and by what they count it.
local addresses = require("edge.core.addresses")
local fields = require("edge.acl.fields")
local memo = require("edge.core.memo")
local record_monitor_match = require("edge.core.monitor_match")
local patterns = require("edge.core.patterns")
local path_variants = require("edge.core.path_variants")
local gsub, header, ipairs, lower, match, md5, type, var = string.gsub, ngx.header, ipairs, string.lower, string.match,
    ngx.md5_bin, type, ngx.var

local _M = {}
local NO_RULES = {}
local BY_URL, BY_USER_AGENT, BY_FIELD = 2, 3, 4

-- `header` is the name of a header, cookie:NAME, or arg:NAME.
local sources = memo(function(rule)
    local kind, name = match(rule.header, "^(%a+):(.+)$")
    if kind then
        return { read = fields[kind], name = name }
    end
    return { variable = "http_" .. gsub(lower(rule.header), "-", "_") }
end)

-- nil if a cookie or a parameter occurs several times: the origin may use any of them. All rules share the parsed
-- cookies and parameters.
local function field_of(rule, request)
    local source = sources(rule)
    if source.variable then
        return var[source.variable]
    end
    local ctx = ngx.ctx
    local seen = ctx.limit_fields
    if not seen then
        seen = {}
        ctx.limit_fields = seen
    end
    local value = source.read(seen, request, source.name)
    return type(value) == "string" and value or nil
end

-- A pattern that reaches the match limit counts as a match.
local function covers(request, rule)
    local from, err = patterns.find(request.path, rule.urlRegex, rule.id)
    return from or err
end

-- The rules whose pattern matches the path, remembered with the request by the plugin's name. A replay has none: their
-- present counts are not those of the logged requests.
function _M.about(plugin, rules, request)
    local list = request.replayed and NO_RULES or request[plugin]
    if list then
        return list
    end
    list = {}
    for _, rule in ipairs(rules) do
        if rule.urlRegex == "" or path_variants.any(request, covers, rule) then
            list[#list + 1] = rule
        end
    end
    request[plugin] = list
    return list
end

-- Returns what the visitor chose and the rule counts by, or nil. It never begins with "shared:"
-- (limits/site_counters.lua).
local function chosen(rule, request, network)
    if rule.type == BY_URL then
        return network .. md5(request.path_variants and request.path_variants.canonical or request.path)
    end
    if rule.type == BY_USER_AGENT then
        return network .. md5(var.http_user_agent or "")
    end
    local value = rule.type == BY_FIELD and field_of(rule, request)
    return value and value ~= "" and "#" .. md5(value) or nil
end

-- Returns the address, and what the visitor chose and the rule counts by instead, or nil.
function _M.counted_by(rule, request)
    local network = addresses.network(var.binary_remote_addr)
    return network, chosen(rule, request, network)
end

-- Refuses the request, or only logs it. `seconds`: after which a retry makes sense.
function _M.refuse(plugin, rule, request, seconds)
    if rule.monitor then
        if not request.simulated then
            record_monitor_match(plugin, rule.id, true)
        end
        return nil
    end
    if rule.status == 429 then
        header["Retry-After"] = seconds
    end
    return rule.status, nil, rule.id
end
return _M
