-- A host's modules, each prepared once per document. A module whose document is missing is skipped and looked up again
-- after any change. Access restrictions learn of it by `missing`. Unknown kinds are skipped too, unless the host's
-- `needs` lists them.
local pairs, next = pairs, next

local _M = {}
local plugins = {
    acl = require("edge.plugins.acl"),
    cors = require("edge.plugins.cors"),
    customHeader = require("edge.plugins.custom_header"),
    luaAcl = require("edge.plugins.lua_acl"),
    proxyRewrite = require("edge.plugins.proxy_rewrite"),
    tokenAuth = require("edge.plugins.token_auth"),
    urlRedirect = require("edge.plugins.url_redirect"),
    waf = require("edge.plugins.waf"),
}

function _M.is_current(set)
    if set.missing then
        return false
    end
    -- By index: LuaJIT does not compile `pairs` or `next`, and every response runs this.
    for i = 1, #set.list do
        if set.list[i].stale then
            return false
        end
    end
    return true
end

-- Valid until a document changes: nothing is missing, and no copy is due for another check.
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

-- The modules of a host: { <kind> = prepared, filters = whether one filters responses }, or nil.
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
