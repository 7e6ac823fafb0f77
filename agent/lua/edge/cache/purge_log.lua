-- The purge log on disk. Versions are in memory only, so after a restart a purged object could be found under its old
-- key. The master reads the log before workers start.
local cjson = require("cjson.safe")
local settings = require("edge.core.settings")
local open, rename, remove, now, time = io.open, os.rename, os.remove, ngx.now, ngx.time
local concat, insert, gsub, max = table.concat, table.insert, string.gsub, math.max
local ipairs, pairs, type = ipairs, pairs, type

local _M = {}
-- How long a purge is kept: for longer than unreachable objects stay on disk.
_M.KEPT_SECONDS = max(30 * 86400, 2 * (settings.cache_inactive or 0))
-- The limit of purges of one site.
_M.MOST_OF_SITE = 10000
local KEPT_SECONDS, MOST_OF_SITE = _M.KEPT_SECONDS, _M.MOST_OF_SITE
local COMPACTED_BYTES = 4 * 1024 * 1024

local function path()
    return settings.dir .. "/cache/purged"
end

-- Whether all of the text is on disk. A full disk may be noticed only by close(). A short text is one write, so that
-- workers do not interleave.
local function write(name, mode, text)
    local file, err = open(name, mode)
    local is_written, is_closed = false, false
    if file then
        file:setvbuf("full", 65536)
        is_written, err = file:write(text)
        local close_err
        is_closed, close_err = file:close()
        err = err or close_err
    end
    if not (is_written and is_closed) then
        ngx.log(ngx.ERR, "cannot write ", name, ": ", err)
    end
    return is_written and is_closed
end

-- Begins on a new line, because a failed write may have left half a line. Empty lines are skipped.
function _M.add(entry)
    ngx.update_time()
    entry.time = now()
    write(path(), "a", "\n" .. cjson.encode(entry) .. "\n")
end

-- An entry replaces earlier ones of the same subject.
local function subject(entry)
    if entry.mark then
        return entry.mark .. " " .. entry.site .. " " .. (entry.prefix or entry.tag)
    end
    return (entry.softened and "softened " or "") .. (entry.url or entry.site)
end

-- A site with too many purges is purged as a whole, so that its entries fill neither disk nor memory. `exceeded`: the
-- generation has to be raised (urls.lua).
local function bounded(entries, order)
    local counts, few = {}, {}
    for _, name in ipairs(order) do
        local site = entries[name].site
        counts[site] = (counts[site] or 0) + 1
    end
    for _, name in ipairs(order) do
        if counts[entries[name].site] <= MOST_OF_SITE then
            few[#few + 1] = name
        end
    end
    for site, count in pairs(counts) do
        if count > MOST_OF_SITE then
            local generation = entries[site] and entries[site].moves or 0
            entries[site] = { site = site, moves = generation + 1, exceeded = true, time = time() }
            few[#few + 1] = site
        end
    end
    return entries, few
end

-- The entry of a line. nil: the line is damaged or its purge has expired. Generations do not expire: a number that is
-- used again would make files of that generation reachable.
local function read_entry(line)
    local entry = cjson.decode(line)
    local is_entry = type(entry) == "table" and entry.site
    return is_entry and (entry.moves or (entry.time or 0) > time() - KEPT_SECONDS) and entry or nil
end

-- Whether a line has a lower generation than an earlier line. Workers may write generations out of order.
local function is_superseded(entry, known)
    return entry.moves and known and known.moves > entry.moves
end

-- In the order of the purges, which is that of their lines, since a clock may be set back. A late line (see mark_late)
-- has its place by its time.
local function read_entries(lines)
    local entries = {}
    for line in lines do
        local entry = read_entry(line)
        local place = #entries + 1
        while entry and entry.late and place > 1 and (entries[place - 1].time or 0) > entry.time do
            place = place - 1
        end
        if entry then
            entry.late = nil
            insert(entries, place, entry)
        end
    end
    return entries
end

-- In the order of their last purges: a mark belongs to the generation of its site, and is obsolete in the next.
local function latest(lines)
    local entries, last, names, order, raised = {}, {}, {}, {}, {}
    for _, entry in ipairs(read_entries(lines)) do
        local name = subject(entry)
        if not is_superseded(entry, entries[name]) then
            names[#names + 1] = name
            if entry.moves then
                raised[entry.site] = #names
            end
            entries[name], last[name] = entry, #names
        end
    end
    for at, name in ipairs(names) do
        if last[name] == at and at >= (raised[entries[name].site] or 0) then
            order[#order + 1] = name
        end
    end
    return bounded(entries, order)
end

-- Calls `each` with every entry that is still needed.
function _M.replay(each)
    local file = open(path(), "r")
    if not file then
        return
    end
    local entries, order = latest(file:lines())
    file:close()
    for _, name in ipairs(order) do
        each(entries[name])
    end
end

local compacted_above = COMPACTED_BYTES
-- The file of the log before it was shortened last, to which workers that had opened it may still append.
local replaced
-- Late lines that a full disk rejected.
local unwritten = ""

-- Lines that are written behind those of newer purges. Damaged ones are left out.
local function mark_late(lines)
    return (gsub(lines, "[^\n]+", function(line)
        local entry = read_entry(line)
        if not entry then
            return ""
        end
        entry.late, entry.time = true, entry.time or 0
        return cjson.encode(entry)
    end))
end

-- Adds the lines that came into the replaced file, or keeps them for the next call. They begin on a new line, as in
-- `add`.
local function add_late()
    unwritten = unwritten .. mark_late(replaced and replaced:read("*a") or "")
    if unwritten ~= "" and write(path(), "a", "\n" .. unwritten) then
        unwritten = ""
    end
end

-- Replaces the log, which is read from `file`, by its entries that are still needed. Returns its new size, or nil.
local function shorten(file)
    local entries, order = latest(file:lines())
    local lines = {}
    for i, name in ipairs(order) do
        lines[i] = cjson.encode(entries[name]) .. "\n"
    end
    local text, shorter = concat(lines), path() .. ".new"
    local is_written = write(shorter, "w", text)
    -- Lines that other workers appended since then. They precede those that workers append to the shorter log.
    local rest = file:read("*a")
    if not (is_written and write(shorter, "a", rest) and rename(shorter, path())) then
        remove(shorter)
        file:close()
        return nil
    end
    replaced = file
    add_late()
    return #text + #rest
end

-- Removes obsolete entries. One worker, which owns the folder. After that or an error, the next time is at twice the
-- size. `is_exiting`: a timer's last call. The file belongs to a new worker then.
function _M.compact(is_exiting)
    add_late()
    if is_exiting then
        return
    end
    if replaced then
        replaced:close()
        replaced = nil
    end
    local file = open(path(), "r")
    local size = file and file:seek("end") or 0
    if size >= compacted_above then
        file:seek("set")
        compacted_above = max(COMPACTED_BYTES, 2 * (shorten(file) or size))
    elseif file then
        file:close()
    end
end

-- Before the worker exits, which would lose the late lines.
_M.exit_worker = add_late
return _M
