-- Which paths a rule is about. Asked of all rules in turn, so the extension is read once.
local set = require("edge.core.set")
local ngx_re_find = ngx.re.find
local sub, lower, match = string.sub, string.lower, string.match

local _M = {}

local make = {}
function make.all()
    return function()
        return true
    end
end
function make.fileType(values)
    local types = set(values)
    return function(_, extension)
        return types[extension]
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
-- A pattern that runs into its match limit answers nil and why: the caller says what is safe then.
function make.regex(values)
    return function(path)
        for i = 1, #values do
            local from, _, err = ngx_re_find(path, values[i], "jo")
            if from then
                return true
            end
            if err then
                return nil, err
            end
        end
    end
end

-- A function of a path and its extension.
function _M.matcher(rule)
    return make[rule.type](rule.values)
end

-- In lower case; empty where there is none.
function _M.extension(path)
    local extension = match(path, "%.([^./]+)$")
    return extension and lower(extension) or ""
end
return _M
