-- Resolved addresses of origin names, cached for their TTL. While DNS fails, the last addresses serve for a day.
--
-- Dictionary:
--   <name> = "<fresh until>|<addresses>"  expires when the addresses may no longer serve without a new answer
--   busy|<name>  one request is refreshing the entry
-- The dictionary outlives an upgrade and its rollback, so earlier releases must be able to read the entries.
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local dns = require("edge.origin.dns")
local settings = require("edge.core.settings")
local names = dicts.names
local now, sleep, random, find, match = ngx.now, ngx.sleep, math.random, string.find, string.match
local concat = table.concat
local ipairs, max, min, select, tonumber = ipairs, math.max, math.min, select, tonumber

local _M = {}
local TIMEOUT_MS = 2000
-- Once one family has addresses, the other gets less time.
local OTHER_FAMILY_TIMEOUT_MS = 300
local STALE_SECONDS, MAX_TTL_SECONDS = 86400, 86400
local RETRY_SECONDS = 5
local NEGATIVE_TTL_SECONDS = 5
-- The request that refreshes an entry may have been killed.
local MAX_REFRESH_SECONDS = 10
-- A waiting request looks for the addresses again after pauses that double.
local MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.02, 0.5
-- More requests of a worker do not wait for one name, or for all names together, as a share of its connections.
local MAX_WAITING_PER_NAME, MAX_WAITING_SHARE = 1000, 1 / 4
local rotation = 0
-- The number of waiting requests of this worker, by name and in total.
local waiting, all_waiting = {}, 0

local function server_of(text)
    local address, port = match(text, "^(%[.+%]):?(%d*)$")
    if not address then
        address, port = match(text, "^([^:]+):?(%d*)$")
    end
    return address or text, tonumber(port) or 53
end

local function receive(socket, questions, found)
    local missing = #questions
    while missing > 0 do
        local text = socket:receive(4096)
        if not text then
            return
        end
        for i, question in ipairs(questions) do
            local answer = dns.answer(text, question)
            if answer ~= nil and found[i] == nil then
                found[i] = answer
                missing = missing - 1
                if answer and #answer.addresses > 0 then
                    socket:settimeout(OTHER_FAMILY_TIMEOUT_MS)
                end
            end
        end
    end
end

-- The answers by family, IPv4 first. A family without one is false or nil. nil when no family has one.
local function ask(server, name)
    local socket = ngx.socket.udp()
    socket:settimeout(TIMEOUT_MS)
    if not socket:setpeername(server_of(server)) then
        return nil
    end
    local questions, found = {}, {}
    for i, kind in ipairs { dns.A, dns.AAAA } do
        questions[i] = dns.question(random(0, 65535), name, kind)
        socket:send(questions[i])
    end
    receive(socket, questions, found)
    socket:close()
    return (found[1] or found[2]) and found or nil
end

local function is_whole(found)
    return found[1] and found[2]
end

local function has_addresses(found)
    return found[1] and #found[1].addresses > 0 or found[2] and #found[2].addresses > 0
end

-- Asks every resolver, then every one again, until one has addresses, or answers for both families. Without such a
-- resolver, the result is the first answer for one family.
local function ask_any(name)
    local first
    for _ = 1, 2 do
        for _, server in ipairs(settings.resolvers) do
            local found = ask(server, name)
            if found and (is_whole(found) or has_addresses(found)) then
                return found
            end
            first = first or found
        end
    end
    return first
end

local function is_ipv6(address)
    return find(address, ":", 1, true) ~= nil
end

-- The addresses of both families, their TTL, and whether stale ones are among them: those of a family without an
-- answer.
local function addresses_of(found, stale_addresses)
    local all, seconds, has_stale = {}, MAX_TTL_SECONDS, false
    for i = 1, 2 do
        if found[i] then
            for _, address in ipairs(found[i].addresses) do
                all[#all + 1] = address
                seconds = min(seconds, found[i].seconds)
            end
        else
            for _, address in ipairs(stale_addresses) do
                if is_ipv6(address) == (i == 2) then
                    all[#all + 1] = address
                    seconds, has_stale = min(seconds, RETRY_SECONDS), true
                end
            end
        end
    end
    return all, #all == 0 and NEGATIVE_TTL_SECONDS or max(seconds, 1), has_stale
end

local function split(text)
    local list = {}
    for address in string.gmatch(text, "[^,]+") do
        list[#list + 1] = address
    end
    return list
end

local function keep(name, list, seconds, stale_until)
    names:set(name, now() + seconds .. "|" .. concat(list, ","), max(seconds, stale_until - now()))
    names:delete("busy|" .. name)
    return list
end

local function look_up(name, stale_addresses, stale_until)
    local found = ask_any(name) or {}
    local list, seconds, has_stale = addresses_of(found, stale_until > now() and stale_addresses or {})
    if has_stale or #list == 0 and not is_whole(found) then
        counters.count("nameFailed")
        local missing = not found[1] and not found[2] and "A and AAAA" or found[1] and "AAAA" or "A"
        ngx.log(ngx.ERR, "no name server answers for ", missing, " of ", name)
    end
    -- An empty list is also kept, so that only one request at a time asks.
    return keep(name, list, seconds, has_stale and stale_until or now() + seconds + STALE_SECONDS)
end

-- Successive requests start with successive addresses.
local function rotated(list)
    if #list < 2 then
        return list
    end
    rotation = rotation + 1
    local first, other = {}, {}
    for _, address in ipairs(list) do
        local into = is_ipv6(address) and other or first
        into[#into + 1] = address
    end
    local all = {}
    for _, family in ipairs { first, other } do
        for i = 1, #family do
            all[#all + 1] = family[(i + rotation) % #family + 1]
        end
    end
    return all
end

local function read(name)
    -- A release that ran for some minutes wrote a second time behind the first one.
    return match(names:get(name) or "", "^([^|%s]+)[^|]*|(.*)$")
end

local function poll(name)
    local deadline, pause = now() + MAX_REFRESH_SECONDS, MIN_POLL_SECONDS
    local list
    repeat
        sleep(pause)
        pause = min(pause * 2, MAX_POLL_SECONDS)
        list = select(2, read(name))
    until list or now() > deadline
    return list
end

-- The addresses that another request asks for. nil: there are none at the end of the wait, or too many requests wait.
local function wait_for(name)
    local others = waiting[name] or 0
    -- Trees of the release before have no `connections`.
    if others >= MAX_WAITING_PER_NAME or all_waiting >= (settings.connections or 1024) * MAX_WAITING_SHARE then
        return nil
    end
    waiting[name], all_waiting = others + 1, all_waiting + 1
    local list = poll(name)
    others, all_waiting = waiting[name] - 1, all_waiting - 1
    waiting[name] = others > 0 and others or nil
    return list
end

-- Empty when the name does not exist, or no resolver responds and no address may serve, or too many requests wait.
function _M.resolve(name)
    local fresh_until, list = read(name)
    if list and tonumber(fresh_until) >= now() then
        return rotated(split(list))
    end
    -- One request refreshes. Others use the cached addresses, or wait if there is no entry.
    if names:add("busy|" .. name, true, MAX_REFRESH_SECONDS) then
        return rotated(look_up(name, split(list or ""), now() + (names:ttl(name) or 0)))
    end
    return rotated(split(list or wait_for(name) or ""))
end
return _M
