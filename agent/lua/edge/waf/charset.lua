-- Which characters the bytes of a body are: servers follow byte order marks, declared charsets, and the NULs at the
-- start of JSON and XML. Charsets that keep ASCII need no decoding here.
local decode = require("edge.waf.decode")
local byte, find, gmatch, gsub, lower, match, sub = string.byte, string.find, string.gmatch, string.gsub, string.lower,
    string.match, string.sub
local ipairs, pairs = ipairs, pairs

local _M = {}
local UTF16_LITTLE, UTF16_BIG, UTF32_LITTLE, UTF32_BIG = { 2, true }, { 2, false }, { 4, true }, { 4, false }
local BYTE_ORDER_MARKS = {
    ["\255\254"] = UTF16_LITTLE, ["\254\255"] = UTF16_BIG, ["\255\254\0\0"] = UTF32_LITTLE, ["\0\0\254\255"] = UTF32_BIG,
}
-- Servers disagree on the byte order where the name leaves it open.
local UTF16, UTF32 = { UTF16_LITTLE, UTF16_BIG }, { UTF32_LITTLE, UTF32_BIG }
local WIDE = {
    utf16 = UTF16, ucs2 = UTF16, iso10646ucs2 = UTF16, unicode = UTF16, csunicode = UTF16, unicodefffe = UTF16,
    utf16le = { UTF16_LITTLE }, utf16be = { UTF16_BIG }, xutf16lebom = { UTF16_LITTLE },
    utf32 = UTF32, ucs4 = UTF32, iso10646ucs4 = UTF32, csucs4 = UTF32, utf32le = { UTF32_LITTLE }, utf32be = { UTF32_BIG },
}
-- Charsets in which ASCII bytes are ASCII characters, and what faulty clients write in place of a name.
local ASCII_COMPATIBLE = {}
for name in ([[utf8 utf8mb4 cesu8 unicode11utf8 usascii ascii ansi ansix341968 iso646us cp819 ibm819 macintosh xmacroman
    xmaccyrillic big5 big5hkscs cnbig5 csbig5 xxbig5 cp950 ms950 gbk xgbk gb2312 csgb2312 gb231280 gb18030 euccn cp936 ms936
    windows936 eucjp xeucjp euckr euctw ksc5601 ksc56011987 uhc cp949 ms949 windows949 shiftjis xsjis sjis mskanji csshiftjis
    cp932 ms932 windows31j koi8 koi8r koi8u tis620 cp874 windows874 cp437 cp850 cp852 cp855 cp866 ibm437 ibm850 ibm852 ibm855
    ibm866 xuserdefined binary none null undefined default]]):gmatch("%S+") do
    ASCII_COMPATIBLE[name] = true
end

-- Names are compared without case and punctuation.
local function plain(name)
    return (gsub(lower(name), "[^%w*]", ""))
end

local function is_ascii_compatible(name)
    return ASCII_COMPATIBLE[name] or find(name, "^iso8859%d+[ei]?$") or find(name, "^latin%d+$") or find(name, "^windows125%d$")
        or find(name, "^x?cp125%d$")
end

-- Whether it is the name of a charset in which ASCII bytes are ASCII characters.
function _M.is_ascii_compatible(name)
    return is_ascii_compatible(plain(name)) ~= nil
end

-- Whether texts of this charset are inspected.
function _M.is_known(name)
    name = plain(name)
    return name == "" or WIDE[name] ~= nil or is_ascii_compatible(name) ~= nil
end

-- All charsets of a header, also those within other parameters, where Tomcat finds them. `charset*` counts as unknown.
local function names_of(header)
    local names = {}
    for extension, name in gmatch(lower(header), "charset(%*?%d*%*?)%s*=%s*[\"']?([^\"';,%s]*)") do
        names[#names + 1] = extension == "" and name or "*"
    end
    return names
end

-- By the NULs of the first characters, as readers of JSON and XML do.
local function guessed(s)
    local a, b, c, d = byte(s, 1, 4)
    if a == 0 then
        return b == 0 and UTF32_BIG or UTF16_BIG
    elseif b == 0 then
        return c == 0 and d == 0 and UTF32_LITTLE or UTF16_LITTLE
    end
end

-- The first character of a text that begins like JSON or XML, or nil.
function _M.document_start(s)
    return match(s, '^%s*([{%["<])')
end

-- Calls `read` with each text in UTF-8 that servers may read instead of the bytes: none for ordinary bodies, at most
-- four. Each is decoded after the one before was read. Reports a declared charset that is not known.
function _M.read_wide_texts(report, header, s, read)
    local encodings = {}
    for _, name in ipairs(names_of(header)) do
        if not _M.is_known(name) then
            report("protocol-unknown-charset")
        end
        for _, encoding in ipairs(WIDE[plain(name)] or {}) do
            encodings[encoding] = true
        end
    end
    for mark, encoding in pairs(BYTE_ORDER_MARKS) do
        if sub(s, 1, #mark) == mark then
            encodings[encoding] = true
        end
    end
    for encoding in pairs(encodings) do
        read((gsub(decode.wide(s, encoding[1], encoding[2]), "^\239\187\191", "")))
    end
    local guess = guessed(s)
    if guess and not encodings[guess] then
        local text = decode.wide(s, guess[1], guess[2])
        if _M.document_start(text) then
            read(text)
        end
    end
end
return _M
