-- The certificate for the name that a visitor asks for. Without one the pair of the rendered tree stays: the visitor
-- sees a certificate of nobody rather than a broken handshake.
local ssl = require("ngx.ssl")
local counters = require("edge.core.counters")
local docs = require("edge.core.docs")
local requests = require("edge.core.request")
local staples = require("edge.tls.staples")
local unseal = require("edge.tls.unseal")
local lrucache = require("resty.lrucache")
local ipairs, lower = ipairs, string.lower

local _M = {}
-- Names whose certificates stay parsed: parsing costs three handshakes.
local KEPT = 12000
local kept = lrucache.new(KEPT)

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

-- Parsed once a worker, as long as the document stays the same.
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

-- Of a name, by documents that have not changed since.
function _M.pairs_for(name)
    local known = kept:get(name)
    if known and not known.host.stale and not known.cert.stale and (not known.epoch or known.epoch == docs.epoch) then
        return known.list
    end
    local host = requests.host(name)
    local cert = host and host.doc.certID and docs.get("cert/" .. host.doc.certID)
    local list = cert and parsed(cert)
    if list and not host.suspect and not cert.suspect then
        -- An exact name may come to be: then the wildcard's answer no longer holds.
        local epoch = host.doc.name ~= name and docs.epoch or nil
        kept:set(name, { host = host, cert = cert, list = list, epoch = epoch })
    end
    return list
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
    docs.sync()
    local list = _M.pairs_for(lower(name))
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
