-- Rewrites path, query and Host of requests to the domain's own origins. Runs in hop B behind the cache, whose keys
-- keep the visitor's URL. Fails open: the origin receives the original request.
local path_variants = require("edge.core.path_variants")
local patterns = require("edge.core.patterns")
local spelling = require("edge.core.spelling")
local set_uri, set_uri_args = ngx.req.set_uri, ngx.req.set_uri_args
local find, gsub, match, sub = string.find, string.gsub, string.match, string.sub
local ipairs, md5, var = ipairs, ngx.md5, ngx.var

-- After the choice of the origin, since the phase may restart before that.
local _M = { name = "proxyRewrite", priority = 850, of_module = true }

local function escaped(parts)
    local list = {}
    for i, part in ipairs(parts) do
        list[i] = spelling.escape(part)
    end
    return list
end

-- The folder of the target that the visitor's part must stay in: /dir of `/dir/a-$1`. nil if the rule adds nothing of
-- the visitor's path.
local function folder_of(rule, parts)
    if rule.type == "prefix" then
        return rule.keepRest and parts[1] or nil
    end
    return parts[2] and match(parts[1], "^(.*)/") or nil
end

-- Documents of older releases have no spelling of the target.
function _M.prepare(doc)
    doc.rules.id = doc.id
    for _, rule in ipairs(doc.rules) do
        rule.spelled = rule.spelled or escaped(rule.path)
        rule.folder, rule.spelled_folder = folder_of(rule, rule.path), folder_of(rule, rule.spelled)
    end
    return doc.rules
end

-- Each returns the path for the origin's request line twice, decoded and as it is sent, or nil if the rule does not
-- match. `at`: the visitor's path.
local matches = {}
function matches.exact(rule, at)
    if at.path == rule.source then
        return rule.path[1], rule.spelled[1]
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
        return to, rule.spelled[1]
    end
    return to .. sub(path, behind), rule.spelled[1] .. spelling.rest(at, behind)
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

-- Whether some origin would read what is behind the target's folder as leading out of it, as in `..%2f` or `..;/`. The
-- folder itself is not judged: a hash stands for it, since no visitor can name a hash of his own path in that path.
local function leaves_folder(rule, path, sent)
    if not rule.folder then
        return false
    end
    local sent_behind, path_behind = sub(sent, #rule.spelled_folder + 1), sub(path, #rule.folder + 1)
    local folder = "/" .. md5(sent_behind)
    local variants = path_variants.of({ uri = folder .. sent_behind, path = folder .. path_behind })
    for _, one in ipairs(variants and variants.list or {}) do
        if one ~= folder and sub(one, 1, #folder + 1) ~= folder .. "/" then
            return true
        end
    end
    return variants ~= nil and variants.too_many
end

function _M.origin_access(_, request, module)
    local at = spelling.of(spelling.line(request.uri), request.path)
    for i, rule in ipairs(module) do
        local path, sent = matches[rule.type](rule, at, module.id)
        if path then
            -- Like a path that no rule matches. Later rules are not tried.
            if leaves_folder(rule, path, sent) then
                return
            end
            path, sent = joined(path, sent)
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
