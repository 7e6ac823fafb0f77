-- Refuses addresses with a high score in the risk pack, by the site's threshold. Fails open: reputation is a guess.
local blacklist = require("edge.plugins.blacklist")
local counters = require("edge.core.counters")
local record_monitor_match = require("edge.core.monitor_match")
local risk = require("edge.core.risk")
local white = require("edge.core.white")
local decisions = require("edge.simulate.decision")
local var = ngx.var

local _M = { name = "abuseIP", priority = 4800, restricts_access = true }

function _M.access(site)
    local rule = site.abuseIP
    if not rule or white.has(site) then
        return nil
    end
    local address = var.binary_remote_addr
    if risk.score(address) < rule.score or blacklist.is_exempt(address) then
        return nil
    end
    if rule.monitor then
        counters.count("abuseIPWatched")
        record_monitor_match(_M.name, rule.id, true)
        return nil
    end
    return 403, nil, rule.id
end

_M.explain = {}
function _M.explain.access(outcome)
    local rule = outcome.site.abuseIP
    if not rule then
        return "unused"
    end
    local decision, detail = decisions.common(outcome)
    detail = detail or {}
    detail.score = risk.score(var.binary_remote_addr)
    return decision, detail, decisions.rule("abuseIP", outcome.rule)
end
return _M
