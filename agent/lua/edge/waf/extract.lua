-- Splits a request into values: emit(place, name, value), each decoded once, as applications do. Readers are single
-- loops, and read broken input as far as it goes. Past a limit, the rest is one value.
local ffi = require("ffi")
local decode = require("edge.waf.decode")
local bytes_of = ffi.typeof("const uint8_t *")
local find, gmatch, gsub, lower, match, sub = string.find, string.gmatch, string.gsub, string.lower, string.match, string.sub
local url, escapes = decode.url, decode.escapes

local _M = {}
-- The bytes of the largest inspected body, so no request reaches these. The reader of the values limits the work.
local MAX_FIELDS, MAX_STRINGS, MAX_NODES, MAX_PARTS = 1048576, 1048576, 1048576, 1048576

-- `a=1&b=2` with its separator.
local function fields(emit, s, place, separator)
    local from, n, count, equals = 1, #s, 0, 0
    while from <= n and count < MAX_FIELDS do
        local to = find(s, separator, from, true) or n + 1
        -- Remembered: many fields without an equals sign would be quadratic.
        if equals and equals < from then
            equals = find(s, "=", from, true)
        end
        if equals and equals < to then
            local name = url(sub(s, from, equals - 1), true)
            if name ~= "" then
                emit("name", "", name)
            end
            emit(place, name, url(sub(s, equals + 1, to - 1), true))
        elseif to > from then
            emit(place, "", url(sub(s, from, to - 1), true))
        end
        from, count = to + 1, count + 1
    end
    if from <= n then
        emit(place, "", url(sub(s, from), true))
    end
end

local ESCAPED = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
local function unescaped(c)
    return ESCAPED[c] or c
end

-- All strings, without a tree. Repeated keys are all read.
function _M.json(emit, s, place)
    local p, n, i, name, count = ffi.cast(bytes_of, s), #s, 0, "", 0
    while i < n and count < MAX_STRINGS do
        while i < n and p[i] ~= 34 do
            i = i + 1
        end
        if i >= n then
            return
        end
        local to, has_escape = i + 1, false
        while to < n and p[to] ~= 34 do
            if p[to] == 92 then
                has_escape = true
                to = to + 1
            end
            to = to + 1
        end
        local value = sub(s, i + 2, to)
        if has_escape then
            value = gsub(escapes(value), '\\([ntrbf/\\"])', unescaped)
        end
        i = to + 1
        local k = i
        while k < n and p[k] <= 32 do
            k = k + 1
        end
        if k < n and p[k] == 58 then
            name = value
            emit("name", "", value)
        else
            emit(place, name, value)
        end
        count = count + 1
    end
    if i < n then
        emit(place, "", sub(s, i + 1))
    end
end

local function xml(emit, s)
    emit("document", "", s)
    local from, count = 1, 0
    while count < MAX_NODES do
        local open = find(s, "<", from, true)
        local text = sub(s, from, (open or #s + 1) - 1)
        if find(text, "%S") then
            emit("xml", "", text)
        end
        if not open then
            return
        end
        if sub(s, open, open + 8) == "<![CDATA[" then
            local to = find(s, "]]>", open, true) or #s + 1
            emit("xml", "", sub(s, open + 9, to - 1))
            from = to + 3
        else
            local close = find(s, ">", open, true) or #s
            for value in gmatch(sub(s, open, close), '=%s*"([^"]*)"') do
                emit("xml", "", value)
            end
            from = close + 1
        end
        count = count + 1
    end
end

local function part(emit, text)
    local head_end, body_start = find(text, "\r?\n\r?\n")
    if not head_end then
        if find(text, "[^%s%-]") then
            emit("raw", "", text)
        end
        return
    end
    local head = sub(text, 1, head_end - 1)
    local content = gsub(sub(text, body_start + 1), "\r?\n$", "")
    local lowered = lower(head)
    local _, name_at = find(lowered, '[;%s]name%s*=%s*"?')
    local name = name_at and match(head, '^[^";\r\n]*', name_at + 1) or ""
    emit("name", "", name)
    local _, file_at = find(lowered, "filename", 1, true)
    if file_at then
        emit("filename", name, match(head, '^%*?%s*=%s*"?([^"\r\n]*)', file_at + 1) or head)
        emit("file", name, content)
    else
        emit("form", name, content)
    end
end

local function multipart(emit, s, boundary)
    local mark, count = "--" .. boundary, 0
    local from = find(s, mark, 1, true)
    if not from then
        return emit("raw", "", s)
    end
    while from and count < MAX_PARTS do
        local to = find(s, mark, from + #mark, true)
        part(emit, sub(s, from + #mark, (to or #s + 1) - 1))
        from, count = to, count + 1
    end
    if from then
        emit("raw", "", sub(s, from))
    end
end

function _M.target(emit, uri, path_place, query_place)
    local question = find(uri, "?", 1, true)
    emit(path_place, "", url(question and sub(uri, 1, question - 1) or uri, false))
    if question then
        fields(emit, sub(uri, question + 1), query_place, "&")
    end
end

function _M.cookies(emit, line)
    local from, n = 1, #line
    while from <= n do
        local to = find(line, ";", from, true) or n + 1
        local name, value = match(sub(line, from, to - 1), "^%s*([^=]*)=(.*)$")
        if name then
            emit("name", "", name)
            emit("cookie", name, url(value, false))
        elseif to > from then
            emit("cookie", "", url(sub(line, from, to - 1), false))
        end
        from = to + 1
    end
end

local function is_binary_type(kind)
    return find(kind, "octet-stream", 1, true) or find(kind, "^image/") or find(kind, "^video/") or find(kind, "^audio/")
        or find(kind, "protobuf", 1, true)
end

-- The content decides where the declared type is missing or wrong.
function _M.body(emit, content_type, s)
    local kind, first = lower(content_type or ""), match(s, "^%s*(.)")
    if find(kind, "multipart/", 1, true) then
        local boundary = match(content_type, '[Bb][Oo][Uu][Nn][Dd][Aa][Rr][Yy]%s*=%s*"?([^";,%s]+)')
        if boundary then
            return multipart(emit, s, boundary)
        end
    elseif (first == "{" or first == "[" or first == '"') and not find(kind, "urlencoded", 1, true) then
        return _M.json(emit, s, "json")
    elseif find(kind, "xml", 1, true) or first == "<" then
        return xml(emit, s)
    elseif find(kind, "urlencoded", 1, true) or find(s, "^[%w_%.%[%]%-%%]+=") then
        if first == "{" and find(s, '"%s*:') then
            _M.json(emit, url(s, true), "json")
        end
        return fields(emit, s, "form", "&")
    elseif is_binary_type(kind) then
        return emit("file", "", s)
    end
    emit("raw", "", s)
end
return _M
