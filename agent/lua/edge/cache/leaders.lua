-- Request collapsing: one origin request per variant. Hop B elects a leader for each key without a fresh response.
-- Every other request (a follower) goes back to hop A (X-Accel-Redirect). What it does there depends on the leader's
-- state. In the first three it waits, and then looks into the store again:
--   leads   until the leader's response header arrives
--   stores  until the body is in the store, for followers of the same variant; another variant elects its own leader
--   done    until nginx has renamed the file into the store
--   free    the response cannot be shared, so every follower requests the origin at once
--   failed  the origin failed, and every follower gets the stale response at once
-- No entry: the leader died or stored nothing, or its entry has expired. An entry expires VERDICT_SECONDS after the
-- leader finished, or FAILURE_SECONDS after the origin failed to renew a stored response.
--
-- Dictionary:
--   <id> = "<token> <state> <time> <recipe>"  written by the leader's hop B; `time`: when its response header came
--   <id>v = "<token> <hash> <variant id>"  variant of the leader's response, written by its hop A
--   <variant id> = "<token> alias <id>"  leads requests that already know their variant to <id>
--   open|<site>|<worker> = "<pid> <count>"  unfinished leaders of a site in one worker, written by it
--   new|<site>|<window> = <count>  leaders of a site that began within VERDICT_SECONDS
-- While the dictionary is full, or the site beyond its share, requests without an entry go to the origin.
local counters = require("edge.core.counters")
local ffi = require("ffi")
local semaphore = require("ngx.semaphore")
local dict = require("edge.core.dicts").leaders
local stored = require("edge.cache.stored")
local vary = require("edge.cache.vary")
local header, var, now, time = ngx.header, ngx.var, ngx.now, ngx.time
local md5, worker_count, worker_exiting = ngx.md5, ngx.worker.count, ngx.worker.exiting
local sleep, worker_id, worker_pid = ngx.sleep, ngx.worker.id, ngx.worker.pid
local floor, format, match, max, min = math.floor, string.format, string.match, math.max, math.min
local next, pairs, pcall, tonumber, tostring = next, pairs, pcall, tonumber, tostring

ffi.cdef "int kill(int pid, int sig);"

local _M = {}
-- Rounds that one request waits. Then it goes to the origin alone.
local MAX_ROUNDS = 3
-- Pauses before a request looks again for a stored file that nginx missed: nginx first renames a new file and then
-- lists it. They are few, because nginx ends a request after ten internal redirects.
local LISTING_PAUSE_SECONDS = { 0.01, 0.05, 0.2, 0.5 }
-- Longer than any fetch. The entry of a killed worker is recognised by its pid.
local ENTRY_SECONDS = 7200
-- How long a verdict is readable for followers in other workers.
local VERDICT_SECONDS = 2
-- How long the verdict on an origin that failed to renew a stored response is readable. With a stale response to serve
-- ("failed") no request goes to the origin during this time. Otherwise ("free") requests are not collapsed. store.lua
-- uses the same time for objects that were never stored.
local FAILURE_SECONDS = 10
-- The file appears in the cache some milliseconds after hop B has sent the last byte.
local STORE_GRACE_SECONDS = 0.5
-- For longer bodies a separate origin request, which streams, is faster. Limits each body and each request.
local MAX_BODY_WAIT_SECONDS = 30
local MIN_POLL_SECONDS, MAX_POLL_SECONDS, ALIVE_POLL_SECONDS = 0.004, 0.05, 0.2
-- Removing expired entries reads the whole dictionary under its lock.
local FLUSH_INTERVAL_SECONDS, MAX_FLUSHED = 1, 2000
-- Visitors can cause leaders by inventing URLs. The node has two limits for each site: for unfinished leaders, and for
-- new ones within VERDICT_SECONDS, since entries of finished ones last so long. A leader has up to three entries of 256
-- bytes. At most four times as many leaders have entries at once, as unfinished ones may be twice as many (has_room):
-- three quarters of the dictionary. Not included are verdicts that last for FAILURE_SECONDS, which need stored
-- responses that have expired, and unfinished leaders of workers that exit after a reload.
local MAX_LEADERS_OF_SITE = max(16, floor(dict:capacity() / 4096))
local COLLAPSED = { MISS = true, EXPIRED = true }
local NO_BODY = { [204] = true, [304] = true }

-- Leaders of this worker by token and their number by site (hop B), and the records that followers wait on (hop A).
local leading, count_of_site, waiting = {}, {}, {}
local is_watching = false
local tokens_made, flush_at = 0, 0

-- Requests with Authorization are a separate group, since most of their responses cannot be shared.
local function id_of(key, hash, authorization)
    return md5(key .. "\n" .. hash .. (authorization and "\na" or ""))
end

local function new_token()
    tokens_made = tokens_made + 1
    return worker_pid() .. "." .. tokens_made .. "." .. now() * 1000
