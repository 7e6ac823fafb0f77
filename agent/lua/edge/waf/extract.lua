-- Splits a request into values: emit(place, name, value), each decoded once, as applications do. Readers are single
-- loops, and read broken input as far as it goes. `emit` limits the work: it raises an error when a body has too much.
local ffi = require("ffi")
local charset = require("edge.waf.charset")
local decode = require("edge.waf.decode")
local multipart = require("edge.waf.multipart")
local bytes_of = ffi.typeof("const uint8_t *")
local byte, find, gsub = string.byte, string.find, string.gsub
local lower, match, reverse, sub = string.lower, string.match, string.reverse, string.sub
local concat, ipairs, max, pairs, type = table.concat, ipairs, math.max, pairs, type
local url, escapes = decode.url, decode.escapes

local _M = {}

-- `a=1&b=2` with its separator.
local function fields(emit, s, place, separator)
    local from, n, equals = 1, #s, 0
    while from <= n do
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
        from = to + 1
    end
end

local ESCAPED = { n = "\n", t = "\t", r = "\r", b = "\b", f = "\f" }
local function unescaped(c)
    return ESCAPED[c] or c
end

-- The first letter of a literal, and the literals. Python writes numbers that JSON does not have.
local LITERALS = {}
for _, word in ipairs({ "true", "false", "null", "NaN", "Infinity" }) do
    LITERALS[byte(word)] = word
end
-- 1: begins a number. 2: continues one. 3: white space and punctuation.
local OUTSIDE = ffi.new("uint8_t[256]")
for class, characters in ipairs({ "-0123456789", "+.eE", "\t\n\r []{}:," }) do
    for i = 1, #characters do
        OUTSIDE[byte(characters, i)] = class
    end
end

