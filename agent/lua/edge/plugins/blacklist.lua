-- Black and white lists of a site. A white list exempts from the site's own protection. Fails closed.
local address_lists = require("edge.core.address_lists")
local always_allowed = require("edge.core.always_allowed")
local counters = require("edge.core.counters")
local memo = require("edge.core.memo")
local record_monitor_match = require("edge.core.monitor_match")
local path_variants = require("edge.core.path_variants")
local set = require("edge.core.set")
local trails = require("edge.core.trails")
local white = require("edge.core.white")
local zones = require("edge.core.zone")
local decisions = require("edge.simulate.decision")
local error, ipairs, sub, var = error, ipairs, string.sub, ngx.var

local _M = { name = "blacklist", priority = 4900, fails = "closed", restricts_access = true }
local NO_ZONE = {}

local methods_of = memo(set)

local function is_url(request, urls)
    for _, url in ipairs(urls) do
        if not url.host or url.host == request.name then
            local path = url.prefix and sub(request.path, 1, #url.path) or request.path
            if path == url.path then
                return true
            end
        end
    end
    return false
end

local function is_about(ref, request)
    local judge = ref.isBlack and path_variants.any or path_variants.all
    return (not ref.methods or methods_of(ref.methods)[request.method] ~= nil)
        and (not ref.urls or judge(request, is_url, ref.urls))
end

-- Addresses that no rule of a site may lock out: the operator's, and those on allow lists of the zone.
function _M.is_exempt(address)
    local zone = zones.get()
    return always_allowed(zone and zone.doc or NO_ZONE, address)
end

function _M.access(site, request)
    local refs = site.lists
    if not refs then
        return nil
    end
    local lists = (request.drafted_lists or address_lists.of)(site.id, refs)
    if not lists then
        error("a list is not here", 0)
    end
    local address = var.binary_remote_addr
    local found = address_lists.find(lists, address)
    for i = 1, #found do
        local ref = lists.refs[found[i].at]
        if address_lists.holds(found[i]) and is_about(ref, request) then
            if ref.monitor then
                -- A white list that only monitors changes nothing, also not the log.
                if ref.isBlack and not _M.is_exempt(address) then
                    counters.count("blacklistWatched")
                    record_monitor_match(_M.name, ref.id, true)
                end
            elseif not ref.isBlack then
                white.add()
                trails.add_note(_M.name, "white", ref.id)
                return nil
            elseif not _M.is_exempt(address) then
                return 403, nil, ref.id
            end
        end
    end
end

_M.explain = {}
function _M.explain.access(outcome)
    if not outcome.site.lists then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    return decision, detail, decisions.rule("blacklist", outcome.rule)
end
return _M