end

local function is_alive(token)
    return ffi.C.kill(tonumber(match(token, "^%d+")), 0) == 0
end

-- Returns token, state and the remaining text.
local function read(id)
    local text = dict:get(id)
    if text then
        return match(text, "^(%S+) (%S+) ?(.*)$")
    end
end

-- nginx reclaims expired entries only up to the first live one.
local function write(method, id, value, seconds)
    local ok, why = dict[method](dict, id, value, seconds)
    if why == "no memory" and now() >= flush_at then
        flush_at = now() + FLUSH_INTERVAL_SECONDS
        dict:flush_expired(MAX_FLUSHED)
        ok, why = dict[method](dict, id, value, seconds)
    end
    return ok, why
end

local function put(id, token, state, rest, seconds)
    return write("safe_set", id, token .. " " .. state .. " " .. (rest or ""), seconds)
end

local function drop(id, token)
    for _, name in pairs { id, id .. "v" } do
        if read(name) == token then
            dict:delete(name)
        end
    end
end

-- A finished leader's variant and alias expire with its entry.
local function expire_variant(id, token)
    local owner, hash, alias = read(id .. "v")
    if owner ~= token then
        return
    end
    put(id .. "v", token, hash, alias, VERDICT_SECONDS)
    if alias ~= "" and read(alias) == token then
        put(alias, token, "alias", id, VERDICT_SECONDS)
    end
end

-- Verdicts. ready, gone, other: look into the cache again. free, alone: ask the origin. same, compare: the leader's
-- variant is known, so wait for its body. nil: keep waiting.
local function look(record, at)
    local token, state, rest = read(record.id)
    if token ~= record.token or state == "failed" then
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
    local began, recipe = match(rest, "^(%S+) (.*)$")
    began = tonumber(began)
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
        -- nginx dates files in whole seconds. A stale file of this leader will not become fresh.
        local is_stale = found and found.date >= floor(began) * 1000
        -- A longer pause of this worker counts as one poll, since the storing worker may have paused as well.
        record.missing_seconds = record.missing_seconds + min(at - (record.missed_at or at), MAX_POLL_SECONDS)
        record.missed_at = at
        local is_missing = not is_stale and record.missing_seconds > STORE_GRACE_SECONDS
        if is_missing then
            counters.count("leaderFileMissing")
        end
        if is_stale or is_missing then
            drop(record.id, token)
            return "gone"
        end
        return nil
    end
    return at - began > MAX_BODY_WAIT_SECONDS and "alone" or nil
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

-- One loop serves all followers of this worker.
local function watch()
    while next(waiting) do
        local at, soonest = now(), now() + MAX_POLL_SECONDS
        for name, record in pairs(waiting) do
            if record.poll_at <= at then
                poll(name, record, at)
            end
            soonest = min(soonest, record.poll_at)
        end
        sleep(max(soonest - at, MIN_POLL_SECONDS))
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

-- Wakes followers of this worker before the next poll.
local function announce(token)
    for _, name in pairs { token, token .. "+" } do
        local record = waiting[name]
        if record then
            poll(name, record, now())
        end
    end
end

-- `variant`: the hash of the leader's response, once it is known to match the follower. `deadline`: of this follower
-- only.
local function follow(id, token, key, variant, deadline)
    local name = variant and token .. "+" or token
    local record = waiting[name]
    if not record then
        local at = now()
        record = {
            id = id, token = token, key = key, variant = variant, count = 0, since = at, poll_at = at, alive_at = at,
            missing_seconds = 0, semaphore = semaphore.new(),
        }
        -- The verdict is often known already, and the loop may be asleep.
        local verdict = look(record, at)
        if verdict then
            return verdict, record
        end
        waiting[name] = record
    end
    record.count = record.count + 1
    while not record.verdict do
        local left = deadline and deadline - now() or MAX_BODY_WAIT_SECONDS
        -- A wait below a millisecond does not yield, and ngx.now() would never advance.
        if left < MIN_POLL_SECONDS or not is_watching and not start_watching() then
            return "alone"
        end
        record.semaphore:wait(min(left, 5))
    end
    return record.verdict, record
end

-- Returns the verdict and the seconds this request has waited for bodies.
local function follow_both(id, token, waited)
    local key, own = var.e_key, var.http_x_e_vary or ""
    local verdict, record = follow(id, token, key)
    if verdict == "compare" then
        own = vary.hash(record.recipe, var.e_encoding)
        ngx.req.set_header("X-E-Vary", own)
        if own ~= record.hash then
            return "other", waited
        end
    elseif verdict ~= "same" then
        return verdict, waited
    end
    local at = now()
    verdict = follow(id, token, key, own, at + MAX_BODY_WAIT_SECONDS - waited)
    return verdict, waited + now() - at
