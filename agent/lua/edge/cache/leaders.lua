-- Request collapsing: one origin request per variant. Hop B elects a leader for each key that hop A has no fresh response
-- for. Every other request (a follower) goes back to hop A (X-Accel-Redirect), where it waits and then looks into the store
-- again. Followers wait only while the leader is in a state that helps them:
--   leads   until the leader's response header arrives
--   stores  until the body is in the store, for followers of the same variant; another variant elects its own leader
--   done    until nginx has renamed the file into the store
--   free    no longer: the response cannot be shared, and every follower asks the origin at once
-- A missing entry means that its leader died or stored nothing: the next follower leads.
--
-- Dictionary: <id> = "<token> <state> <recipe>", written by hop B of the leader; <id>v = "<token> <hash>", the leader's
-- variant, written by its hop A; and "<token> alias <id>" under the id that requests of this variant have from then on.
-- With a full dictionary there is no leader, and every request asks the origin.
local ffi = require("ffi")
local semaphore = require("ngx.semaphore")
local dict = require("edge.core.dicts").leaders
local stored = require("edge.cache.stored")
local vary = require("edge.cache.vary")
local header, var, now, time = ngx.header, ngx.var, ngx.now, ngx.time
local md5, worker_pid = ngx.md5, ngx.worker.pid
local match, max, min, next, pairs, pcall, tonumber = string.match, math.max, math.min, next, pairs, pcall, tonumber

ffi.cdef "int kill(int pid, int sig);"

local _M = {}
-- Waits of one request; after that it asks the origin alone.
local MAX_ROUNDS = 3
-- Longer than any fetch; the entry of a killed worker is found by its pid.
local ENTRY_SECONDS = 7200
-- How long a verdict stays readable for followers in other workers.
local VERDICT_SECONDS = 2
-- The file appears in the store some milliseconds after hop B has sent the last byte.
local STORE_GRACE_SECONDS = 0.5
-- A longer body is worth an origin request of one's own, which streams.
local MAX_BODY_WAIT_SECONDS = 30
local MIN_POLL_SECONDS, MAX_POLL_SECONDS, ALIVE_POLL_SECONDS = 0.004, 0.05, 0.2
local COLLAPSED = { MISS = true, EXPIRED = true }
local NO_BODY = { [204] = true, [304] = true }

-- Leaders of this worker by token (hop B), and the records that its followers wait on (hop A).
local leading, waiting = {}, {}
local is_watching = false
local made = 0

-- Authorized requests are a group of their own: most of their responses cannot be shared.
local function id_of(key, hash, authorization)
    return md5(key .. "\n" .. hash .. (authorization and "\na" or ""))
end

local function new_token()
    made = made + 1
    return worker_pid() .. "." .. made .. "." .. now() * 1000
end

local function is_alive(token)
    return ffi.C.kill(tonumber(match(token, "^%d+")), 0) == 0
end

-- token, state, and what stands behind them
local function read(id)
    local text = dict:get(id)
    if text then
        return match(text, "^(%S+) (%S+) ?(.*)$")
    end
end

local function put(id, token, state, rest, seconds)
    return dict:safe_set(id, token .. " " .. state .. " " .. (rest or ""), seconds)
end

local function drop(id, token)
    if read(id) == token then
        dict:delete(id)
    end
end

-- "ready": the store has the response. "gone": elect again. "free", "alone": ask the origin. Nil: wait on.
local function look(record, at)
    local token, state, recipe = read(record.id)
    if token ~= record.token then
        return "gone"
    end
    if state == "free" then
        return "free"
    end
    if state ~= "done" and at >= record.alive_at then
        record.alive_at = at + ALIVE_POLL_SECONDS
        if not is_alive(token) then
            drop(record.id, token)
            return "gone"
        end
    end
    if state == "leads" then
        return nil
    end
    if not record.variant then
        if recipe == "" then
            return "same"
        end
        local owner, hash = read(record.id .. "v")
        if owner == token then
            record.recipe, record.hash = recipe, hash
            return "compare"
        end
    end
    if state == "done" then
        local found = record.variant and stored.find(record.key, record.variant)
        if found and found.valid >= time() then
            return "ready"
        end
        record.done_at = record.done_at or at
        if at - record.done_at > STORE_GRACE_SECONDS then
            drop(record.id, token)
            return "gone"
        end
        return nil
    end
    return record.variant and at - record.since > MAX_BODY_WAIT_SECONDS and "alone" or nil
end

local function wake(name, record, verdict)
    record.verdict = verdict
    waiting[name] = nil
    record.semaphore:post(record.count)
end

local function poll(name, record, at)
    local ok, verdict = pcall(look, record, at)
    if not ok then
        ngx.log(ngx.ERR, "leaders: ", verdict)
        verdict = "alone"
    end
    if verdict then
        return wake(name, record, verdict)
    end
    record.poll_at = at + max(MIN_POLL_SECONDS, min((at - record.since) / 10, MAX_POLL_SECONDS))
end

-- One loop for all followers of this worker.
local function watch()
    while next(waiting) do
        local at, soonest = now(), now() + MAX_POLL_SECONDS
        for name, record in pairs(waiting) do
            if record.poll_at <= at then
                poll(name, record, at)
            end
            soonest = min(soonest, record.poll_at)
        end
        ngx.sleep(max(soonest - at, MIN_POLL_SECONDS))
    end
end

local function start_watching()
    is_watching = ngx.timer.at(0, function()
        local ok, err = pcall(watch)
        is_watching = false
        if not ok then
            ngx.log(ngx.ERR, "leaders: ", err)
        end
    end) ~= nil
    return is_watching
end

