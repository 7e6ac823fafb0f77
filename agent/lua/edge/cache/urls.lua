-- Entries about single URLs, shared by all workers: a version (after a purge or an unsafe method), the variant recipe,
-- that it is uncacheable, and fields renewed by a 304. Visitors can invent URLs, so each site has its share
-- (shares.lua), below a reserve only purges are written, and a purge without room purges its whole site.
--
-- Each entry is a separate key, written whole. Every change gives the URL a new token. Workers cache entries under a
-- token and read again when it changes. Purges (versions and soft purges) must not be lost. A new generation of their
-- site replaces them, so its number is part of their names.
local cjson = require("cjson.safe")
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local docs = require("edge.core.docs")
local purge_log = require("edge.cache.purge_log")
local shares = require("edge.cache.shares")
local site_generation = require("edge.cache.site_generation")
local urls, changes = dicts.urls, dicts.changes
local add, id = shares.add, shares.id
local now, time, format, match, random = ngx.now, ngx.time, string.format, string.match, math.random
local ipairs, pairs, sort, tonumber = ipairs, pairs, table.sort, tonumber

local _M = {}
-- The part of memory that only purges get.
local RESERVE = 1 / 16
local MAX_TTL_SECONDS = shares.MAX_TTL_SECONDS
-- The renewed fields of a 304 are left out beyond this number, where not all fit into an entry.
local MOST_FIELDS = 200
-- Belongs to the names of purges and gets a new number with them. Its value is the lifetime of marks. After an upgrade
-- or a zone's change by reload the dictionaries are old, and the log is read once for new names or a new lifetime.
local RESTORED = "restored|2"
local made = 0
-- During a simulated request, which writes nothing.
local is_dry = false

-- Unique on all workers, before and after a restart. `since`: the time of the purge in milliseconds.
function _M.new_token(since)
    made = made + 1
    -- The real time: a later request must not seem older.
    ngx.update_time()
    return format("%x.%x.%x.%x", since or now() * 1000, ngx.worker.pid(), made, random(0, 2147483647))
end

function _M.token(url)
    return urls:get(id(url))
end

-- `generation`: the site's, in the key that the version will be part of.
function _M.version(url, generation)
    return urls:get("version|" .. generation .. "|" .. id(url))
end

function _M.recipe(url)
    return urls:get("recipe|" .. id(url))
end

-- Whether any entry of the site may exist.
_M.has_entries = shares.has

-- A URL without a token may have had one since an earlier number.
_M.evictions = shares.evictions

-- Until when the URL bypasses the cache. `personal`: for requests with Authorization. A mark is valid only under the
-- `scope` of documents and purges that the decision depended on.
function _M.pass_until(url, scope, personal)
    local till, of = match(urls:get((personal and "personal|" or "pass|") .. id(url)) or "", "^(%d+) (.*)$")
    return of == scope and tonumber(till) or 0
end

-- Makes everything stored of the site unreachable.
function _M.purge_site(site_id)
    site_generation.raise(site_id)
end

-- False: there is no room for the entry.
function _M.put(site_id, name, value, seconds, is_purge, method)
    local is_stored, must_purge_site = add(site_id, name, value, seconds, is_purge, method)
    if must_purge_site then
        _M.purge_site(site_id)
    end
    if not is_stored or must_purge_site then
        counters.count("urlsFull")
    end
    return is_stored
end

-- False: workers do not read the URL's entries again.
local function change(site_id, url)
    local is_noted = _M.put(site_id, id(url), _M.new_token(), MAX_TTL_SECONDS)
    docs.tick()
    return is_noted
end

-- `kind` and the site's generation are part of a purge's name.
local function purge_name(site_id, kind, url)
    return kind .. site_generation.of(site_id) .. "|" .. id(url)
end

-- Without room for it, the whole site is purged.
local function put_purge(site_id, kind, url, value)
    local name = purge_name(site_id, kind, url)
    if not _M.put(site_id, name, value, MAX_TTL_SECONDS, true) or not change(site_id, url) then
        _M.purge_site(site_id)
    end
end

local function has_room()
    return urls:free_space() >= RESERVE * urls:capacity()
end

local function note(site_id, kind, url, value)
    return has_room() and _M.put(site_id, kind .. id(url), value, MAX_TTL_SECONDS) and change(site_id, url)
end

function _M.note_recipe(site_id, url, recipe)
    return note(site_id, "recipe|", url, recipe)
end

-- A recipe that is needed only if the first response turns out to be an image. The first one written wins.
function _M.recipe_ahead(site_id, url, recipe)
    local name = "ahead|" .. id(url)
    local known = urls:get(name)
    if is_dry then
        return known or recipe
    end
    if not known and has_room() and _M.put(site_id, name, recipe, MAX_TTL_SECONDS, false, "safe_add") then
        return recipe
    end
    return known or urls:get(name)
end

function _M.forget_recipe(url)
    urls:delete("recipe|" .. id(url))
    urls:delete("ahead|" .. id(url))
end

-- The URL looked like an image for WebP and is none.
function _M.is_plain(url)
    return urls:get("plain|" .. id(url))
end

function _M.note_plain(site_id, url)
    if has_room() then
        _M.put(site_id, "plain|" .. id(url), true, MAX_TTL_SECONDS)
    end
end

-- The version of a large file that its stored slices belong to.
function _M.validator(url)
    return urls:get("validator|" .. id(url))
end

