-- Purges by prefix, by tag, and soft purges: marks in the dictionary. They are read only for sites that have any, and
-- once per request line after a change.
--
-- A hard prefix purge becomes part of the key below the prefix. The others cannot: tags are in the object's file, and a
-- soft purge must find the file to revalidate it. So the file is read (stored.lua) before nginx opens it: objects whose
-- origin request predates the purge are purged.
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local docs = require("edge.core.docs")
local purge_log = require("edge.cache.purge_log")
local shares = require("edge.cache.shares")
local site_generation = require("edge.cache.site_generation")
local urls = require("edge.cache.urls")
local dict, id, add_up = dicts.urls, shares.id, shares.add_up
local sub, max, concat, lower = string.sub, math.max, table.concat, string.lower
local ipairs, tonumber = ipairs, tonumber

local _M = {}
local KEPT_SECONDS, MOST_OF_SITE = purge_log.KEPT_SECONDS, purge_log.MOST_OF_SITE

-- Marks of an earlier generation of the site concern only unreachable objects.
local function space(site_id)
    return site_id .. "." .. site_generation.of(site_id) .. "|"
end

-- `is_restored`: from the purge log. Dictionaries that outlived a reload may have a newer mark.
local function put(site_id, kind, text, value, is_restored)
    local at = space(site_id)
    local name = kind .. "|" .. at .. id(text)
    if is_restored and urls.renew(name, KEPT_SECONDS) then
        return true
    end
    local count = add_up("marks|" .. at, dict:get(name) == nil and 1 or 0)
    if not count or count > MOST_OF_SITE then
        counters.count("urlsFull")
        return false
    end
    -- If the whole site is purged at the same time, the mark is not needed.
    return urls.put(site_id, name, value, KEPT_SECONDS, true)
end

-- Lengths of the site's prefixes, so that a URL is compared with its own beginnings rather than with each prefix. They
-- are renewed with each purge, since they must last as long as its mark.
local function put_length(site_id, length)
    local at = "length|" .. space(site_id)
    local name = at .. "has" .. length
    -- In dictionaries that outlived an upgrade it may be `true` instead of the number.
    local known = dict:get(name)
    local number = tonumber(known) or add_up(at .. "count", 1)
    return number and urls.put(site_id, at .. number, length, KEPT_SECONDS, true)
        and urls.put(site_id, name, number, KEPT_SECONDS, true)
end

-- The time of the site's last purge by tag.
local function put_tagged(entry, is_restored)
    local newer = is_restored and dict:get("tagged|" .. space(entry.site)) or 0
    return put(entry.site, "tagged", "", max(newer, entry.at))
end

local set = {}
function set.hard_prefix(entry, is_restored)
    return put_length(entry.site, #entry.prefix) and put(entry.site, "hard", entry.prefix, entry.version, is_restored)
end
function set.soft_prefix(entry, is_restored)
    return put_length(entry.site, #entry.prefix) and put(entry.site, "soft", entry.prefix, entry.at, is_restored)
end
function set.hard_tag(entry, is_restored)
    return put(entry.site, "tag", entry.tag, entry.at, is_restored) and put_tagged(entry, is_restored)
end
function set.soft_tag(entry, is_restored)
    return put(entry.site, "softTag", entry.tag, entry.at, is_restored) and put_tagged(entry, is_restored)
end

-- Restores an entry of the purge log into new dictionaries.
function _M.restore(entry)
    local put_again = set[entry.mark]
    if put_again and not put_again(entry, true) then
        urls.purge_site(entry.site)
    end
end

local function add(entry)
    purge_log.add(entry)
    if set[entry.mark](entry) then
        docs.bump({ "site/" .. entry.site })
    else
        urls.purge_site(entry.site)
    end
end

-- Milliseconds. ngx.now() would be the cached time.
local function now()
    ngx.update_time()
    return ngx.now() * 1000
end

-- Waits for the next millisecond. Origin requests in the millisecond of a purge count as earlier, here and on relays.
-- Requests after the purge's response must not. A stopped clock is not waited for.
function _M.pass_moment()
    local marked = now()
    for _ = 1, 5 do
        ngx.sleep(0.001)
        if now() ~= marked then
            return
        end
    end
end

-- `prefix`: host and decoded path. "" is the whole site.
function _M.purge_prefix(site_id, prefix, soft)
    if soft then
        return add({ mark = "soft_prefix", site = site_id, prefix = prefix, at = now() })
    end
    return add({ mark = "hard_prefix", site = site_id, prefix = prefix, version = urls.new_token() })
end

function _M.purge_tag(site_id, tag, soft)
    add({ mark = soft and "soft_tag" or "hard_tag", site = site_id, tag = lower(tag), at = now() })
end

-- The marks of a URL by its prefixes: { version, soft, tagged }. nil where the site has no marks.
function _M.of(site_id, target)
    local at = space(site_id)
    if not dict:get("marks|" .. at) then
        return nil
    end
    local versions, soft = {}, nil
    for i = 1, dict:get("length|" .. at .. "count") or 0 do
        local length = dict:get("length|" .. at .. i)
        if length and length <= #target then
            local beginning = at .. id(sub(target, 1, length))
            versions[#versions + 1] = dict:get("hard|" .. beginning)
            local softened = dict:get("soft|" .. beginning)
            soft = softened and max(soft or 0, softened) or soft
        end
    end
    return { version = concat(versions, "."), soft = soft, tagged = dict:get("tagged|" .. at) }
end

-- The newest hard and soft purge of these tags.
function _M.of_tags(site_id, tags)
    local hard, soft
    local name = space(site_id)
    for _, tag in ipairs(tags) do
        local at = dict:get("tag|" .. name .. id(tag))
        hard = at and max(hard or 0, at) or hard
        at = dict:get("softTag|" .. name .. id(tag))
        soft = at and max(soft or 0, at) or soft
    end
    return hard, soft
end
return _M
