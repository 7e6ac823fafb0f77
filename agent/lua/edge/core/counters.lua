-- Counters of events that operators should know and visitors do not notice. Shown by GET /status.
local changes = require("edge.core.dicts").changes

local _M = {}
local names = {
    "docCorrupt", "docsFull", "urlsFull", "pluginFailed", "originRefused", "originRested", "nameFailed", "certFailed",
    "imagesPostponed", "blocksFull", "antiCCAsked", "antiCCPassed", "antiCCBlocked", "antiCCWatched",
    "patternFailed", "leaderFileMissing", "aclLimited", "aclOver", "scriptOff", "scriptStopped", "wafPatternFailed",
    "relayFailed", "siteBlocksFull", "blacklistWatched", "abuseIPWatched", "geoWatched", "userAgentWatched", "limitKeysFull",
    "limitQueueFull", "botsFull", "crawlersWatched",
}

function _M.count(name)
    changes:incr("count:" .. name, 1, 0)
end

function _M.all()
    local all = {}
    for i = 1, #names do
        all[names[i]] = changes:get("count:" .. names[i]) or 0
    end
    return all
end
return _M
