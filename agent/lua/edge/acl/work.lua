-- Prices of comparisons in access rules and scripts. A unit is about 50 ns. Patterns are charged by measured CPU time:
-- PCRE resets its match limit at each start, and a step may scan the whole text.
local cpu = require("edge.core.clock").cpu
local patterns = require("edge.core.patterns")
local recent = require("edge.core.recent")
local floor = math.floor

local _M = { OVER = "over its budget" }
local UNIT_NS = 50
local PATTERN = 20
-- Bytes of a copy in lower case, or of a search, that cost a unit.
local BYTES = 64
-- Comparisons of a search for a text, at worst one for each pair of bytes, that cost a unit.
local PAIRS = 512
-- A binary search in the geo pack or the risk pack, or a lookup per prefix length.
_M.LOOKUP = 20
-- Fields that cost a lookup at each use, in rules and in scripts.
_M.LOOKED_UP = {
    country = true, province = true, continent = true, isp = true, asn = true, riskScore = true,
    bot = true, botCategory = true, botState = true,
}
-- Starts of a match between two looks at the clock, in longer texts.
local SLICE, ANY_IN_SLICE, LONGEST_WHOLE = 256, ".{0,255}?", 4096

function _M.of_text(value)
    return 1 + floor(#value / BYTES)
end

function _M.of_search(value, part)
    return floor(#value * #part / PAIRS)
end

-- One anchored match that skips to each start, so that the limit of steps counts for all starts together. The first use
-- compiles it, which no request is charged for.
local whole, sliced = recent.new(4096), recent.new(4096)
local function within(cache, pattern, steps, skip, rule)
    local key = steps .. pattern
    local made = cache:get(key)
    if not made then
        made = "(*LIMIT_MATCH=" .. steps .. ")\\G(?s:" .. skip .. ")(?:" .. pattern .. ")"
        patterns.find("", made, rule)
        cache:set(key, made)
    end
    return made
end

local function in_slices(subject, pattern, rule, ends)
    local ctx = {}
    for at = 1, #subject + 1, SLICE do
        ctx.pos = at
        local from, err = patterns.find(subject, pattern, rule, ctx)
        if from or err then
            return from ~= nil, err
        end
        if cpu() > ends then
            return nil, _M.OVER
        end
    end
    return false
end

-- Whether the pattern matches. nil and an error: it cannot be judged. Third result: the units that it cost.
-- `steps`: the match limit. `units`: what is left.
function _M.matches(subject, pattern, rule, steps, units)
    local is_long = #subject > LONGEST_WHOLE
    local made = is_long and within(sliced, pattern, steps, ANY_IN_SLICE, rule)
        or within(whole, pattern, steps, ".*?", rule)
    local began = cpu()
    local holds, err
    if is_long then
        holds, err = in_slices(subject, made, rule, began + units * UNIT_NS)
    else
        local from
        from, err = patterns.find(subject, made, rule)
        holds = from ~= nil
    end
    local cost = PATTERN + floor((cpu() - began) / UNIT_NS)
    if err then
        return nil, err, cost
    end
    return holds, nil, cost
end
return _M
