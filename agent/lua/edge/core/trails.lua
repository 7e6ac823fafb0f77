-- The decision trail of a request, for its log line: the microseconds of all decisions, and after "|" each step that
-- decided something as "step,result,microseconds,rule", separated by ";". Results: a status, "pass", or "rule" for a
-- rule that applies to the path. Built only for requests about which something was decided.
local now = require("edge.core.clock").now
local concat, floor, type = table.concat, math.floor, type

local _M = { now = now }

local function microseconds(nanoseconds)
    return floor(nanoseconds / 100 + 0.5) / 10
end

-- Rules that apply to the path, remembered with the request. False: none.
function _M.lasting(request)
    local rate, made = request.rate, request.cache
    local found = made and made.found
    local notes = {}
    if rate then
        notes[1] = "rates,rule,," .. rate.id
    end
    -- A pattern that does not compile leaves no rule.
    if found and found.id then
        notes[#notes + 1] = "cache,rule,," .. found.id
    end
    request.trail = #notes > 0 and "|" .. concat(notes, ";") or false
    return request.trail
end

-- `trail`: of plugin_chain.run, with the nanoseconds of each module's plugin by its place in the list.
function _M.text(trail, answer, rule, lasting)
    local ended = now()
    local list, at = trail.list, trail.at
    local is_final = type(answer) == "number"
    local notes, counted = {}, 0
    for i = 1, at do
        local took = trail[i]
        if took then
            counted = counted + took
            if i ~= at or not is_final then
                notes[#notes + 1] = list[i].name .. ",pass," .. microseconds(took) .. ","
            end
        end
    end
    if is_final then
        -- A plugin without a module was not timed: its time includes that of the untimed plugins before it.
        local took = trail[at] or ended - trail.from - counted
        notes[#notes + 1] = (list[at] and list[at].name or "") .. "," .. answer .. "," .. microseconds(took) .. "," .. (rule or "")
    end
    local text = microseconds(ended - trail.from) .. "|" .. concat(notes, ";")
    if lasting and not is_final then
        text = text .. (#notes > 0 and ";" or "") .. lasting:sub(2)
    end
    return text
end
return _M
