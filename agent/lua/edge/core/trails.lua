-- The decision trail of a request, for its log line: the microseconds of all decisions, and after "|" each step that
-- decided something as "step,result,microseconds,rule", separated by ";". Results: a status, "pass", "rule" for a rule
-- that applies to the path, "white" for a white list that exempts the request, and for rules that only monitor "would"
-- (end the request) or "match" (let it through). Built only for requests about which something was decided.
local now = require("edge.core.clock").now
local concat, floor, gmatch, match, type, var = table.concat, math.floor, string.gmatch, string.match, type, ngx.var

local _M = { now = now }
-- The control plane reads 32 notes of a request. Those that are not added by plugins are fewer than 16.
local MOST_ADDED = 16
-- Whether a request of this worker ever had such a note. Until then the variable need not be read.
local is_used = false

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

local function count_notes(text)
    local count = 0
    for _ in gmatch(text, "[^|;]+") do
        count = count + 1
    end
    return count
end

-- Adds a note about a rule that does not end the request.
function _M.add_note(step, result, rule)
    is_used = true
    local text = var.e_trail
    local count = count_notes(text)
    if count < MOST_ADDED then
        var.e_trail = text .. (count == 0 and "|" or ";") .. step .. "," .. result .. ",," .. rule
    end
end

-- The notes that were added, like those of `lasting`. nil: none.
function _M.added()
    local text = is_used and var.e_trail
    return text and text ~= "" and text or nil
end

-- Appends the notes of a step to `notes`.
local function append_added(notes, added, step)
    for note in gmatch(added, "[^|;]+") do
        if match(note, "^[^,]+") == step then
            notes[#notes + 1] = note
        end
    end
end

-- `trail`: of plugin_chain.run, with the nanoseconds of each module's plugin by its place in the list.
function _M.text(trail, answer, rule, lasting, added)
    local ended = now()
    local list, at = trail.list, trail.at
    local is_final = type(answer) == "number"
    local notes, counted = {}, 0
    for i = 1, at do
        local took = trail[i]
        if added then
            append_added(notes, added, list[i].name)
        end
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
