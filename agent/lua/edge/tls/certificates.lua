-- The certificate for the visitor's SNI. Without one the default certificate of the tree stays, so that the handshake
-- succeeds.
local ssl = require("ngx.ssl")
local counters = require("edge.core.counters")
local docs = require("edge.core.docs")
local requests = require("edge.core.request")
local staples = require("edge.tls.staples")
local unseal = require("edge.tls.unseal")
local lrucache = require("resty.lrucache")
local ipairs, lower = ipairs, string.lower

local _M = {}
-- Parsed certificates per worker, about 17 kB each. Parsing one costs as much as five handshakes.
local MAX_PARSED = 12000
local cache = lrucache.new(MAX_PARSED)

local function parse(key, doc)
    local pairs_of = {}
    for i, pair in ipairs(doc.pairs) do
        local pem = assert(unseal.open(pair.key, key))
        pairs_of[i] = {
            chain = assert(ssl.parse_pem_cert(pair.chainPem)),
            key = assert(ssl.parse_pem_priv_key(pem)),
            staple_key = staples.key_of(pair.chainPem),
        }
    end
    return pairs_of
end

-- Parsed once per worker and document.
local function parsed(entry)
    if entry.parsed == nil then
        local ok, made = pcall(parse, entry.key, entry.doc)
        entry.parsed = ok and made
        if not ok then
            counters.count("certFailed")
            ngx.log(ngx.ERR, entry.key, ": ", made)
        end
    end
    return entry.parsed
end

-- A worker that a reload replaces does not have a new zone key, but completes its handshakes while documents sealed by
-- that key arrive.
local function last_good(known, key)
    return known and known.cert and known.cert.key == key and known.pairs
end

local function is_current(known)
    return not known.host.stale and not (known.cert and known.cert.stale)
        and (not known.epoch or known.epoch == docs.epoch)
end

-- The documents of a name: { host, cert, pairs }. `pairs` only with a usable certificate.
function _M.of(name)
    local known = cache:get(name)
    if known and is_current(known) then
        return known
    end
    local host = requests.host(name)
    if not host then
        return nil
    end
    local cert = host.doc.certID and docs.get("cert/" .. host.doc.certID)
    known = {
        host = host,
        cert = cert,
        pairs = cert and (parsed(cert) or last_good(known, cert.key)) or nil,
        -- The wildcard's result is valid until a document of the exact name appears.
        epoch = host.doc.name ~= name and docs.epoch or nil,
    }
    if known.pairs and not host.suspect and not cert.suspect then
        cache:set(name, known)
    end
    return known
end

local function show(pair)
    assert(ssl.set_cert(pair.chain))
    assert(ssl.set_priv_key(pair.key))
end

function _M.choose()
    local name = ssl.server_name()
    if not name then
        return
    end
    -- hello.lua has just checked for changes.
    local known = _M.of(lower(name))
    local list = known and known.pairs
    if not list then
        return
    end
    assert(ssl.clear_certs())
    local sure, answer = staples.choose(list)
    if answer then
        show(sure)
        return assert(staples.show(answer))
    end
    for _, pair in ipairs(list) do
        show(pair)
    end
end
return _M