-- Followers of this worker need not wait for the next poll.
local function announce(token)
    for _, name in pairs { token, token .. "+" } do
        local record = waiting[name]
        if record then
            poll(name, record, now())
        end
    end
end

-- `variant`: the hash that the leader's response is stored under, once it is known to be the follower's own.
local function follow(id, token, key, variant)
    local name = variant and token .. "+" or token
    local record = waiting[name]
    if not record then
        local at = now()
        record = {
            id = id, token = token, key = key, variant = variant, count = 0, since = at, poll_at = at, alive_at = at,
            semaphore = semaphore.new(),
        }
        waiting[name] = record
    end
    record.count = record.count + 1
    while not record.verdict do
        if not is_watching and not start_watching() then
            return "alone"
        end
        record.semaphore:wait(5)
    end
    return record.verdict, record
end

local function follow_both(id, token)
    local key, own = var.e_key, var.http_x_e_vary or ""
    local verdict, record = follow(id, token, key)
    if verdict == "compare" then
        own = vary.hash(record.recipe, var.e_encoding)
        ngx.req.set_header("X-E-Vary", own)
        if own ~= record.hash then
            return "other"
        end
    elseif verdict ~= "same" then
        return verdict
    end
    return (follow(id, token, key, own))
end

-- Hop A, where hop B sent the request back: waits. True: the store is worth another look. False: the request asks the
-- origin alone.
function _M.wait()
    local id, token = match(var.upstream_http_x_e_turn or "", "^(%x+) (%S+)$")
    local round = (tonumber(var.e_round) or 0) + 1
    local verdict = id and round <= MAX_ROUNDS and follow_both(id, token) or "alone"
    local asks_store = verdict ~= "alone" and verdict ~= "free"
    var.e_round = asks_store and round or "alone"
    return asks_store
end

-- Hop A of a leader, which knows the variant: `turn` is what hop B calls this leader.
function _M.note_variant(turn, hash)
    local id, token = match(turn, "^(%x+) (%S+)$")
    local owner, state = read(id or "")
    if owner ~= token then
        return
    end
    put(id .. "v", token, hash, nil, state == "done" and VERDICT_SECONDS or ENTRY_SECONDS)
    local alias = id_of(var.e_key, hash, var.http_authorization)
    if alias ~= id then
        dict:safe_add(alias, token .. " alias " .. id, ENTRY_SECONDS)
    end
    announce(token)
end

local function is_collapsed()
    return COLLAPSED[var.http_x_e_state or ""] and var.http_x_e_key and var.http_x_e_round ~= "alone" and var.o_turn == ""
        -- Pieces of large files wait at nginx's own lock; the image service asks on behalf of a request elected before.
        and (var.http_x_e_slice or "") == "" and not var.http_x_e_image
        and not var.http_content_length and not var.http_transfer_encoding
end

-- The leader under this id: its own id, token and state, or nil. Removes entries of dead leaders.
local function leader_of(id)
    local token, state, rest = read(id)
    if state == "alias" then
        if read(rest) ~= token then
            drop(id, token)
            return nil
        end
        return leader_of(rest)
    end
    if token and state ~= "done" and not is_alive(token) then
        drop(id, token)
        return nil
    end
    return token and id, token, state
end

-- Hop B, first of all. True: the request was sent back to wait.
function _M.elect()
    if not is_collapsed() then
        return false
    end
    local id = id_of(var.http_x_e_key, var.http_x_e_vary or "", var.http_authorization)
    local token = new_token()
    for _ = 1, 2 do
        local added, why = dict:safe_add(id, token .. " leads", ENTRY_SECONDS)
        if added then
            leading[token] = { id = id }
            var.o_turn = token
            return false
        elseif why ~= "exists" then
            return false
        end
        local main, leader, state = leader_of(id)
        if main then
            if state == "free" then
                return false
            end
            header["X-Accel-Redirect"] = "@wait"
            header["X-E-Turn"] = main .. " " .. leader
            return true
        end
    end
    return false
end

-- A 304 that states no time renews the stored one.
local function expires_of()
    local expires = header["X-Accel-Expires"]
    if not expires and ngx.status == 304 then
        local found = stored.find(var.http_x_e_key, var.http_x_e_vary or "")
        expires = found and found.expires
    end
    return expires
end

-- Hop B, when the response header is what hop A gets. `failed`: there is none.
function _M.decide(failed)
    local token = var.o_turn
    local turn = leading[token]
    if not turn or turn.is_decided then
        return
    end
    turn.is_decided = true
    turn.is_whole = NO_BODY[ngx.status] or header["Content-Length"] == "0"
    local expires = not failed and expires_of() or "0"
    -- @1: each request is answered only after it was revalidated.
    if expires == "0" or expires == "@1" then
        put(turn.id, token, "free", nil, VERDICT_SECONDS)
    else
        local recipe = header["X-E-Recipe"]
        put(turn.id, token, "stores", recipe, ENTRY_SECONDS)
        if recipe then
            header["X-E-Turn"] = turn.id .. " " .. token
        end
    end
    announce(token)
end

-- Hop B, when the last byte is on its way to hop A.
function _M.note_whole()
    local turn = leading[var.o_turn]
    if turn then
        turn.is_whole = true
    end
end

-- Hop B, when the request ends in whatever way.
function _M.release()
    local token = var.o_turn
    local turn = leading[token]
    if not turn then
        return
    end
    leading[token] = nil
    local owner, state, recipe = read(turn.id)
    if owner ~= token or state == "free" then
        return
    end
    if turn.is_whole and state == "stores" then
        put(turn.id, token, "done", recipe, VERDICT_SECONDS)
    else
        dict:delete(turn.id)
    end
    announce(token)
end
return _M
