-- The generation of a site at this node, which is part of all its cache keys. Raising it purges the whole site.
-- Dictionaries and the purge log outlive upgrades, so they keep an older name: `moved` and `moves`.
local changes = require("edge.core.dicts").changes
local docs = require("edge.core.docs")
local purge_log = require("edge.cache.purge_log")
local floor, max = math.floor, math.max

local _M = {}
-- Ends the lock of a worker that was killed while it held it.
local LOCK_SECONDS = 60

function _M.of(site_id)
    return changes:get("moved|" .. site_id) or 0
end

-- When it was last raised, in milliseconds.
function _M.raised_at(site_id)
    return changes:get("movedAt|" .. site_id)
end

local function milliseconds()
    ngx.update_time()
    return ngx.now() * 1000
end

local function note_time(site_id)
    changes:set("movedAt|" .. site_id, milliseconds())
end

-- At least to the current time in milliseconds. The purge log may lack earlier generations after a full disk, and a
-- number that is used again would make files of that generation reachable. The time since the last generation is added
-- under a lock, because two workers that add it would double the number. The one without the lock adds 1.
function _M.raise(site_id)
    local lock = "raising|" .. site_id
    local has_lock = changes:add(lock, true, LOCK_SECONDS)
    local step = has_lock and max(1, floor(milliseconds() - _M.of(site_id))) or 1
    local generation = changes:incr("moved|" .. site_id, step, 0)
    if has_lock then
        changes:delete(lock)
    end
    purge_log.add({ site = site_id, moves = generation })
    note_time(site_id)
    docs.bump({ "site/" .. site_id })
end

-- From the purge log. Dictionaries that outlived an upgrade may have a newer one.
function _M.restore(site_id, generation)
    if generation > _M.of(site_id) then
        changes:set("moved|" .. site_id, generation)
        note_time(site_id)
    end
end
return _M