end

-- The waits of this request so far. `ready`: the token of the last leader whose file was found; `pauses`: how
-- often nginx has missed it.
local function read_round()
    local count, waited, ready, pauses = match(var.e_round, "^(%d+) (%S+) (%S+) (%d+)$")
    return {
        count = tonumber(count) or 0, waited = tonumber(waited) or 0, ready = ready, pauses = tonumber(pauses) or 0,
    }
end

-- Starts the next round. A pause for a file that nginx has missed belongs to the round that found it.
local function next_round(token)
    local round = read_round()
    local pause = token and token == round.ready and LISTING_PAUSE_SECONDS[round.pauses + 1]
    if pause then
        round.pauses = round.pauses + 1
        sleep(pause)
    else
        round.count = round.count + 1
    end
    return round
end

-- Hop A, after hop B sent the request back: waits. True: look into the cache again. False: ask the origin alone.
function _M.wait()
    local id, token = match(var.upstream_http_x_e_turn or "", "^(%x+) (%S+)$")
    local round = next_round(token)
    local verdict = "alone"
    if id and round.count <= MAX_ROUNDS then
        verdict, round.waited = follow_both(id, token, round.waited)
    end
    local asks_store = verdict ~= "alone" and verdict ~= "free"
    round.ready = verdict == "ready" and token or "-"
    var.e_round = asks_store and format("%d %.3f %s %d", round.count, round.waited, round.ready, round.pauses) or "alone"
    return asks_store
end

-- A leader's hop A publishes the variant of its response. `turn`: "<id> <token>" from X-E-Turn.
function _M.note_variant(turn, hash)
    local id, token = match(turn, "^(%x+) (%S+)$")
    if not id or read(id) ~= token then
        return
    end
    local alias = id_of(var.e_key, hash, var.http_authorization)
    put(id .. "v", token, hash, alias ~= id and alias or "", ENTRY_SECONDS)
    if alias ~= id then
        write("safe_add", alias, token .. " alias " .. id, ENTRY_SECONDS)
    end
    -- Hop B may have released the leader already.
    local owner, state = read(id)
    if owner ~= token or state ~= "stores" then
        expire_variant(id, token)
    end
    announce(token)
end

local function is_collapsed()
    return COLLAPSED[var.http_x_e_state or ""] and var.http_x_e_key and var.http_x_e_round ~= "alone" and var.o_turn == ""
        -- Slices wait at nginx's lock. The image service requests on behalf of an elected request.
        and (var.http_x_e_slice or "") == "" and not var.http_x_e_image
        and (var.http_content_length or "0") == "0" and not var.http_transfer_encoding
end

-- The id, token and state of the leader that requests of this id follow, or nil. Removes entries of dead leaders.
local function leader_of(id)
    local token, state, rest = read(id)
    if state == "alias" then
        if read(rest) ~= token then
            drop(id, token)
            return nil
        end
        return leader_of(rest)
    end
    if (state == "leads" or state == "stores") and not is_alive(token) then
        drop(id, token)
        return nil
    end
    return token and id, token, state
end

-- Unfinished leaders of the site in all workers, except killed ones and those that exit after a reload and whose entry
-- belongs to the new worker of the same number.
local function unfinished_of(site)
    local sum = 0
    for worker = 0, worker_count() - 1 do
        local text = dict:get("open|" .. site .. "|" .. worker)
        if text and is_alive(text) then
            sum = sum + tonumber(match(text, "%d+$"))
        end
    end
    return sum
end

local function note_unfinished(site, count)
    count_of_site[site] = count > 0 and count or nil
    local name = "open|" .. site .. "|" .. worker_id()
    -- After a reload a new worker has the same number, and the entry once it has written it. If it writes just after
    -- this look, the exiting worker replaces or deletes the new count. That is tolerated: the next leader of the new
    -- worker writes it again.
    if worker_exiting() and match(dict:get(name) or "", "^%d+") ~= tostring(worker_pid()) then
        return
    end
    if count > 0 then
        write("safe_set", name, worker_pid() .. " " .. count, ENTRY_SECONDS)
    else
        dict:delete(name)
    end
end

-- Counts a new leader. Returns the number within VERDICT_SECONDS. `incr` with an initial value would evict other
-- entries.
local function count_new(site)
    local name = "new|" .. site .. "|" .. floor(now() / VERDICT_SECONDS)
    write("safe_add", name, 0, VERDICT_SECONDS)
    return dict:incr(name, 1) or 0
end

-- Up to its part of the share a worker needs no look at the others. So while some workers have more than their part, a
-- site may have up to twice its share.
local function has_room(site)
    return (count_of_site[site] or 0) < MAX_LEADERS_OF_SITE / worker_count() or unfinished_of(site) < MAX_LEADERS_OF_SITE
end

