-- Parts of a path as the visitor wrote them. nginx's path is decoded, with slashes merged and dot segments resolved, so
-- %2F and / or %2B and + can no longer be distinguished.
local byte, char, find, format, gsub, match, sub = string.byte, string.char, string.find, string.format, string.gsub,
    string.match, string.sub
local concat, tonumber = table.concat, tonumber

local _M = {}
-- What a Location value or a request line cannot contain within a path. Browsers read \ as /.
local UNSAFE = "[^%w%-._~/!$&'()*+,;=:@%[%]|]"

local function encoded(one)
    return format("%%%02X", byte(one))
end

-- Decoded text as a part of a path.
function _M.escape(text)
    return (gsub(text, UNSAFE, encoded))
end

function _M.unescape(text)
    return (gsub(text, "%%(%x%x)", function(code)
        return char(tonumber(code, 16))
    end))
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

-- By character of the decoded path, its spelling, after slashes that nginx merged with the one before.
local function aligned(text)
    local chars, spelled, size, merged = { "/" }, { "/" }, 1, ""
    local slashes, count, at = { 1 }, 1, 2
    while at <= #text do
        local one = sub(text, at, at)
        local code = one == "%" and match(text, "^%x%x", at + 1)
        local written = code and "%" .. code or _M.escape(one)
        one = code and char(tonumber(code, 16)) or one
        at = at + (code and 3 or 1)
        if one == "/" and size == slashes[count] then
            merged = merged .. written
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
                chars[size], spelled[size], merged = one, merged .. written, ""
                if one == "/" then
                    count = count + 1
                    slashes[count] = size
                end
            end
        end
    end
    local whole = size
    size = ended(chars, size, slashes, count)
    return size and {
        path = concat(chars, "", 1, size), spelled = spelled, behind = size == whole and merged or "",
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

-- Another reading of the request line (readings.lua), or a path that nginx did not take from there: encoded.
local function plain(path)
    local spelled = {}
    for i = 1, #path do
        spelled[i] = _M.escape(sub(path, i, i))
    end
    return { path = path, spelled = spelled, behind = "" }
end

-- A path, with its spelling if it is nginx's path of the request line.
function _M.of(uri, path)
    local read = _M.read(uri)
    return read and read.path == path and read or plain(path)
end

-- The spelling of sub(path, from, to).
function _M.part(read, from, to)
    if not read.spelled then
        return sub(read.path, from, to)
    end
    local text = concat(read.spelled, "", from, to)
    return to == #read.path and text .. read.behind or text
end

-- The spelling from a slash to the end. It follows a target, of which it must not become a part.
function _M.rest(read, from)
    return (gsub(_M.part(read, from, #read.path), "^%%2[fF]", "/"))
end
return _M
