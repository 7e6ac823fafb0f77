-- Facts about single URLs, shared by all workers: a version (after a purge or an unsafe method), the variant recipe,
-- that it is uncacheable, and fields renewed by a 304. Visitors can invent URLs, so nothing may be evicted: below a
-- reserve only versions are written, and a version without room moves its whole site.
--
-- Each fact is a separate key, written whole. Every change gives the URL a new token. Workers cache facts under a token
-- and read again when it changes.
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local docs = require("edge.core.docs")
local purge_log = require("edge.cache.purge_log")
local urls, changes = dicts.urls, dicts.changes
local now, time, format, match, random, tonumber = ngx.now, ngx.time, string.format, string.match, math.random, tonumber

local _M = {}
local RESERVE = 8 * 1024 * 1024
-- At least as long as anything stays in the cache.
local KEPT_SECONDS = 31536000
local AHEAD_SECONDS = 60
local made = 0

-- Unique on all workers, before and after a restart. `since`: the time of the purge in milliseconds.
function _M.new_token(since)
    made = made + 1
    -- The real time: a later request must not seem older.
    ngx.update_time()
    return format("%x.%x.%x.%x", since or now() * 1000, ngx.worker.pid(), made, random(0, 2147483647))
end

function _M.token(url)
    return urls:get(url)
end

function _M.version(url)
    return urls:get("version|" .. url)
end

function _M.recipe(url)
    return urls:get("recipe|" .. url)
end

-- Until when the URL bypasses the cache. `personal`: for requests with Authorization. A mark is valid only under the
-- `scope` of documents and purges that the decision depended on.
function _M.pass_until(url, scope, personal)
    local till, of = match(urls:get((personal and "personal|" or "pass|") .. url) or "", "^(%d+) (.*)$")
    return of == scope and tonumber(till) or 0
end

local function put(kind, url, value, seconds)
    if not urls:safe_set(kind .. url, value, seconds) or not urls:safe_set(url, _M.new_token(), KEPT_SECONDS) then
        counters.count("urlsFull")
        return false
    end
    docs.tick()
    return true
end

local function note(kind, url, value, seconds)
    return urls:free_space() >= RESERVE and put(kind, url, value, seconds)
end

function _M.note_recipe(url, recipe)
    return note("recipe|", url, recipe, KEPT_SECONDS)
end

-- A recipe that is needed only if the first response turns out to be an image. The first one written wins.
function _M.recipe_ahead(url, recipe)
    local key = "ahead|" .. url
    local known = urls:get(key)
    if not known and urls:free_space() >= RESERVE and urls:safe_add(key, recipe, AHEAD_SECONDS) then
        return recipe
    end
    return known or urls:get(key)
end

function _M.forget_recipe(url)
    urls:delete("recipe|" .. url)
end

-- The URL looked like an image for WebP and is none.
function _M.is_plain(url)
    return urls:get("plain|" .. url)
end

function _M.note_plain(url)
    if urls:free_space() >= RESERVE then
        urls:safe_set("plain|" .. url, true, KEPT_SECONDS)
    end
end

-- The version of a large file that its stored slices belong to.
function _M.validator(url)
    return urls:get("validator|" .. url)
end

function _M.note_validator(url, value)
    return note("validator|", url, value, KEPT_SECONDS)
end

-- Renewed while it is used, so that continuous requests never wait for each other.
function _M.note_pass(url, scope, seconds, personal)
    if _M.pass_until(url, scope, personal) < time() + seconds / 2 then
        note(personal and "personal|" or "pass|", url, time() + seconds .. " " .. scope, seconds)
    end
end

function _M.forget_pass(url, personal)
    local key = (personal and "personal|" or "pass|") .. url
    if urls:get(key) then
        urls:delete(key)
        urls:safe_set(url, _M.new_token(), KEPT_SECONDS)
        docs.tick()
    end
end

local function note_move(site_id)
    ngx.update_time()
    changes:set("movedAt|" .. site_id, now() * 1000)
end

-- Makes everything stored of the site unreachable.
function _M.move_site(site_id)
    purge_log.add({ site = site_id, moves = changes:incr("moved|" .. site_id, 1, 0) })
    note_move(site_id)
    docs.bump({ "site/" .. site_id })
end

-- Makes everything stored of the URL unreachable, in all variants.
function _M.set_version(site_id, url, version)
    urls:delete("recipe|" .. url)
    urls:delete("ahead|" .. url)
    urls:delete("plain|" .. url)
    urls:delete("pass|" .. url)
    urls:delete("personal|" .. url)
    if not put("version|", url, version, KEPT_SECONDS) then
        _M.move_site(site_id)
    end
end

-- The same, and it survives a restart.
function _M.set_lasting_version(site_id, url, version)
    purge_log.add({ site = site_id, url = url, version = version })
    _M.set_version(site_id, url, version)
end

-- Objects of the URL stored before this time (milliseconds) are revalidated before they are served.
function _M.softened(url)
    return urls:get("softened|" .. url)
end

function _M.soften(site_id, url, at)
    purge_log.add({ site = site_id, url = url, softened = at })
    if not put("softened|", url, at, KEPT_SECONDS) then
        _M.move_site(site_id)
    end
end

-- In the master, for new dictionaries. A reload keeps them. `others`: handles entries of other kinds.
function _M.restore(others)
    if not changes:add("born", _M.new_token()) then
        return
    end
    purge_log.replay(function(entry)
        if entry.softened then
            put("softened|", entry.url, entry.softened, KEPT_SECONDS)
        elseif entry.url then
            put("version|", entry.url, entry.version, KEPT_SECONDS)
        elseif entry.mark then
            others(entry)
        else
            changes:set("moved|" .. entry.site, entry.moves)
            note_move(entry.site)
        end
    end)
end

-- Identifies these dictionaries. Facts that only they held are never found under another mark.
function _M.born()
    return changes:get("born")
end

-- How often the whole site was moved for lack of memory.
function _M.site_moves(site_id)
    return changes:get("moved|" .. site_id) or 0
end

-- When it was last moved, in milliseconds.
function _M.moved_at(site_id)
    return changes:get("movedAt|" .. site_id)
end

function _M.freshened(key)
    return urls:get("fresh|" .. key)
end

function _M.note_freshened(key, value)
    if urls:free_space() >= RESERVE and not urls:safe_set("fresh|" .. key, value, KEPT_SECONDS) then
        counters.count("urlsFull")
    end
end

function _M.forget_freshened(key)
    urls:delete("fresh|" .. key)
end

-- A simulated request writes nothing. `task` may not yield.
local is_dry = false
function _M.dry(task, ...)
    is_dry = true
    local ok, a, b, c, d = pcall(task, ...)
    is_dry = false
    if not ok then
        error(a, 0)
    end
    return a, b, c, d
end
for _, name in ipairs {
    "note_recipe", "note_validator", "note_pass", "note_freshened", "forget_pass", "forget_freshened", "move_site",
    "set_version", "set_lasting_version", "soften",
} do
    local write = _M[name]
    _M[name] = function(...)
        if not is_dry then
            return write(...)
        end
    end
end
return _M
