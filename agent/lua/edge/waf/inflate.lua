-- Unpacks gzip and deflate with the system's zlib. Output and memory are bounded, whatever the ratio.
local ffi = require("ffi")
local charset = require("edge.waf.charset")
local byte, find, gmatch, lower, match, sub = string.byte, string.find, string.gmatch, string.lower, string.match, string.sub
local concat, ipairs, pcall, tonumber, type = table.concat, ipairs, pcall, tonumber, type

local _M = {}
ffi.cdef [[
typedef struct {
    const uint8_t *next_in; unsigned int avail_in; unsigned long total_in;
    uint8_t *next_out; unsigned int avail_out; unsigned long total_out;
    const char *msg; void *state; void *zalloc; void *zfree; void *opaque;
    int data_type; unsigned long adler; unsigned long reserved;
} edgeloom_zlib_stream;
const char *zlibVersion(void);
int inflateInit2_(edgeloom_zlib_stream *stream, int window_bits, const char *version, int stream_size);
int inflate(edgeloom_zlib_stream *stream, int flush);
int inflateReset(edgeloom_zlib_stream *stream);
int inflateEnd(edgeloom_zlib_stream *stream);
]]
local OK, STREAM_END, BUF_ERROR = 0, 1, -5
-- Formats by zlib's window bits.
local GZIP, ZLIB, RAW = 31, 15, -15
local stream = ffi.new("edgeloom_zlib_stream")

-- A machine may lack the library, or the name that only development packages have.
local function load_library()
    for _, name in ipairs({ "z", "libz.so.1" }) do
        local is_loaded, library = pcall(ffi.load, name)
        if is_loaded then
            return library
        end
    end
end
local zlib = load_library()

-- Whether the gzip header has at most a file name of harmless characters. An origin that ignores the encoding reads the
-- fields of the header as text.
local function has_plain_header(packed, from)
    local flags = byte(packed, from + 3) or 0
    if flags == 8 then
        local name = sub(packed, from + 10, from + 265)
        local to = find(name, "\0", 1, true)
        return to ~= nil and not find(sub(name, 1, to - 1), "[^%w%._ ()/\\\128-\255%-]")
    end
    return flags <= 1
end

-- The position of the next member of a gzip text, or nil. A log that was appended to has several.
local function next_member(packed, format, code)
    return format == GZIP and code == STREAM_END and stream.avail_in > 0 and #packed - stream.avail_in + 1 or nil
end

-- Runs zlib over all members. Returns its last result.
local function run(packed, format)
    local at, code = 1, nil
    while at do
        if format == GZIP and not has_plain_header(packed, at) then
            return nil
        end
        code = zlib.inflate(stream, 0)
        at = stream.avail_out > 0 and next_member(packed, format, code)
        if at and zlib.inflateReset(stream) ~= OK then
            return nil
        end
    end
    return code
end

-- `has_more`: the packed text is only the start.
local function unpack_as(format, packed, limit, has_more)
    ffi.fill(stream, ffi.sizeof(stream))
    if zlib.inflateInit2_(stream, format, zlib.zlibVersion(), ffi.sizeof(stream)) ~= OK then
        return nil
    end
    local buffer = ffi.new("uint8_t[?]", limit + 1)
    stream.next_in, stream.avail_in, stream.next_out, stream.avail_out = packed, #packed, buffer, limit + 1
    local code = run(packed, format)
    local size, is_consumed = limit + 1 - stream.avail_out, stream.avail_in == 0
    zlib.inflateEnd(stream)
    if code and size > limit then
        return ffi.string(buffer, limit), true
    end
    if code == STREAM_END and is_consumed then
        return ffi.string(buffer, size), has_more
    end
    if has_more and (code == OK or code == BUF_ERROR) then
        return ffi.string(buffer, size), true
    end
end

-- Servers disagree on `deflate`: most read zlib's format, some the raw one. Data that is valid in both formats has
-- two meanings, so it is refused.
local function unpack_deflate(packed, limit, has_more)
    local text, is_longer = unpack_as(ZLIB, packed, limit, has_more)
    local bare, is_bare_longer = unpack_as(RAW, packed, limit, has_more)
    if text and bare then
        return nil
    end
    return text or bare, is_longer or is_bare_longer
end

-- Names that compress nothing. RFC 9110 has the first, and clients of S3 send the second. Faulty clients send the
-- others and names of charsets, and origins ignore them.
local NOT_COMPRESSED = {}
for name in ("identity aws-chunked amz-1.0 7bit 8bit base64 chunked"):gmatch("%S+") do
    NOT_COMPRESSED[name] = true
end

-- A frame begins with its size and perhaps a signature.
local MAX_FRAME_LINE = 128

-- The data of the frames of S3's clients. nil if they are broken, or have anything else. Some clients only name the
-- encoding, so a body may have no frames. `has_more`: the last frames are missing.
local function without_frames(s, has_more)
    if not find(s, "^%x+[;\r]") then
        return s
    end
    local pieces, at = {}, 1
    while at <= #s do
        local size, data = match(s, "^(%x+)\r\n()", at)
        if not size then
            size, data = match(s, "^(%x+);chunk%-signature=%x+\r\n()", at)
        end
        size = size and tonumber(size, 16)
        if size == 0 then
            return find(s, "^[%w:+/=\r\n-]*$", data) and concat(pieces) or nil
        elseif not size then
            break
        end
        pieces[#pieces + 1] = sub(s, data, data + size - 1)
        at = data + size + 2
        if at <= #s and sub(s, at - 2, at - 1) ~= "\r\n" then
            return nil
        end
    end
    return has_more and #s - at < MAX_FRAME_LINE and concat(pieces) or nil
end

-- The only encoding of the header, "identity" for none, and nil for several. Also whether the header names frames. They
-- are around the other encoding.
local function encoding_of(header)
    local names = lower(type(header) == "table" and concat(header, ",") or header or "")
    local found = "identity"
    for name in gmatch(names, "[^,%s]+") do
        if not NOT_COMPRESSED[name] and not charset.is_ascii_compatible(name) then
            if found ~= "identity" then
                return nil
            end
            found = name
        end
    end
    return found, find(names, "aws-chunked", 1, true) ~= nil
end

-- The first `limit` bytes of a body by its Content-Encoding, and whether there are more. nil for what cannot be
-- unpacked. `has_more`: the body is longer than `packed`.
function _M.unpack(packed, header, limit, has_more)
    local encoding, has_frames = encoding_of(header)
    if has_frames and encoding ~= "identity" then
        packed = without_frames(packed, has_more)
    end
    if packed == "" or encoding == "identity" then
        return packed, has_more
    end
    if not zlib or not packed then
        return nil
    end
    if encoding == "gzip" or encoding == "x-gzip" then
        return unpack_as(GZIP, packed, limit, has_more)
    end
    if encoding == "deflate" then
        return unpack_deflate(packed, limit, has_more)
    end
end
return _M
