-- Parts of multipart bodies. Servers read some boundaries and heads in different ways, which no browser sends. Several
-- readings of such a head are inspected. Such boundaries, and names that are too many, too long or in pieces, are
-- reported as `protocol-broken-multipart`.
local charset = require("edge.waf.charset")
local decode = require("edge.waf.decode")
local rules = require("edge.waf.rules")
local byte, find, gmatch, gsub, lower, match, sub = string.byte, string.find, string.gmatch, string.gsub, string.lower,
    string.match, string.sub
local concat, decode_base64, ipairs = table.concat, ngx.decode_base64, ipairs

local _M = {}
local MAX_BOUNDARIES, MAX_FILE_NAMES, MAX_FILE_NAME_BYTES = 4, 8, 4096
-- All readings of a body together. Each part costs some microseconds, even if it is empty.
local MAX_PARTS = 10000

-- The value at a position as the standard reads it, and as others do, its end, and whether its end is clear.
local function value_at(line, at)
    local quoted, quote_end = match(line, '^"([^"]*)"()', at)
    if quoted then
        local is_clear = find(match(line, "^%s*(.?)", quote_end), "^[;,]?$") and not find(quoted, "^%s")
            and not find(quoted, "[%s\\]$")
        return quoted, gsub(quoted, "\\(.)", "%1"), quote_end, is_clear
    end
    local text, text_end = match(line, '^"?([^;]*)()', at)
    local is_clear = sub(line, at, at) ~= '"' and not find(text, '[%s"]')
    return match(text, "^.*%S", find(text, "%S")) or "", match(text, '^%s*([^",%s]*)'), text_end, is_clear
end

