-- Matches paths against rules. The file extension is extracted once for all rules.
local patterns = require("edge.core.patterns")
local set = require("edge.core.set")
local concat, find, lower, match, sub = table.concat, string.find, string.lower, string.match, string.sub

local _M = {}

-- The path of a request line, as it is written there.
function _M.without_query(uri)
    return match(uri, "^[^?]*")
end

-- "tar.gz" of /a.tar.gz, in lower case. "" when there is none.
local function double_extension(path)
    return lower(match(path, "%.([^./]+%.[^./]+)$") or "")
end

local make = {}
function make.all()
    return function()
        return true
    end
end
function make.fileType(values)
    local types = set(values)
    local has_double = find(concat(values, " "), ".", 1, true)
    return function(path, extension)
        return types[extension] or has_double and types[double_extension(path)]
    end
end
function make.url(values)
    local urls = set(values)
    return function(path)
        return urls[path]
    end
end
function make.prefix(values)
    return function(path)
        for i = 1, #values do
            if sub(path, 1, #values[i]) == values[i] then
                return true
            end
        end
    end
end
-- At the match limit returns nil and the error, so that the caller decides. Third result: the pattern does not compile.
function make.regex(values, id)
    return function(path)
        for i = 1, #values do
            local from, err, is_broken = patterns.find(path, values[i], id)
            if from then
                return true
            end
            if err or is_broken then
                return nil, err, is_broken
            end
        end
    end
end

-- A function of a path and its extension. `id`: the rule's, for the list of patterns that do not compile.
function _M.matcher(rule, id)
    return make[rule.type](rule.value, id or rule.id)
end

-- In lower case. "" when there is none.
function _M.extension(path)
    local extension = match(path, "%.([^./]+)$")
    return extension and lower(extension) or ""
end
return _M
