-- When this node last heard that what is stored of a URL is obsolete (hard), or to be asked about (soft); milliseconds, nil
-- where it never did. Versions begin with the moment they were made at.
local marks = require("edge.cache.marks")
local urls = require("edge.cache.urls")
local gmatch, tonumber, max = string.gmatch, tonumber, math.max

local _M = {}

local function later(a, b)
    return a and b and max(a, b) or a or b
end

-- `text`: versions, one behind the other.
local function latest(text)
    local at
    for moment in gmatch(text or "", "(%x+)%.%x+%.%x+%.%x+") do
        at = later(at, tonumber(moment, 16))
    end
    return at
end

-- `target`: host and decoded path.
function _M.of(site_id, url, target)
    local hard = later(latest(urls.version(url)), urls.moved_at(site_id))
    local soft = urls.softened(url)
    local marked = marks.of(site_id, target)
    if marked then
        hard, soft = later(hard, latest(marked.version)), later(soft, marked.soft)
    end
    return hard, soft
end

-- The same for what has these tags.
function _M.of_tags(site_id, tags)
    return marks.of_tags(site_id, tags)
end
return _M
