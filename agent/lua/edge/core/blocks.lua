-- The zone's block set: IPv4 addresses and IPv6 /64s, in one dictionary shared by all workers. Blocks found here take
-- effect first. The agent fetches them each second for the kernel and other nodes, and brings theirs. Addresses on the
-- zone's allow lists, its relays and this machine are never blocked. Rules of a site block for that site only: these
-- entries have the site's id before the network, stay in nginx, and have a quota per site.
local addresses = require("edge.core.addresses")
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local settings = require("edge.core.settings")
local always_allowed = require("edge.core.always_allowed")
local zones = require("edge.core.zone")
local byte, char, format, gmatch, match, sub = string.byte, string.char, string.format, string.gmatch, string.match, string.sub
local ceil, concat, floor, ipairs, tonumber, var = math.ceil, table.concat, math.floor, ipairs, tonumber, ngx.var

local _M = {}
-- Counters need room when the set is full.
local dict, changes = dicts.blocks, dicts.changes

local MARK, ROOM, DROPPED = "blocks:mark", "blocks:room", "blocks:dropped"
-- The length differs from that of a network's bytes, 4 or 8.
local FRESH = "agent:fresh"
-- Fetched by the agent, which may have died before writing them to disk.
local HANDED = "agent:handed"
-- Blocks found and not yet fetched. Also limits new blocks per second.
local MOST_FRESH = 2000
local MOST_FETCHED = 1000
local MOST_HANDED = 10000
-- Blocks of one site, and of all sites, that are new within the time of a block.
local MOST_OF_SITE, MOST_OF_SITES = 1000, 20000
local OF_SITE, OF_SITES = "sites:quota:", "sites:quota"
-- Blocks of sites since the agent's last call: network, cause, site, seconds.
local SITES_FRESH = "agent:sites"
local NO_ZONE = {}

local function text_of(key)
    if #key == 4 then
        return format("%d.%d.%d.%d", byte(key, 1, 4))
    end
    local a, b, c, d, e, f, g, h = byte(key, 1, 8)
    return format("%x:%x:%x:%x::/64", a * 256 + b, c * 256 + d, e * 256 + f, g * 256 + h)
end

