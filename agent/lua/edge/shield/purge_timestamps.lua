-- When this node last received a purge for a URL: hard or soft, in milliseconds. nil: never. Versions begin with their
-- creation time.
local marks = require("edge.cache.marks")
local site_generation = require("edge.cache.site_generation")
local urls = require("edge.cache.urls")
local gmatch, tonumber, max = string.gmatch, tonumber, math.max

local _M = {}

local function later(a, b)
    return a and b and max(a, b) or a or b
end

-- `text`: concatenated versions.
local function latest(text)
    local at
    for moment in gmatch(text or "", "(%x+)%.%x+%.%x+%.%x+") do
        at = later(at, tonumber(moment, 16))
    end
    return at
end

-- `target`: host and decoded path.
function _M.of(site_id, url, target)
    local generation = site_generation.of(site_id)
    local hard = later(latest(urls.version(url, generation)), site_generation.raised_at(site_id))
    local soft = urls.softened(url, generation)
    local marked = marks.of(site_id, target)
    if marked then
        hard, soft = later(hard, latest(marked.version)), later(soft, marked.soft)
    end
    return hard, soft
end

-- The same for objects with these tags.
function _M.of_tags(site_id, tags)
    return marks.of_tags(site_id, tags)
end
return _M
