-- The generation of a site at this node, which is part of all its cache keys. Raising it purges the whole site.
-- Dictionaries and the purge log outlive upgrades, so they keep an older name: `moved` and `moves`.
local changes = require("edge.core.dicts").changes
local docs = require("edge.core.docs")
local purge_log = require("edge.cache.purge_log")

local _M = {}

function _M.of(site_id)
    return changes:get("moved|" .. site_id) or 0
end

-- When it was last raised, in milliseconds.
function _M.raised_at(site_id)
    return changes:get("movedAt|" .. site_id)
end

local function note_time(site_id)
    ngx.update_time()
    changes:set("movedAt|" .. site_id, ngx.now() * 1000)
end

function _M.raise(site_id)
    purge_log.add({ site = site_id, moves = changes:incr("moved|" .. site_id, 1, 0) })
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
