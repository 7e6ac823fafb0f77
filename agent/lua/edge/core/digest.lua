-- Digests by nginx's crypto library, and a constant-time comparison.
local ffi = require("ffi")
local C = ffi.C

ffi.cdef([[
typedef struct evp_md_st EVP_MD;
const EVP_MD *EVP_md5(void);
const EVP_MD *EVP_sha1(void);
const EVP_MD *EVP_sha256(void);
const EVP_MD *EVP_sha512(void);
int EVP_Digest(const void *data, size_t count, unsigned char *md, unsigned int *size, const EVP_MD *type, void *impl);
unsigned char *HMAC(const EVP_MD *type, const void *key, int key_len, const unsigned char *data, size_t count,
    unsigned char *md, unsigned int *size);
int CRYPTO_memcmp(const void *a, const void *b, size_t count);
]])

local _M = {}
local LONGEST = 64
local out, size = ffi.new("unsigned char[?]", LONGEST), ffi.new("unsigned int[1]")
local types = { md5 = C.EVP_md5, sha1 = C.EVP_sha1, sha256 = C.EVP_sha256, sha512 = C.EVP_sha512 }

-- Returns bytes. With a key, an HMAC. Throws when the library refuses the algorithm (MD5 under FIPS).
function _M.of(kind, text, key)
    local made
    if key then
        made = C.HMAC(types[kind](), key, #key, text, #text, out, size) ~= nil
    else
        made = C.EVP_Digest(text, #text, out, size, types[kind](), nil) == 1
    end
    return assert(made and ffi.string(out, size[0]), "no such digest")
end

function _M.equal(a, b)
    return #a == #b and C.CRYPTO_memcmp(a, b, #a) == 0
end
return _M
