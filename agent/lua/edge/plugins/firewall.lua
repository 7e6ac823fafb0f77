-- The zone's firewall lists, on machines whose kernel cannot drop packets, and for visitors behind trusted proxies:
-- closes the connection and logs the list.
-- Not loaded elsewhere. Fails open.
local always_allowed = require("edge.core.always_allowed")
local networks = require("edge.core.networks")
local risk = require("edge.core.risk")
local zones = require("edge.core.zone")
local var = ngx.var

local _M = { name = "firewall", priority = 8400, restricts_access = true }
local CLOSE = 444

local function cause_of(firewall, address)
    if networks(firewall.blacklist, address) then
        return "blacklist"
    end
    local level = firewall.level or 0
    if level > 0 and risk.score(address) >= level then
        return "abuseIP"
    end
end

function _M.access()
    local zone = zones.get()
    local firewall = zone and zone.doc.firewall
    if not firewall then
        return nil
    end
    local address = var.binary_remote_addr
    local cause = cause_of(firewall, address)
    if cause and not always_allowed(zone.doc, address) then
        var.e_cause = cause
        return CLOSE
    end
end
return _M