-- Adds the boundaries of one Content-Type line to the list, and returns whether servers disagree on them. PHP takes the
-- first parameter that mentions a boundary in its name.
local function add_boundaries(boundaries, line)
    local lowered, is_broken, from = lower(line), false, 1
    while true do
        local at, mention_end = find(lowered, "boundary", from, true)
        local equals = at and find(lowered, "=", mention_end, true)
        if not equals then
            return is_broken
        end
        local standard, other, value_end, is_clear = value_at(line, equals + 1)
        boundaries.first = boundaries.first or { standard, other }
        is_broken = is_broken or not is_clear or equals > mention_end + 1 or not find(lowered, "^[;,%s]", at - 1)
            or standard ~= boundaries.first[1] or other ~= boundaries.first[2]
        for i, value in ipairs({ standard, other }) do
            if value ~= "" and not boundaries.known[value] and #boundaries < MAX_BOUNDARIES then
                boundaries.known[value] = true
                boundaries[#boundaries + 1] = { value = value, is_standard = i == 1 }
            end
        end
        from = value_end
    end
end

-- The name and file names of a Content-Disposition as browsers write it, or nil.
local function parameters_of(value)
    local at = match(lower(value), "^%s*form%-data()")
    local found = {}
    while at do
        local key, after = match(value, "^%s*;%s*([%w%-*]+)%s*=%s*()", at)
        if not key then
            break
        end
        key = lower(key)
        local text, next_at = match(value, '^"([^"]*)"()', after)
        if not text then
            text, next_at = match(value, '^([^%s;,"\\=]*)()', after)
            if key ~= "filename*" and find(text, "'", 1, true) then
                return nil
            end
        end
        -- A quote behind a backslash ends the text for some servers only.
        if found[key] or find(text, "\\$") or (key ~= "name" and key ~= "filename" and key ~= "filename*") then
            return nil
        end
        found[key], at = text, next_at
    end
    return at and find(value, "^%s*;?%s*$", at) and found or nil
end

-- The parameters of a head that all servers read alike, or nil.
local function plain_head(head)
    local found
    for line in gmatch(head .. "\r\n", "(.-)\r\n") do
        local name, value = match(line, "^([%w%-_]+):(.*)$")
        if not name and find(line, "[^ \t]") or find(line, "[%z\1-\8\10-\31\127]") or (name == nil and found) then
            return nil
        end
        if name and lower(name) == "content-disposition" then
            if found then
                return nil
            end
            found = parameters_of(value)
            if not found then
                return nil
            end
        end
    end
    return found
end

local function bytes_of_base64(text)
    local digits = gsub(text, "[^%w+/]", "")
    return decode_base64(sub(digits, 1, #digits - #digits % 4)) or ""
end

local function bytes_of_quoted_printable(text)
    return (gsub(gsub(text, "=[ \t]*\r?\n", ""), "=(%x%x)", function(digits)
        return string.char(tonumber(digits, 16))
    end))
end

local DECODERS = { base64 = bytes_of_base64, ["quoted-printable"] = bytes_of_quoted_printable }

-- Calls `read` with each reading of a part's content, the bytes first. Servers follow the first or last of several
-- encodings, or none.
local function read_contents(report, head, content, read)
    local function read_texts(bytes)
        read(bytes)
        charset.read_wide_texts(report, head, bytes, read)
    end
    read_texts(content)
    local known = {}
    for encoding in gmatch(lower(head), "content%-transfer%-encoding%s*:%s*([%w%-]+)") do
        if DECODERS[encoding] and not known[encoding] then
            known[encoding] = true
            read_texts(DECODERS[encoding](content))
        end
    end
end

-- The readings of a file name. `text`: the rest of its line.
local function file_names_of(text)
    local quoted, after = match(text, '^"([^"]*)"%s*(.?)')
    if quoted and not find(quoted, "\\$") and (after == "" or after == ";") then
        return { quoted, (gsub(quoted, "\\(.)", "%1")) }
    end
    -- Quotes end a name for some servers only. The rules take a semicolon as an end, so it stands for each quote.
    local rest = match(text, "^[\"']*(.*)")
    local first = match(match(rest, "^[^;\"']*"), "^.*%S") or ""
    return { first, gsub(first, "\\(.)", "%1"), (gsub(rest, "[\"']", ";")) }
end

-- The value of an extended parameter without its charset and language, which it begins with.
local function without_charset(report, value)
    local name = match(value, "^\"?([^'\"]*)'[^']*'")
    if name and not charset.is_known(name) then
        report("protocol-unknown-charset")
    end
    return (gsub(value, "^(\"?)[^'\"]*'[^']*'", "%1"))
end

-- Emits each file name in a head that servers read in different ways, and returns whether there is one.
local function emit_unclear_names(emit, report, name, head)
    local lowered, known, from = lower(head), {}, 1
    for _ = 1, MAX_FILE_NAMES do
        local _, to, extension = find(lowered, "filename(%*?%d*%*?)%s*=%s*", from)
        if not to then
            return from > 1
        end
        local line = match(head, "^[^\r\n]*", to + 1)
        if #line > MAX_FILE_NAME_BYTES or find(extension, "%d") then
            report("protocol-broken-multipart")
        end
        line = sub(line, 1, MAX_FILE_NAME_BYTES)
        line = extension == "" and line or without_charset(report, line)
        for _, text in ipairs(file_names_of(line)) do
            if not known[text] then
                known[text] = true
                emit("filename", name, text)
            end
        end
        from = to + 1
    end
    if find(lowered, "filename", from, true) then
        report("protocol-broken-multipart")
    end
    return true
end

-- The head with each header on one line. Some servers also join lines without a colon, and end lines at LF only.
local function unfolded(head)
    local lines = {}
    for line in gmatch(gsub(head, "\r", ""), "[^\n]+") do
        if #lines > 0 and (find(line, "^[ \t]") or not find(line, ":", 1, true)) then
            lines[#lines] = lines[#lines] .. line
        else
            lines[#lines + 1] = line
        end
    end
    return concat(lines, "\n")
end

-- Emits the file names of a head, and returns whether there is one. `parameters`: those of the head, nil if servers
-- disagree.
local function emit_file_names(emit, report, name, head, parameters)
    if not parameters then
        local has_name, joined = emit_unclear_names(emit, report, name, head), unfolded(head)
        if joined ~= gsub(head, "\r\n", "\n") then
            has_name = emit_unclear_names(emit, report, name, joined) or has_name
        end
        return has_name
    end
    local plain, extended = parameters.filename, parameters["filename*"]
    if #(plain or "") > MAX_FILE_NAME_BYTES or #(extended or "") > MAX_FILE_NAME_BYTES then
        report("protocol-broken-multipart")
    end
    if plain then
        plain = sub(plain, 1, MAX_FILE_NAME_BYTES)
        emit("filename", name, plain)
        emit("filename", name, (gsub(plain, "\\(.)", "%1")))
    end
    if extended then
        emit("filename", name, without_charset(report, sub(extended, 1, MAX_FILE_NAME_BYTES)))
    end
    return plain ~= nil or extended ~= nil
end

local function inspect_part(reader, text)
    local emit, report = reader.emit, reader.report
    local head_end, body_start = find(text, "\r?\n\r?\n")
    if not head_end then
        if find(text, "[^%s%-]") then
            emit("raw", "", text)
        end
        return
    end
    -- The text begins with the end of the delimiter's line.
    local head = gsub(sub(text, 1, head_end - 1), "^[ \t]*\r?\n", "")
    local content = gsub(sub(text, body_start + 1), "\r?\n$", "")
    local parameters = sub(text, head_end, body_start) == "\r\n\r\n" and plain_head(head) or nil
    local _, name_end = find(lower(head), '[;%s]name%s*=%s*"?')
    local name = parameters and parameters.name or name_end and match(head, '^[^";\r\n]*', name_end + 1) or ""
    emit("name", "", name)
    local may_be_file = emit_file_names(emit, report, name, head, parameters)
    local is_file = parameters and (parameters.filename or "") ~= ""
    -- Parts of other types than forms have no Content-Disposition.
    local has_disposition = find(lower(head), "content-disposition", 1, true)
    read_contents(report, head, content, function(reading)
        if may_be_file then
            emit("file", name, reading)
        end
        if not (may_be_file or has_disposition) then
            reader.read_part(head, reading)
        elseif not is_file then
            emit(may_be_file and "raw" or "form", name, reading)
        end
    end)
end

-- The positions of a boundary at the start of lines, and whether servers disagree on them.
local function delimiters_of(s, mark)
    local list, is_broken, line_end = {}, false, nil
    local at, to = find(s, mark, 1, true)
    while at do
        local before = byte(s, at - 1) == 10 and (byte(s, at - 2) == 13 and "\r\n" or "\n") or at == 1 and "" or nil
        if before then
            list[#list + 1] = at
            local after = match(s, "^[ \t]*(\r?\n)", to + 1)
            line_end = line_end or after
            local is_last = find(s, "^%-%-[ \t]*\r?\n", to + 1) or #s - to <= 3
            is_broken = is_broken or not (is_last or after and after == line_end)
                or (before ~= "" and line_end and before ~= line_end)
        else
            is_broken = true
        end
        at, to = find(s, mark, to + 1, true)
    end
    return list, is_broken
end

local function read_parts(reader, s, boundary)
    local emit, report = reader.emit, reader.report
    local mark = "--" .. boundary.value
    local delimiters, is_broken = delimiters_of(s, mark)
    if #delimiters == 0 then
        return false
    end
    local preamble = sub(s, 1, delimiters[1] - 1)
    if find(preamble, "%S") then
        emit("raw", "", preamble)
        -- Perhaps parts of another boundary.
        is_broken = is_broken or find("\n" .. preamble, "\n--", 1, true)
    end
    for i = 1, #delimiters do
        reader.part_count = reader.part_count + 1
        if reader.part_count > MAX_PARTS then
            report(rules.TOO_MANY_VALUES)
            break
        end
        inspect_part(reader, sub(s, delimiters[i] + #mark, (delimiters[i + 1] or #s + 1) - 1))
    end
    if is_broken and boundary.is_standard then
        report("protocol-broken-multipart")
        emit("raw", "", s)
    end
    return true
end

-- Returns whether the body has parts. `reader`: `emit`, `report`, `read_part` for contents of parts
-- without a Content-Disposition, and `part_count`, the number of parts so far.
function _M.read(reader, content_types, s)
    local boundaries, is_broken, has_parts = { known = {} }, false, false
    for _, line in ipairs(content_types) do
        is_broken = add_boundaries(boundaries, line) or is_broken
    end
    if is_broken then
        reader.report("protocol-broken-multipart")
    end
    for _, boundary in ipairs(boundaries) do
        has_parts = read_parts(reader, s, boundary) or has_parts
    end
    return has_parts
end
return _M