-- Whether the text outside of strings is only JSON's, and each brace opens an object. Templates and queries have more.
-- The text may be cut anywhere.
function _M.is_json(s)
    local p, n, i, previous = ffi.cast(bytes_of, s), #s, 0, 0
    while i < n do
        local c = p[i]
        local class = OUTSIDE[c]
        local literal = LITERALS[c]
        if previous == 123 and c > 32 and c ~= 34 and c ~= 125 then
            return false
        elseif c == 34 then
            i = i + 1
            while i < n and p[i] ~= 34 do
                i = i + (p[i] == 92 and 2 or 1)
            end
            i = i + 1
        elseif class == 1 then
            repeat
                i = i + 1
            until i >= n or OUTSIDE[p[i]] == 0 or OUTSIDE[p[i]] == 3
        elseif class == 3 then
            i = i + 1
        elseif literal and sub(s, i + 1, i + #literal) == sub(literal, 1, n - i) then
            i = i + #literal
        else
            return false
        end
        previous = c > 32 and c or previous
    end
    return true
end

-- All strings, without a tree. Repeated keys are all read.
function _M.json(emit, s, place)
    local p, n, i, name = ffi.cast(bytes_of, s), #s, 0, ""
    while i < n do
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
    end
end

local function emit_text(emit, name, texts)
    local text = concat(texts)
    if find(text, "%S") then
        emit("xml", name or "", text)
    end
end

-- The quoted values of a tag by their quote. In broken tags, quotes without a pair are ignored.
local VALUES = { [34] = '^"([^<"]*)"()', [39] = "^'([^<']*)'()" }

local NAME = "[%a_\128-\255][%w_:.\128-\255-]*"
local TAG_START = "^</?" .. NAME .. "()"
local QUOTED, SINGLE_QUOTED = "^%s+" .. NAME .. '%s*=%s*"[^<"]*"()', "^%s+" .. NAME .. "%s*=%s*'[^<']*'()"
local SINGLE_QUOTES = "(%s" .. NAME .. "%s*=%s*)'([^'\"<]*)'"
local TAG_NAME = "^<([%w_.\128-\255-]*):?([%w_.\128-\255-]*)"
local MAX_DOCTYPE_BYTES, MAX_ATTRIBUTE_BYTES = 300, 256

-- Whether it is a document type of a name, perhaps a word, and quoted texts.
local function is_doctype(s, open)
    local declaration = match(lower(sub(s, open, open + MAX_DOCTYPE_BYTES)), "^<!doctype%s+([^<>]*)>")
    return declaration and find(gsub(declaration, '"[^"]*"', ""), "^%w+%s*%a*%s*$") ~= nil
end

-- Whether all of a tag is XML.
local function is_tag(s, open)
    local at = match(s, TAG_START, open)
    while at and not find(s, "^%s*/?>", at) do
        at = match(s, QUOTED, at) or match(s, SINGLE_QUOTED, at)
    end
    return at ~= nil or is_doctype(s, open)
end

-- The name of the attribute whose value begins at a position of a tag, without its prefix. Reading backwards takes one
-- pass.
local function attribute_before(s, open, at)
    local name = match(reverse(sub(s, max(open, at - MAX_ATTRIBUTE_BYTES), at - 1)), "^%s*=%s*([^%s=:\"'<>/]+)")
    return name and reverse(name) or ""
end

-- Emits the values of a tag, and returns the position after it.
local function read_tag(emit, s, open)
    local at = find(s, "[>\"']", open)
    while at and byte(s, at) ~= 62 do
        local value, after = match(s, VALUES[byte(s, at)], at)
        if value then
            emit("xml", attribute_before(s, open, at), value)
        end
        at = find(s, "[>\"']", after or at + 1)
    end
    return (at or #s) + 1
end

-- Keeps the names of the open elements, without their prefixes. `after`: the position after the tag.
local function follow_tag(names, s, open, after)
    if byte(s, open + 1) == 47 then
        names[#names] = nil
    elseif byte(s, after - 2) ~= 47 then
        local name, local_name = match(s, TAG_NAME, open)
        names[#names + 1] = local_name ~= "" and local_name or name
    end
end

-- Parsers join the texts before and after these. The content of CDATA is text, too.
local COMMENT, INSTRUCTION, CDATA = "<!--", "<?", "<![CDATA["
local MARKUP_ENDS = { [COMMENT] = "-->", [INSTRUCTION] = "?>", [CDATA] = "]]>" }

-- The text of markup that does not end a text, and the position after it, or nil. All is text if its end is missing.
local function text_of_markup(s, open)
    for begin, ending in pairs(MARKUP_ENDS) do
        local content = open + #begin
        if sub(s, open, content - 1) == begin then
            local to = find(s, ending, content, true)
            local is_text = begin == CDATA or not to
            return is_text and sub(s, content, (to or #s + 1) - 1) or "", (to or #s) + #ending
        end
    end
end

local EBCDIC_XML = "\76\111\167\148"
-- Returns whether each tag is one of XML.
local function xml(emit, report, s)
    local encoding = match(s, "^%s*<%?xml[^>]-encoding%s*=%s*[\"']([^\"']*)")
    if (encoding and not charset.is_known(encoding)) or sub(s, 1, 4) == EBCDIC_XML then
        report("protocol-unknown-charset")
    end
    -- Both quotes are alike, and the model knows few documents with single ones.
    emit("document", "", (gsub(s, SINGLE_QUOTES, '%1"%2"')))
    local texts, from, has_only_tags, names = {}, 1, true, {}
    while from <= #s do
        local open = find(s, "<", from, true) or #s + 1
        texts[#texts + 1] = sub(s, from, open - 1)
        local text, after = text_of_markup(s, open)
        if text then
            texts[#texts + 1], from = text, after
        else
            emit_text(emit, names[#names], texts)
            has_only_tags = has_only_tags and (open > #s or is_tag(s, open))
            texts, from = {}, read_tag(emit, s, open)
            follow_tag(names, s, open, from)
        end
    end
    emit_text(emit, names[#names], texts)
    return has_only_tags
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

-- Bodies of these types are files: no reader of texts takes them.
local function is_binary_type(media)
    return find(media, "octet-stream", 1, true) or find(media, "^image/") or find(media, "^video/") or find(media, "^audio/")
        or find(media, "protobuf", 1, true) or (find(media, "^application/grpc") and not find(media, "text", 1, true))
end

-- The content decides where the declared type is missing or wrong. `media` has no parameters.
local function read_text(emit, report, media, s)
    local first, is_xml, is_form = charset.document_start(s), find(media, "xml", 1, true), find(media, "urlencoded", 1, true)
    if first and first ~= "<" and not is_form then
        _M.json(emit, s, "json")
        if not _M.is_json(s) then
            emit("raw", "", s)
        end
    elseif (is_xml or first == "<") and not is_form then
        -- No parser of XML takes other tags, so such a text is read as it is.
        if not xml(emit, report, s) and not is_xml then
            emit("raw", "", s)
        end
    elseif is_form or find(s, "^[%w_%.%[%]%-%%]+=") then
        if first == "{" and find(s, '"%s*:') then
            _M.json(emit, url(s, true), "json")
        elseif first == "<" then
            xml(emit, report, s)
        end
        fields(emit, s, "form", "&")
    elseif is_binary_type(media) then
        emit("file", "", s)
    else
        emit("raw", "", s)
    end
end

local function media_of(content_type)
    return match(lower(content_type or ""), "^%s*([^;,%s]*)")
end

-- JSON and XML are read, whatever the part's type is. All else is raw, also what would be a file or a form as a body.
local function read_part(emit, report, head, s)
    if charset.document_start(s) then
        read_text(emit, report, media_of(match(head, "[Cc][Oo][Nn][Tt][Ee][Nn][Tt]%-[Tt][Yy][Pp][Ee]:([^\r\n]*)")), s)
    else
        emit("raw", "", s)
    end
end

-- `content_type`: a string, a list of several, or nil. Servers take the first or the last of several, and some find
-- multipart/ anywhere. `report(rule)`: the body breaks a body rule.
function _M.body(emit, report, content_type, s)
    local types = type(content_type) == "table" and content_type or { content_type }
    local all = concat(types, ", ")
    local first, last = media_of(types[1]), media_of(types[#types])
    local is_multipart = find(lower(all), "multipart/", 1, true)
    local reader = { emit = emit, report = report, part_count = 0 }
    function reader.read_part(head, text)
        read_part(emit, report, head, text)
    end
    local function read(text)
        local has_parts = is_multipart and multipart.read(reader, types, text)
        if not has_parts or not find(first, "^multipart/") then
            read_text(emit, report, first, text)
        end
        if last ~= first and not find(last, "^multipart/") then
            read_text(emit, report, last, text)
        end
    end
    charset.read_wide_texts(report, all, s, function(text)
        -- Only JSON and XML are texts in spite of a binary type.
        if not is_binary_type(first) or charset.document_start(text) then
            read(text)
        end
    end)
    read((gsub(s, "^\239\187\191", "")))
end
return _M
