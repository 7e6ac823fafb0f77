-- The modules that a host has, each prepared once for as long as its document holds. A module whose document is not here
-- (yet) is left out, and looked for again when anything has changed; who guards something learns of it by `missing`. A kind
-- that came after this edge is left out as well; the host says by its `needs` where that must not be.
local pairs, next = pairs, next

local _M = {}
local plugins = {
    cors = require("edge.modules.cors"),
    customHeader = require("edge.modules.custom_header"),
    proxyRewrite = require("edge.modules.proxy_rewrite"),
    tokenAuth = require("edge.modules.token_auth"),
    urlRedirect = require("edge.modules.url_redirect"),
}

function _M.is_current(set)
    if set.missing then
        return false
    end
    -- By number: what goes through a table by `pairs` or `next` is never compiled, and this is asked with each answer.
    for i = 1, #set.list do
        if set.list[i].stale then
            return false
        end
    end
    return true
end

-- Holds until a document changes: nothing in it is missing, and nothing is a copy that will be looked at again.
function _M.is_lasting(set)
    for i = 1, #set.list do
        if set.list[i].suspect then
            return false
        end
    end
    return not set.missing
end

local function load(wanted, get)
    local set = { entries = {}, list = {} }
    for kind, id in pairs(wanted) do
        local plugin = plugins[kind]
        local entry, why
        if plugin then
            entry, why = get("module/" .. id)
        end
        set.lacking = set.lacking or why == "lacking"
        if entry then
            entry.prepared = entry.prepared or plugin.prepare(entry.doc, entry.key)
            set.entries[kind] = entry
            set.list[#set.list + 1] = entry
            set[kind] = entry.prepared
            set.filters = set.filters or plugin.header_filter ~= nil
        elseif plugin then
            set.missing = set.missing or {}
            set.missing[kind] = true
        end
    end
    return set
end

-- Of a host's entry: { <kind> = what was prepared, filters = whether one looks at answers }, or nothing.
function _M.of(host, get)
    local wanted, set = host.doc.modules, host.modules
    if not wanted or set == false then
        return nil
    end
    if not set or not _M.is_current(set) then
        set = next(wanted) and load(wanted, get) or false
        host.modules = set
    end
    return set or nil
end
return _M
