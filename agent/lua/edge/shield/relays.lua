-- Chooses the relay for a URL and skips failed ones. After some seconds one request tries a failed relay again, while
-- the others go to the origin.
local choice = require("edge.origin.choice")
local counters = require("edge.core.counters")
local memo = require("edge.core.memo")
local peers = require("edge.core.dicts").peers
local ipairs, now, find = ipairs, ngx.now, string.find

local _M = {}
local MOST_TRIES = 2
local REST_SECONDS = 5
local TRY_SECONDS = 3
local STATE_SECONDS = 86400

-- In the form of origins.
local prepared = memo(function(relays)
    local list = {}
    for i, relay in ipairs(relays) do
        local address = find(relay.address, ":", 1, true) and "[" .. relay.address .. "]" or relay.address
        list[i] = { id = relay.id, address = address, port = relay.port, weight = 1, backup = false }
    end
    return { method = "uriHash", upstreams = list }
end)

-- `site_id`: "" is all sites.
local function is_usable(id, site_id)
    local name = id .. "|" .. site_id
    local rests_until = peers:get("relay|" .. name)
    return not rests_until or rests_until <= now() and peers:add("relayTried|" .. name, true, TRY_SECONDS)
end

-- The same URL leads all edge nodes to the same relay while that responds.
function _M.choose(relays, url, site_id)
    local list = {}
    for _, relay in ipairs(choice.order(prepared(relays), { uri = url, address = "" })) do
        if is_usable(relay.id, "") and is_usable(relay.id, site_id) then
            list[#list + 1] = relay
            if #list == MOST_TRIES then
                break
            end
        end
    end
    return list
end

function _M.failed(id, site_id)
    counters.count("relayFailed")
    local name = id .. "|" .. site_id
    peers:safe_set("relay|" .. name, now() + REST_SECONDS, STATE_SECONDS)
    peers:delete("relayTried|" .. name)
end

function _M.answered(id, site_id)
    peers:delete("relay|" .. id .. "|")
    peers:delete("relay|" .. id .. "|" .. site_id)
end
return _M
