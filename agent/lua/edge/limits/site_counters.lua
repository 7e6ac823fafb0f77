-- The counters of a site's limits. Visitors choose their addresses, URLs and headers, so each site has a share of the
-- memory, and leaves room for others. Visitors beyond the share count together, by a hash of the address.
--
-- A limit counts in windows, each with a counter of its own. There is a dictionary for each length of windows: nginx
-- frees expired counters only behind the ones that were used before them, so in a common dictionary a counter of a long
-- window would keep the memory of many short ones.
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local memo = require("edge.core.memo")
local crc32, floor, ipairs, max, md5, min, now, sub = ngx.crc32_short, math.floor, ipairs, math.max, ngx.md5_bin,
    math.min, ngx.now, string.sub

local _M = {}
-- Memory of a counter with a name of up to 52 bytes.
local BYTES_OF_COUNTER = 128
local LEAST_SHARED = 256

-- `period`: the longest window, and the time in which new counters are counted. A counter expires within two periods,
-- so those of at most three are in memory.
local function store(period, dict)
    local room = floor(dict:capacity() / BYTES_OF_COUNTER)
    local most_new = floor(room / 10)
    return {
        period = period,
        dict = dict,
        -- New counters of all sites. A site may have at most as many as are left.
        most_new = most_new,
        -- A site may have this many, even if none are left, until all sites have half as many again.
        least_of_site = max(1, floor(most_new / 16)),
        -- Counters of a site for visitors beyond its share.
        shared = max(8, floor(room / 128)),
    }
end

local STORES = {
    store(10, dicts.limits_10),
    store(60, dicts.limits_60),
    store(600, dicts.limits_600),
    store(3600, dicts.limits_3600),
}
_M.LONGEST_WINDOW = STORES[#STORES].period

local function store_of(seconds)
    for _, candidate in ipairs(STORES) do
        if seconds <= candidate.period then
            return candidate
        end
    end
end

-- A UUID would double the memory of a counter.
local short_id = memo(function(owner)
    return sub(md5(owner.id), 1, 8)
end)

local count_rules = memo(function(site)
    return 1 + #(site.frequencies or {}) + #(site.limitReqs or {})
end)

-- Whether the site may have one more counter in this period.
local function may_add(of, site, is_chosen)
    local dict = of.dict
    local of_all = "new:" .. floor(now() / of.period)
    local of_site = of_all .. (is_chosen and "chosen" or "address") .. site.id
    local added, added_by_all = dict:get(of_site) or 0, dict:get(of_all) or 0
    local has_share = added < of.most_new - added_by_all
    local has_least = added < of.least_of_site and added_by_all < of.most_new * 1.5
    if not has_share and not has_least then
        return false
    end
    dict:incr(of_site, 1, 0, of.period)
    dict:incr(of_all, 1, 0, of.period)
    return true
end

-- Adds to the counter of this request. `owner`: the rule, or the site. `address`: by its hash visitors beyond the share
-- count together. `chosen`: what the visitor is counted by instead of the address, or nil. `seconds`: length of the
-- window, at most LONGEST_WINDOW. With `from`, a window begins at the value of the one before, or at `from` if that is
-- more. Without it, at 0.
-- Results: the sum, the seconds left in the window, the counter's dictionary and name, and a name for `before`.
function _M.add(site, owner, address, chosen, seconds, step, from)
    local of, moment = store_of(seconds), now()
    local dict, window = of.dict, floor(moment / seconds)
    local left = (window + 1) * seconds - moment
    local name = short_id(owner) .. (chosen or address)
    local counter = name .. window
    local sum = dict:incr(counter, step)
    if sum then
        return sum, left, dict, counter, name
    end
    if not may_add(of, site, chosen ~= nil) then
        counters.count("limitKeysFull")
        if chosen then
            return _M.add(site, owner, address, nil, seconds, step, from)
        end
        local shared = max(floor(of.shared / count_rules(site)), min(of.shared, LEAST_SHARED))
        -- No address, and nothing that a visitor chooses, begins like this.
        name = short_id(owner) .. "shared:" .. crc32(address) % shared
        counter = name .. window
    end
    local start = from and max(from, dict:get(name .. window - 1) or 0) or 0
    return dict:incr(counter, step, start, left + seconds), left, dict, counter, name
end

-- The value of the window before, or nil. `name`: the last result of `add`.
function _M.before(dict, name, seconds)
    return dict:get(name .. floor(now() / seconds) - 1)
end

-- Reads for simulations what `add` would add to. Results: the values of the window and of the one before, or nil, and
-- the seconds left.
function _M.read(owner, address, chosen, seconds)
    local dict, window = store_of(seconds).dict, floor(now() / seconds)
    local name = short_id(owner) .. (chosen or address)
    return dict:get(name .. window), dict:get(name .. window - 1), (window + 1) * seconds - now()
end
return _M
