-- Refuses requests by their header: rules of the site, then of the domain. With repeated fields any line counts. Fails
-- closed.
local memo = require("edge.core.memo")
local patterns = require("edge.core.patterns")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local get_headers = ngx.req.get_headers
local find, sub = string.find, string.sub
local ipairs, type = ipairs, type

local _M = { name = "antiHeader", priority = 4100, fails = "closed", restricts_access = true }

local compare = {}
function compare.equal(line, value)
    return line == value
end
function compare.contains(line, value)
    return find(line, value, 1, true) ~= nil
end
function compare.startsWith(line, value)
    return sub(line, 1, #value) == value
end
-- A line that reaches the match limit counts as a match, since it was made for that.
function compare.matches(line, value, id)
    local from, err = patterns.find(line, value, id)
    return from ~= nil or err ~= nil
end

local function any_line(lines, is_so, value, id)
    if type(lines) ~= "table" then
        return lines ~= nil and is_so(lines, value, id)
    end
    for i = 1, #lines do
        if is_so(lines[i], value, id) then
            return true
        end
    end
    return false
end

local function holder(operator, value, id)
    if operator == "exists" then
        return function(lines)
            return lines ~= nil
        end
    end
    if operator == "absent" then
        return function(lines)
            return lines == nil
        end
    end
    if operator == "notEqual" then
        return function(lines)
            return not any_line(lines, compare.equal, value)
        end
    end
    local is_so = compare[operator]
    return function(lines)
        return any_line(lines, is_so, value, id)
    end
end

local prepared = memo(function(rules)
    local list = {}
    for i, rule in ipairs(rules) do
        list[i] = {
            id = rule.id,
            name = rule.name,
            holds = holder(rule.operator, rule.value, rule.id),
            answer = rule.action == "drop" and 444 or 403,
        }
    end
    return list
end)

local function refuse(rules, headers)
    for _, rule in ipairs(prepared(rules)) do
        if rule.holds(headers[rule.name]) then
            return rule.answer, rule.id
        end
    end
end

function _M.access(site, request)
    local of_site, of_host = site.antiHeaders, request.host.doc.antiHeaders
    if not of_site and not of_host or white.has(site) then
        return nil
    end
    local headers = get_headers(0)
    local answer, id
    if of_site then
        answer, id = refuse(of_site, headers)
    end
    if not answer and of_host then
        answer, id = refuse(of_host, headers)
    end
    return answer, nil, id
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.antiHeaders and not outcome.request.host.doc.antiHeaders then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("antiHeader", outcome.rule)
end
return _M
