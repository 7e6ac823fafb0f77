-- Where an address is, by the geo pack (format: packages/contract/src/edge/geo-pack.ts). Binary search in place. A pack
-- with missing parts is not used: the last one stays.
--
-- place(address):   { country = "TW", continent = "AS", province = "TW-TPE" }, or nil
-- network(address): { asn = 3462, isp = "HiNet" }, or nil
--
-- Addresses as in nginx: 4 bytes, or 16 for IPv6. Unknown texts are "", an unknown asn is 0.
local cjson = require("cjson.safe")
local addresses = require("edge.core.addresses")
local counters = require("edge.core.counters")
local docs = require("edge.core.docs")
local files = require("edge.core.files")
local bit = require("bit")
local ffi = require("ffi")
local byte, concat, sub, rshift = string.byte, table.concat, string.sub, bit.rshift
local ipairs, time, type = ipairs, ngx.time, type
local plain = addresses.plain

local _M = {}
local KEY = "pack/geo"
local MAGIC = "EDGEGEO1"
local HEADER = 28
-- Reading all parts takes some 25 ms.
local RETRY_SECONDS = 2

-- Keeps the memory alive that the pointers refer to.
local text
local version, seen
local places, networks
local place4, place6, network4, network6

local function names(rows, fields)
    local list = {}
    for i, row in ipairs(rows) do
        local made = {}
        for at, field in ipairs(fields) do
            made[field] = row[at]
        end
        list[i - 1] = made
    end
    -- The first one is unknown.
    list[0] = nil
    return list
end

local function use(pack)
    if #pack < HEADER or sub(pack, 1, 8) ~= MAGIC then
        return nil, "it is no geo pack"
    end
    local header = ffi.cast("const uint32_t *", pack)
    local n4, n6, m4, m6, size = header[2], header[3], header[4], header[5], header[6]
    local narrow = HEADER + 4 * (n4 + 2 * n6 + 2 * m4 + 3 * m6)
    if #pack ~= narrow + 2 * (n4 + n6) + size then
        return nil, "it is torn"
    end
    local table_of = cjson.decode(sub(pack, #pack - size + 1))
    if type(table_of) ~= "table" then
        return nil, "its table is no JSON"
    end
    local at = header + HEADER / 4
    local index = ffi.cast("const uint16_t *", ffi.cast("const uint8_t *", pack) + narrow)
    local of_networks = at + n4 + 2 * n6 + m4 + 2 * m6
    place4 = { n = n4, high = at, index = index }
    place6 = { n = n6, high = at + n4, low = at + n4 + n6, index = index + n4 }
    at = at + n4 + 2 * n6
    network4 = { n = m4, high = at, index = of_networks }
    network6 = { n = m6, high = at + m4, low = at + m4 + m6, index = of_networks + m4 }
    places = names(table_of.places, { "country", "continent", "province" })
    networks = names(table_of.networks, { "asn", "isp" })
    text = pack
    return true
end

-- Parts are read from disk, since a copy in shared memory would be used once per worker.
local function assemble(doc)
    local parts = {}
    for i = 1, doc.parts do
        local body = files.read(KEY .. "." .. i - 1)
        local part = body and cjson.decode(body)
        if not part or part.version ~= doc.version then
            return nil, "part " .. i .. " is not here"
        end
        parts[i] = ngx.decode_base64(part.data)
    end
    return concat(parts)
end

local failing, retry_at

local function refresh()
    local news = docs.news
    local entry = docs.get(KEY)
    if not entry then
        text, version, places, networks = nil, nil, nil, nil
        seen = news
        return
    end
    local doc = entry.doc
    if doc.version == version then
        seen = news
        return
    end
    if doc.version == failing and time() < retry_at then
        return
    end
    local pack, err = assemble(doc)
    local ok
    if pack then
        ok, err = use(pack)
    end
    if ok then
        version, seen = doc.version, news
    else
        failing, retry_at = doc.version, time() + RETRY_SECONDS
        counters.count("docCorrupt")
        ngx.log(ngx.ERR, "the geo pack is not used: ", err)
    end
end

local function find4(ranges, a, b, c, d)
    local address = ((a * 256 + b) * 256 + c) * 256 + d
    local high, index = ranges.high, ranges.index
    local from, to = 0, ranges.n
    while from < to do
        local middle = rshift(from + to, 1)
        if high[middle] <= address then
            from = middle + 1
        else
            to = middle
        end
    end
    return from > 0 and index[from - 1] or 0
end

-- The upper half as two numbers, since one double cannot hold it.
local function find6(ranges, address)
    local a, b, c, d, e, f, g, h = byte(address, 1, 8)
    local upper, lower = ((a * 256 + b) * 256 + c) * 256 + d, ((e * 256 + f) * 256 + g) * 256 + h
    local high, low, index = ranges.high, ranges.low, ranges.index
    local from, to = 0, ranges.n
    while from < to do
        local middle = rshift(from + to, 1)
        local begins = high[middle]
        if begins < upper or begins == upper and low[middle] <= lower then
            from = middle + 1
        else
            to = middle
        end
    end
    return from > 0 and index[from - 1] or 0
end

local function find(four, six, address)
    address = plain(address)
    if #address == 4 then
        return find4(four, byte(address, 1, 4))
    end
    return find6(six, address)
end

function _M.place(address)
    if seen ~= docs.news then
        refresh()
    end
    return text and places[find(place4, place6, address)] or nil
end

function _M.network(address)
    if seen ~= docs.news then
        refresh()
    end
    return text and networks[find(network4, network6, address)] or nil
end

-- The version of the pack in use. nil: there is none.
function _M.version()
    if seen ~= docs.news then
        refresh()
    end
    return version
end
return _M
