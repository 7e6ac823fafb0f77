-- The modules that a host has, each prepared once for as long as its document holds. A module whose document is not here
-- (yet) is left out, and looked for again when anything has changed; who guards something learns of it by `missing`.
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
    for _, entry in pairs(set.entries) do
        if entry.stale then
            return false
        end
    end
    return true
end

local function load(wanted, get)
    local set = { entries = {} }
    for kind, id in pairs(wanted) do
        local plugin = plugins[kind]
        local entry = plugin and get("module/" .. id)
        if entry then
            entry.prepared = entry.prepared or plugin.prepare(entry.doc, entry.key)
            set.entries[kind] = entry
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
    local wanted = host.doc.modules
    if not wanted or not next(wanted) then
        return nil
    end
    local set = host.modules
    if not set or not _M.is_current(set) then
        set = load(wanted, get)
        host.modules = set
    end
    return set
end
return _M