local function bytes_of(text)
    local parts = {}
    if match(text, "::/64$") then
        for group in gmatch(sub(text, 1, -6), "%x+") do
            local value = tonumber(group, 16)
            parts[#parts + 1] = char(floor(value / 256), value % 256)
        end
    else
        for part in gmatch(text, "%d+") do
            parts[#parts + 1] = char(tonumber(part))
        end
    end
    return concat(parts)
end

local function is_spared(address)
    local zone = zones.get()
    return always_allowed(zone and zone.doc or NO_ZONE, address)
end

-- Why this visitor is blocked, in the zone or for this site. nil: not blocked.
function _M.cause(site)
    local address = var.binary_remote_addr
    local network = addresses.network(address)
    local cause = dict:get(network) or site and dict:get(site .. network)
    -- The allow list may be newer than the block, and may name one address of a /64.
    if cause and not is_spared(address) then
        return cause
    end
end

local function refuse(why)
    changes:incr(DROPPED, 1, 0)
    return nil, why
end

-- Blocks this request's visitor in the whole zone. `seconds`: nil is the zone's default. `rule`: its id.
-- Returns true, or nil and the reason: "off", "spared", "full" (set or memory) or "hasty" (too many per second).
function _M.add(cause, seconds, rule)
    local set = settings.blocks
    if not set then
        return nil, "off"
    end
    local address = var.binary_remote_addr
    local key = addresses.network(address)
    if #key ~= 4 and #key ~= 8 or is_spared(address) then
        return nil, "spared"
    end
    if dict:get(key) then
        return true
    end
    local waiting = dict:llen(FRESH) or 0
    if waiting >= (changes:get(ROOM) or set.max) then
        return refuse("full")
    end
    if waiting >= MOST_FRESH then
        return refuse("hasty")
    end
    seconds = seconds or set.timeout
    local ok, err = dict:safe_add(key, cause, seconds)
    if err == "exists" then
        -- Another worker blocked it first.
        return true
    end
    local line = text_of(key) .. "|" .. cause .. "|" .. (var.e_site or "") .. "|" .. seconds .. "|" .. (rule or "")
    local pushed = ok and dict:rpush(FRESH, line)
    if not pushed then
        -- Without room in the list the agent would never learn of it.
        dict:delete(key)
        return refuse("full")
    end
    return true
end

-- Counts a block in a period as long as blocks hold, so at most twice the quota is blocked at once.
local function has_room(key, most, seconds)
    local count = dict:incr(key, 1, 0, seconds)
    return count and count <= most
end

-- Blocks this request's visitor for one site. Returns as `add`; "full" is the site's quota or the memory.
function _M.add_for_site(cause, site, rule)
    local set = settings.blocks
    if not set then
        return nil, "off"
    end
    local address = var.binary_remote_addr
    local network = addresses.network(address)
    if #network ~= 4 and #network ~= 8 or is_spared(address) then
        return nil, "spared"
    end
    local key, seconds = site .. network, set.timeout
    if dict:get(key) then
        return true
    end
    if not has_room(OF_SITE .. site, MOST_OF_SITE, seconds) or not has_room(OF_SITES, MOST_OF_SITES, seconds) then
        counters.count("siteBlocksFull")
        return nil, "full"
    end
    local ok, err = dict:safe_add(key, cause, seconds)
    if not ok and err ~= "exists" then
        counters.count("siteBlocksFull")
        return nil, "full"
    end
    if (dict:llen(SITES_FRESH) or 0) < MOST_FRESH then
        dict:rpush(SITES_FRESH, text_of(network) .. "|" .. cause .. "|" .. site .. "|" .. seconds .. "|" .. (rule or ""))
    end
    return true
end

local function found_in(line)
    local network, cause, site, seconds, rule = match(line, "^([^|]*)|([^|]*)|([^|]*)|(%d+)|?(.*)$")
    return {
        network = network, cause = cause, seconds = tonumber(seconds),
        siteID = site ~= "" and site or nil, rule = rule ~= "" and rule or nil,
    }
end

-- Fetched blocks that still hold, with their remaining time.
local function handed()
    local found = {}
    for _ = 1, dict:llen(HANDED) or 0 do
        local line = dict:lpop(HANDED)
        local block = line and found_in(line)
        local left = block and dict:ttl(bytes_of(block.network))
        if left and left > 0 then
            dict:rpush(HANDED, line)
            block.seconds = ceil(left)
            found[#found + 1] = block
        end
    end
    return found
end

-- Blocks since the agent's last call, and the mark of the set that it filled. `room`: how many more the set may take.
-- `had`: what became of the last batch: "kept" is on disk, "lost" is reported again.
function _M.fetch(room, had)
    changes:set(ROOM, room)
    if had == "kept" then
        dict:delete(HANDED)
    end
    local found = had == "lost" and handed() or {}
    for _ = 1, MOST_FETCHED do
        local line = dict:lpop(FRESH)
        if not line then
            break
        end
        if (dict:llen(HANDED) or 0) < MOST_HANDED then
            dict:rpush(HANDED, line)
        end
        found[#found + 1] = found_in(line)
    end
    local of_sites = {}
    for _ = 1, MOST_FETCHED do
        local line = dict:lpop(SITES_FRESH)
        if not line then
            break
        end
        of_sites[#of_sites + 1] = found_in(line)
    end
    local dropped = changes:get(DROPPED) or 0
    if dropped > 0 then
        changes:incr(DROPPED, -dropped)
    end
    return { mark = changes:get(MARK), found = found, sites = of_sites, dropped = dropped }
end

-- From the agent: a list of { network, seconds, cause, site }. 0 seconds unblocks. `site`: for this site only.
-- `begins`: clears the set first.
function _M.change(blocks, mark, begins)
    if begins then
        dict:flush_all()
        changes:delete(MARK)
    end
    for _, block in ipairs(blocks) do
        local key, seconds = (block[4] or "") .. bytes_of(block[1]), block[2]
        if seconds <= 0 then
            dict:delete(key)
        elseif not dict:safe_set(key, block[3], seconds) then
            counters.count("blocksFull")
        end
    end
    if mark then
        changes:set(MARK, mark)
    end
end
return _M
