-- Parts of a path as the visitor wrote them. nginx's path is decoded, with slashes merged and dot segments resolved, so
-- %2F and / or %2B and + can no longer be distinguished.
local char, find, format, gmatch, gsub, match, sub = string.char, string.find, string.format, string.gmatch, string.gsub,
    string.match, string.sub
local concat, tonumber = table.concat, tonumber

local _M = {}
-- Characters that must be encoded within the path of a Location value or a request line. Browsers read \ as /.
local UNSAFE = "[^%w%-._~/!$&'()*+,;=:@%[%]|]"

-- Characters by their two hexadecimal digits, and their encodings where they are unsafe.
local decoded, encoded = {}, {}
local DIGITS = "0123456789abcdefABCDEF"
for high in gmatch(DIGITS, ".") do
    for low in gmatch(DIGITS, ".") do
        local code = tonumber(high .. low, 16)
        decoded[high .. low] = char(code)
        encoded[char(code)] = find(char(code), UNSAFE) and format("%%%02X", code)
    end
end

_M.decoded = decoded

-- Decoded text as a part of a path.
function _M.escape(text)
    return (gsub(text, UNSAFE, encoded))
end

function _M.unescape(text)
    return (gsub(text, "%%(%x%x)", decoded))
end

-- Texts of documents are UTF-8. A path of another encoding is escaped there, behind a % that no other path begins with
-- (pathKey of the contract). The text with its bytes, or nil where it has no such path. A query keeps its escapes.
function _M.bytes(text)
    local host, path, query = match(text, "^([^/%%]*)%%(/[^?]*)(.*)$")
    return host and host .. _M.unescape(path) .. query
end

-- Ends a segment as nginx does: the number of characters that stay, and of slashes. nil above the root.
local function ended(chars, size, slashes, count)
    local segment = size - slashes[count] <= 2 and concat(chars, "", slashes[count] + 1, size)
    if segment == "." then
        return slashes[count], count
    end
    if segment == ".." then
        return slashes[count - 1], count - 1
    end
    return size, count
end

-- The character at a position, its spelling, and the next position.
local function read_one(text, at)
    local one = sub(text, at, at)
    local escaped = one == "%" and decoded[sub(text, at + 1, at + 2)]
    if escaped then
        return escaped, sub(text, at, at + 2), at + 3
    end
    return one, encoded[one] or one, at + 1
end

-- The decoded path by character, and the spelling of each, after slashes that nginx merged with the one before:
-- `/a//%2Fb` has the characters / a / b and the spellings / a / /%2Fb. `merged`: where such slashes begin.
local function aligned(text)
    local chars, spelled, size, merged = { "/" }, { "/" }, 1, nil
    local slashes, count, at = { 1 }, 1, 2
    while at <= #text do
        local one, written, next_at = read_one(text, at)
        if one == "/" and size == slashes[count] then
            merged = merged or at
        else
            local before = size
            if one == "/" then
                size, count = ended(chars, size, slashes, count)
                if not size then
                    return nil
                end
            end
            if size == before then
                size = size + 1
                chars[size], spelled[size] = one, merged and sub(text, merged, at - 1) .. written or written
                merged = nil
                if one == "/" then
                    count = count + 1
                    slashes[count] = size
                end
            end
        end
        at = next_at
    end
    local whole = size
    size = ended(chars, size, slashes, count)
    return size and {
        path = concat(chars, "", 1, size), spelled = spelled, behind = size == whole and merged and sub(text, merged) or "",
    }
end

-- The path of a URL without host, decoded as nginx does, with its spelling. nil when it is no path.
function _M.read(uri)
    local text = match(uri, "^/[^?#]*")
    if text and not find(text, UNSAFE) and not find(text, "//", 1, true) and not find(text, "/.", 1, true) then
        return { path = text }
    end
    return text and aligned(text)
end

-- A request line. All variants of its path (path_variants.lua) share it, so that it is read once.
function _M.line(uri)
    return { uri = uri }
end

-- A path of this line. Its spelling is read when a rule needs it.
function _M.of(line, path)
    return { path = path, line = line }
end

local function read_line(line)
    if line.read == nil then
        line.read = _M.read(line.uri) or false
    end
    return line.read
end

-- The spelling of sub(path, from, to).
function _M.part(at, from, to)
    local read = at
    if at.line then
        read = read_line(at.line)
        -- A path variant, or a path that nginx did not take from the line.
        if not read or read.path ~= at.path then
            return _M.escape(sub(at.path, from, to))
        end
    end
    if not read.spelled then
        return sub(read.path, from, to)
    end
    local text = concat(read.spelled, "", from, to)
    return to == #read.path and text .. read.behind or text
end

-- The spelling from a slash to the end. It follows a target, of which it must not become a part.
function _M.rest(at, from)
    return (gsub(_M.part(at, from, #at.path), "^%%2[fF]", "/"))
end
return _M
