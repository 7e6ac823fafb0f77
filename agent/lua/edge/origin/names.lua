-- Resolved addresses of origin names, cached for their TTL. When no server responds, the last addresses serve for a
-- day.
local counters = require("edge.core.counters")
local dicts = require("edge.core.dicts")
local dns = require("edge.origin.dns")
local settings = require("edge.core.settings")
local names = dicts.names
local now, random, match, find, sub = ngx.now, math.random, string.match, string.find, string.sub
local concat = table.concat
local ipairs, tonumber, max = ipairs, tonumber, math.max

local _M = {}
local TIMEOUT_MS = 2000
-- Once one family has addresses, the other gets less time.
local SECOND_TIMEOUT_MS = 300
local STALE_SECONDS = 86400
local RETRY_SECONDS = 5
local UNKNOWN_SECONDS = 5
local turn = 0

local function server_of(text)
    local address, port = match(text, "^(%[.+%]):?(%d*)$")
    if not address then
        address, port = match(text, "^([^:]+):?(%d*)$")
    end
    return address or text, tonumber(port) or 53
end

local function receive(socket, questions, found)
    local waiting = #questions
    while waiting > 0 do
        local text = socket:receive(4096)
        if not text then
            return
        end
        for i, question in ipairs(questions) do
            local answer = dns.answer(text, question)
            if answer ~= nil and found[i] == nil then
                found[i] = answer
                waiting = waiting - 1
                if answer and #answer.addresses > 0 then
                    socket:settimeout(SECOND_TIMEOUT_MS)
                end
            end
        end
    end
end

-- IPv4 first. nil when the server did not respond, or failed for a family while the other has no addresses.
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
    local all, seconds = {}, UNKNOWN_SECONDS
    for i = 1, 2 do
        for _, address in ipairs(found[i] and found[i].addresses or {}) do
            all[#all + 1] = address
            seconds = #all == 1 and found[i].seconds or math.min(seconds, found[i].seconds)
        end
    end
    if #all == 0 and not (found[1] and found[2]) then
        return nil
    end
    return all, max(seconds, 1)
end

local function ask_any(name)
    for _ = 1, 2 do
        for _, server in ipairs(settings.resolvers) do
            local list, seconds = ask(server, name)
            if list then
                return list, seconds
            end
        end
    end
end

local function split(text)
    local list = {}
    for address in string.gmatch(text, "[^,]+") do
        list[#list + 1] = address
    end
    return list
end

local function keep(name, list, seconds)
    names:set(name, now() + seconds .. "|" .. concat(list, ","), seconds + STALE_SECONDS)
    names:delete("busy|" .. name)
    return list
end

local function look_up(name, known)
    local list, seconds = ask_any(name)
    if list then
        return keep(name, list, seconds)
    end
    counters.count("nameFailed")
    ngx.log(ngx.ERR, "no name server answers for ", name)
    return keep(name, known or {}, RETRY_SECONDS)
end

-- Successive requests start with successive addresses.
local function rotated(list)
    if #list < 2 then
        return list
    end
    turn = turn + 1
    local first, other = {}, {}
    for _, address in ipairs(list) do
        local into = find(address, ":", 1, true) and other or first
        into[#into + 1] = address
    end
    local all = {}
    for _, family in ipairs { first, other } do
        for i = 1, #family do
            all[#all + 1] = family[(i + turn) % #family + 1]
        end
    end
    return all
end

-- Empty when the name is unknown.
function _M.resolve(name)
    local text = names:get(name)
    if not text then
        return rotated(look_up(name))
    end
    local bar = find(text, "|", 1, true)
    local known = split(sub(text, bar + 1))
    -- One request refreshes. Others use the cached addresses.
    if tonumber(sub(text, 1, bar - 1)) < now() and names:add("busy|" .. name, true, 10) then
        return rotated(look_up(name, known))
    end
    return rotated(known)
end
return _M