-- Whether a request of the site may lead. Only one that has room among the unfinished leaders counts as new.
local function admit_leader(site)
    return has_room(site) and count_new(site) <= MAX_LEADERS_OF_SITE
end

local function start_leading(id, token, site)
    leading[token] = { id = id, site = site }
    note_unfinished(site, (count_of_site[site] or 0) + 1)
    var.o_turn = token
end

local function stop_leading(token)
    local site = leading[token].site
    leading[token] = nil
    note_unfinished(site, count_of_site[site] - 1)
end

-- Hop B, before all plugins. Returns a status to end with, if any: HTTP_NO_CONTENT sends hop A to @wait, ERROR makes
-- hop A serve its stale response.
function _M.elect()
    if not is_collapsed() then
        return nil
    end
    local id = id_of(var.http_x_e_key, var.http_x_e_vary or "", var.http_authorization)
    local token, site = new_token(), match(var.http_x_e_key, "^[^.]*")
    -- Twice, since leader_of may have removed a dead leader's entry.
    for _ = 1, 2 do
        local added, why = write("safe_add", id, token .. " leads", ENTRY_SECONDS)
        if added then
            if admit_leader(site) then
                start_leading(id, token, site)
            else
                drop(id, token)
            end
            return nil
        elseif why ~= "exists" then
            return nil
        end
        local leader_id, leader_token, state = leader_of(id)
        if state == "failed" and var.http_x_e_state == "EXPIRED" then
            return ngx.ERROR
        elseif state == "free" or state == "failed" then
            return nil
        elseif leader_id then
            header["X-Accel-Redirect"] = "@wait"
            header["X-E-Turn"] = leader_id .. " " .. leader_token
            return ngx.HTTP_NO_CONTENT
        end
    end
    return nil
end

-- Hop B: whether hop A can be sent to @wait: it asks for a leader, or for a response that needs none (free).
function _M.can_send_back()
    return leading[var.o_turn] ~= nil or is_collapsed()
end

-- Hop B: the leader goes another way. Its followers look into the cache again.
function _M.resign()
    local token = var.o_turn
    local turn = leading[token]
    if turn then
        stop_leading(token)
        drop(turn.id, token)
        announce(token)
    end
end

-- A 304 without a lifetime renews the stored one.
local function expires_of()
    local expires = header["X-Accel-Expires"]
    if not expires and ngx.status == 304 then
        local found = stored.find(var.http_x_e_key, var.http_x_e_vary or "")
        expires = found and found.expires
    end
    return expires
end

-- Seconds that the verdict "failed" holds. Hop A may then serve its stale response. nil: none.
local function stale_seconds()
    local found = stored.find(var.http_x_e_key, var.http_x_e_vary or "")
    local left = found and found.on_error_until - time() or -1
    return left >= 0 and min(left + 1, FAILURE_SECONDS) or nil
end

-- The response cannot be shared. `closed`: hop A gets none, because the origin failed or its response is unusable.
local function note_unshared(id, token, closed)
    local has_failed = closed and ngx.status >= 500 and var.http_x_e_state == "EXPIRED"
    local seconds = has_failed and stale_seconds()
    if seconds then
        put(id, token, "failed", nil, seconds)
    else
        put(id, token, "free", nil, has_failed and FAILURE_SECONDS or VERDICT_SECONDS)
    end
end

-- Hop B, when the response header for hop A is final. `closed`: there is none.
function _M.decide(closed)
    local token = var.o_turn
    local turn = leading[token]
    if not turn or turn.is_decided then
        return
    end
    turn.is_decided = true
    turn.is_whole = NO_BODY[ngx.status] or header["Content-Length"] == "0"
    local expires = not closed and expires_of() or "0"
    -- @1: stored as stale, so every follower must revalidate.
    if expires == "0" or expires == "@1" then
        note_unshared(turn.id, token, closed)
    else
        local recipe = header["X-E-Recipe"]
        put(turn.id, token, "stores", format("%.3f %s", now(), recipe or ""), ENTRY_SECONDS)
        if recipe then
            header["X-E-Turn"] = turn.id .. " " .. token
        end
    end
    announce(token)
end

-- Hop B, with the last byte sent to hop A.
function _M.note_whole()
    local turn = leading[var.o_turn]
    if turn then
        turn.is_whole = true
    end
end

-- Hop B, when the request ends for any reason.
function _M.release()
    local token = var.o_turn
    local turn = leading[token]
    if not turn then
        return
    end
    stop_leading(token)
    local owner, state, rest = read(turn.id)
    if owner == token and (state == "leads" or state == "stores") then
        if turn.is_whole and state == "stores" then
            put(turn.id, token, "done", rest, VERDICT_SECONDS)
        else
            dict:delete(turn.id)
        end
    end
    expire_variant(turn.id, token)
    announce(token)
end
return _M
