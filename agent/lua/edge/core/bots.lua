-- Search engines and other bots that name themselves in User-Agent. Any client can send their names, so the agent
-- verifies addresses by DNS, never during a request: it fetches candidates each second. Its verdicts hold for hours.
local addresses = require("edge.core.addresses")
local catalogue = require("edge.bots.catalogue")
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local recent = require("edge.core.recent")
local byte, concat, find, format, ipairs = string.byte, table.concat, string.find, string.format, ipairs
local match, sub, time, var = string.match, string.sub, ngx.time, ngx.var

local _M = {}
local dict, changes = dicts.bots, dicts.changes

-- Categories whose verified bots are not challenged: they cannot solve a challenge, and sites want them.
local UNCHALLENGED = { search = true, preview = true }
local MARK, QUEUE = "bots:mark", "agent:waiting"
-- Key prefixes: candidates queued within the last minute, the time of an address's first one, and networks that are
-- held: their candidates are not queued.
local RECENT_CANDIDATE, FIRST_CANDIDATE, HELD_NETWORK = "candidate:", "first:", "held:"
local MAX_QUEUED = 100
-- nginx itself removes expired entries only up to the first live one, so keys of a minute would fill the dictionary.
local MOST_FLUSHED = 2000
-- When DNS fails there is no verdict. After this time the address may be queued again.
local ASK_AGAIN_SECONDS = 60
local HOLD_SECONDS = 60
-- An address without a verdict after this time is treated like any visitor's. It counts from the first bot that the
-- address names, so that no name after name keeps it going.
local VERDICT_WAIT_SECONDS = 10
local IMPOSTOR = 0
local MAX_USER_AGENT = 512

-- One object per bot and state, so that a request allocates none.
local by_name = {}
for _, bot in ipairs(catalogue) do
    by_name[bot.name] = bot
    bot.token = bot.token or bot.name
    for _, state in ipairs({ "declared", "verified", "impostor" }) do
        bot[state] = { name = bot.name, category = bot.category, state = state }
    end
end

-- User agents seen before, so that usual browsers cost one lookup in a table. `{}`: no bot.
local bots_by_user_agent, NONE = recent.new(1000), {}

local function find_bot(user_agent)
    for _, bot in ipairs(catalogue) do
        if find(user_agent, bot.token, 1, true) then
            return bot
        end
    end
    return NONE
end

-- The bot that the User-Agent of the present request names.
local function bot_of_user_agent()
    local user_agent = var.http_user_agent
    if not user_agent then
        return NONE
    end
    if #user_agent > MAX_USER_AGENT then
        user_agent = sub(user_agent, 1, MAX_USER_AGENT)
    end
    local bot = bots_by_user_agent:get(user_agent)
    if not bot then
        bot = find_bot(user_agent)
        bots_by_user_agent:set(user_agent, bot)
    end
    return bot
end

-- The address with all of its groups, as `addresses.binary` reads it.
local function text_of(address)
    if #address == 4 then
        return format("%d.%d.%d.%d", byte(address, 1, 4))
    end
    local groups = {}
    for i = 1, 8 do
        local high, low = byte(address, 2 * i - 1, 2 * i)
        groups[i] = format("%x", high * 256 + low)
    end
    return concat(groups, ":")
end

-- The verdict of an address: the time at which it is asked again, or IMPOSTOR.
local function key_of(bot, address)
    return bot.name .. "|" .. address
end

-- The /24 or /64, since a client with one address of it may have all, and often its reverse DNS, too.
local function network_key(bot, address)
    return HELD_NETWORK .. key_of(bot, sub(address, 1, #address == 4 and 3 or 8))
end

-- Beyond the limits the address is not queued. A later request of it tries again.
local function enqueue(bot, address)
    if (dict:llen(QUEUE) or 0) >= MAX_QUEUED or dict:get(network_key(bot, address)) then
        return
    end
    if dict:safe_add(RECENT_CANDIDATE .. key_of(bot, address), true, ASK_AGAIN_SECONDS) then
        dict:safe_add(FIRST_CANDIDATE .. address, time(), ASK_AGAIN_SECONDS)
        dict:rpush(QUEUE, bot.name .. "|" .. text_of(address))
    end
end

-- The bot that the present request names, and its address if this can be verified.
local function named_bot()
    local bot = bot_of_user_agent()
    if bot == NONE then
        return nil
    end
    local address = addresses.plain(var.binary_remote_addr)
    return bot, #bot.suffixes > 0 and (#address == 4 or #address == 16) and address or nil
end

-- The bot of the present request: name, category, and state "verified", "declared" or "impostor". nil: none.
-- A declared bot is not verified yet, or cannot be.
function _M.of(request)
    local bot, address = named_bot()
    if not address then
        return bot and bot.declared
    end
    local renews_at = dict:get(key_of(bot, address))
    if renews_at == IMPOSTOR then
        return bot.impostor
    end
    if not request.simulated and (not renews_at or renews_at < time()) then
        enqueue(bot, address)
    end
    return renews_at and bot.verified or bot.declared
end

-- Whether the present request is not challenged. Lists, rules and limits apply all the same.
function _M.is_unchallenged(request)
    local bot = _M.of(request)
    return bot ~= nil and bot.state == "verified" and UNCHALLENGED[bot.category] == true
end

-- Whether the present request may be of a bot that is not challenged, and whose verdict is on its way.
function _M.is_verification_pending()
    local bot, address = named_bot()
    if not address or not UNCHALLENGED[bot.category] or dict:get(key_of(bot, address)) then
        return false
    end
    -- No verdict is on its way. Of a network of impostors, none is wanted.
    if dict:get(network_key(bot, address)) then
        return false
    end
    local since = dict:get(FIRST_CANDIDATE .. address)
    return since ~= nil and time() - since < VERDICT_WAIT_SECONDS
end

-- For the agent: up to `most` candidates, and the mark of the verdicts that nginx holds.
function _M.fetch(most)
    dict:flush_expired(MOST_FLUSHED)
    local candidates = {}
    while #candidates < most do
        local line = dict:lpop(QUEUE)
        if not line then
            break
        end
        local name, address = match(line, "^([^|]*)|(.*)$")
        candidates[#candidates + 1] = { bot = name, address = address, suffixes = by_name[name].suffixes }
    end
    return { mark = changes:get(MARK), candidates = candidates }
end

local function hold_network(bot, address)
    dict:safe_set(network_key(bot, address), true, HOLD_SECONDS)
end

-- From the agent: a list of { address, bot, verified, seconds, renewsIn }, the mark of all of its verdicts, and
-- bots { address, bot } about which DNS says nothing. Agents of the release before send neither `renewsIn` nor `held`.
function _M.store_verdicts(verdicts, mark, held)
    for _, verdict in ipairs(verdicts) do
        local bot, address = by_name[verdict.bot], addresses.binary(verdict.address)
        local value = verdict.verified and time() + (verdict.renewsIn or verdict.seconds) or IMPOSTOR
        if bot and not dict:safe_set(key_of(bot, address), value, verdict.seconds) then
            counters.count("botsFull")
        end
        if bot and not verdict.verified then
            hold_network(bot, address)
        end
    end
    for _, candidate in ipairs(held or {}) do
        local bot = by_name[candidate.bot]
        if bot then
            hold_network(bot, addresses.binary(candidate.address))
        end
    end
    if mark then
        changes:set(MARK, mark)
    end
end
return _M
