-- The certificate for the name that a visitor asks for. Without one the pair of the rendered tree stays: the visitor
-- sees a certificate of nobody rather than a broken handshake.
local ssl = require("ngx.ssl")
local counters = require("edge.core.counters")
local docs = require("edge.core.docs")
local requests = require("edge.core.request")
local unseal = require("edge.tls.unseal")
local ipairs, lower = ipairs, string.lower

local _M = {}

local function parse(key, doc)
    local pairs_of = {}
    for i, pair in ipairs(doc.pairs) do
        local pem = assert(unseal.open(pair.key, key))
        pairs_of[i] = {
            chain = assert(ssl.parse_pem_cert(pair.chainPem)),
            key = assert(ssl.parse_pem_priv_key(pem)),
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

function _M.choose()
    local name = ssl.server_name()
    if not name then
        return
    end
    docs.sync()
    local host = requests.host(lower(name))
    local entry = host and host.doc.certID and docs.get("cert/" .. host.doc.certID)
    local list = entry and parsed(entry)
    if not list then
        return
    end
    assert(ssl.clear_certs())
    for _, pair in ipairs(list) do
        assert(ssl.set_cert(pair.chain))
        assert(ssl.set_priv_key(pair.key))
    end
end
return _M
