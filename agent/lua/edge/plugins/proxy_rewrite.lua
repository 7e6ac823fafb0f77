-- Rewrites path, query and Host of requests to the domain's own origins. Runs in hop B behind the cache, whose keys
-- keep the visitor's URL. Fails open: the origin receives the original request.
local patterns = require("edge.core.patterns")
local set_uri, set_uri_args = ngx.req.set_uri, ngx.req.set_uri_args
local find, gsub, ipairs, sub, var = string.find, string.gsub, ipairs, string.sub, ngx.var

-- After the choice of the origin, since the phase may restart before that.
local _M = { name = "proxyRewrite", priority = 850, of_module = true }

function _M.prepare(doc)
    doc.rules.id = doc.id
    return doc.rules
end

local matches = {}
function matches.exact(rule, path)
    return path == rule.source and rule.path[1]
end
function matches.prefix(rule, path)
    local source = rule.source
    if sub(path, 1, #source) == source and (#path == #source or sub(path, #source + 1, #source + 1) == "/") then
        return rule.keepRest and rule.path[1] .. sub(path, #source + 1) or rule.path[1]
    end
end
function matches.regex(rule, path, id)
    if sub(path, 1, #rule.literal) ~= rule.literal then
        return nil
    end
    local captures, err = patterns.match(path, rule.source, id)
    if err then
        ngx.log(ngx.WARN, "proxy rewrite ", rule.source, ": ", err)
    end
    return captures and patterns.fill(rule.path, captures)
end

function _M.origin_access(_, request, module)
    for i, rule in ipairs(module) do
        local path = matches[rule.type](rule, request.path, module.id)
        if path then
            path = path == "" and "/" or gsub(path, "^//+", "/")
            -- A captured group must not contain `..` segments.
            if find(path .. "/", "/../", 1, true) then
                return
            end
            local args = rule.keepQuery and request.args or ""
            local query = rule.query ~= "" and args ~= "" and rule.query .. "&" .. args or rule.query .. args
            request.rewritten = i
            set_uri(path)
            set_uri_args(query)
            if rule.host then
                var.o_host = rule.host
            end
            return
        end
    end
end
return _M