function _M.note_validator(site_id, url, value)
    return note(site_id, "validator|", url, value)
end

-- Whether a large file without a slices rule is fetched in slices. auto_slices.lua knows the format.
function _M.slices(url)
    return urls:get("slices|" .. id(url))
end

function _M.note_slices(site_id, url, text)
    return note(site_id, "slices|", url, text)
end

function _M.forget_slices(site_id, url)
    urls:delete("slices|" .. id(url))
    change(site_id, url)
end

-- Renewed while it is used, so that continuous requests never wait for each other. The entry outlasts its time, so a
-- renewal takes no new room.
function _M.note_pass(site_id, url, scope, seconds, personal)
    if _M.pass_until(url, scope, personal) < time() + seconds / 2 then
        note(site_id, personal and "personal|" or "pass|", url, time() + seconds .. " " .. scope)
    end
end

function _M.forget_pass(site_id, url, personal)
    local name = (personal and "personal|" or "pass|") .. id(url)
    if urls:get(name) then
        urls:delete(name)
        change(site_id, url)
    end
end

-- Makes everything stored of the URL unreachable, in all variants. The purge log does not have it.
function _M.set_version(site_id, url, version)
    for _, kind in ipairs { "recipe|", "ahead|", "plain|", "slices|", "pass|", "personal|" } do
        urls:delete(kind .. id(url))
    end
    put_purge(site_id, "version|", url, version)
end

-- The same, written into the purge log, so that it survives a restart.
function _M.set_lasting_version(site_id, url, version)
    purge_log.add({ site = site_id, url = id(url), version = version })
    _M.set_version(site_id, url, version)
end

-- Objects of the URL stored before this time (milliseconds) are revalidated before they are served.
function _M.softened(url, generation)
    return urls:get("softened|" .. generation .. "|" .. id(url))
end

function _M.soften(site_id, url, at)
    purge_log.add({ site = site_id, url = id(url), softened = at })
    -- A large file may have changed. Its next response has the ETag of its slices.
    urls:delete("slices|" .. id(url))
    put_purge(site_id, "softened|", url, at)
end

-- Gives an entry the current lifetime. False: there is none. In dictionaries that outlived a reload the entry may be
-- newer than in the log.
function _M.renew(name, seconds)
    return urls:get(name) ~= nil and urls:expire(name, seconds)
end

local function restore_purge(site_id, kind, url, value)
    if not _M.renew(purge_name(site_id, kind, url), MAX_TTL_SECONDS) then
        put_purge(site_id, kind, url, value)
    end
end

-- In the master, for new dictionaries. A reload keeps them. `restore_mark`: handles purges by prefix and tag.
function _M.restore(restore_mark)
    changes:add("born", _M.new_token())
    if changes:get(RESTORED) == purge_log.KEPT_SECONDS then
        return
    end
    changes:set(RESTORED, purge_log.KEPT_SECONDS)
    purge_log.replay(function(entry)
        if entry.softened then
            restore_purge(entry.site, "softened|", entry.url, entry.softened)
        elseif entry.url then
            restore_purge(entry.site, "version|", entry.url, entry.version)
        elseif entry.mark then
            restore_mark(entry)
        elseif entry.exceeded then
            -- Dictionaries that outlived an upgrade may have this generation already.
            site_generation.restore(entry.site, entry.moves - 1)
            site_generation.raise(entry.site)
        else
            site_generation.restore(entry.site, entry.moves)
        end
    end)
end

-- Identifies these dictionaries. What is stored under it is not found with new ones, which lack their entries.
function _M.born()
    return changes:get("born")
end

function _M.freshened(key)
    return urls:get("fresh|" .. id(key))
end

-- The shortest fields that fit into these bytes. None if there are very many, since each costs time.
local function shortest(fields, bytes)
    local names, lengths, kept = {}, {}, {}
    for name, value in pairs(fields) do
        names[#names + 1] = name
        if #names > MOST_FIELDS then
            return kept
        end
        lengths[name] = #cjson.encode(name) + #cjson.encode(value) + #":,"
    end
    sort(names, function(a, b)
        return lengths[a] < lengths[b]
    end)
    for _, name in ipairs(names) do
        bytes = bytes - lengths[name]
        if bytes < 0 then
            break
        end
        kept[name] = fields[name]
    end
    return kept
end

-- The header fields of a 304. The longest ones are left out if all together are too long for an entry.
function _M.note_freshened(site_id, key, renewed)
    if not has_room() then
        return
    end
    local text = cjson.encode(renewed)
    if #text > shares.LONGEST_VALUE then
        local fields = renewed.fields
        renewed.fields = {}
        renewed.fields = shortest(fields, shares.LONGEST_VALUE - #cjson.encode(renewed))
        text = cjson.encode(renewed)
    end
    _M.put(site_id, "fresh|" .. id(key), text, MAX_TTL_SECONDS)
end

function _M.forget_freshened(key)
    urls:delete("fresh|" .. id(key))
end

-- Calls `task`, which may not yield. Meanwhile nothing is written: the functions below return nothing, and
-- recipe_ahead only reads.
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
    "note_recipe", "note_validator", "note_slices", "note_pass", "note_plain", "note_freshened",
    "forget_recipe", "forget_slices", "forget_pass", "forget_freshened",
    "purge_site", "set_version", "set_lasting_version", "soften",
} do
    local write = _M[name]
    _M[name] = function(...)
        if not is_dry then
            return write(...)
        end
    end
end
return _M
