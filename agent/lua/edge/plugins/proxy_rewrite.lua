-- Rewrites path, query and Host of requests to the domain's own origins. Runs in hop B behind the cache, whose keys
-- keep the visitor's URL. Fails open: the origin receives the original request.
local patterns = require("edge.core.patterns")
local spelling = require("edge.core.spelling")
local set_uri, set_uri_args = ngx.req.set_uri, ngx.req.set_uri_args
local find, gsub, ipairs, sub, var = string.find, string.gsub, ipairs, string.sub, ngx.var

-- After the choice of the origin, since the phase may restart before that.
local _M = { name = "proxyRewrite", priority = 850, of_module = true }

function _M.prepare(doc)
    doc.rules.id = doc.id
    for _, rule in ipairs(doc.rules) do
        rule.spelled = {}
        for i, part in ipairs(rule.path) do
            rule.spelled[i] = i % 2 == 1 and spelling.escape(part) or part
        end
    end
    return doc.rules
end

-- Each returns the path for the origin's request line twice, decoded and as it is sent, or nil if the rule does not
-- match. `at`: the visitor's path.
local matches = {}
function matches.exact(rule, at)
    if at.path == rule.source then
        return rule.path[1], spelling.escape(rule.path[1])
    end
end
function matches.prefix(rule, at)
    local source, path = rule.source, at.path
    local behind = #source + 1
    if sub(path, 1, #source) ~= source or #path ~= #source and sub(path, behind, behind) ~= "/" then
        return nil
    end
    local to = rule.path[1]
    if not rule.keepRest or #path == #source then
        return to, spelling.escape(to)
    end
    return to .. sub(path, behind), spelling.escape(to) .. spelling.rest(at, behind)
end
function matches.regex(rule, at, id)
    local path, source = at.path, rule.source
    if sub(path, 1, #rule.literal) ~= rule.literal then
        return nil
    end
    local captures, err = patterns.match(path, source, id)
    if err then
        ngx.log(ngx.WARN, "proxy rewrite ", source, ": ", err)
    end
    if not captures then
        return nil
    end
    local to = patterns.fill(rule.path, function(number)
        return captures[number] or ""
    end)
    return to, patterns.fill(rule.spelled, function(number)
        return spelling.part(at, patterns.group(path, source, number))
    end)
end

-- A target with a doubled first slash has one, except for slashes that the visitor doubled.
local function joined(path, sent)
    if path == "" then
        return "/", "/"
    end
    if find(path, "^//") then
        return gsub(path, "^/+", "/"), gsub(sent, "^/+", "/")
    end
    return path, sent
end

function _M.origin_access(_, request, module)
    local at = spelling.of(spelling.line(request.uri), request.path)
    for i, rule in ipairs(module) do
        local path, sent = matches[rule.type](rule, at, module.id)
        if path then
            path, sent = joined(path, sent)
            -- A captured group must not contain `..` segments.
            if find(spelling.unescape(sent) .. "/", "/../", 1, true) then
                return
            end
            local args = rule.keepQuery and request.args or ""
            local query = rule.query ~= "" and args ~= "" and rule.query .. "&" .. args or rule.query .. args
            request.rewritten = i
            -- nginx would encode its own path, so the origin receives `o_uri`. The log shows nginx's path.
            set_uri(path, false, true)
            set_uri_args(query)
            var.o_uri = query ~= "" and sent .. "?" .. query or sent
            if rule.host then
                var.o_host = rule.host
            end
            return
        end
    end
end
return _M
