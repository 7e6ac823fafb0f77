-- Opens secrets that the control plane sealed for the zone: AES-256-GCM by nginx's crypto library.
local ffi = require("ffi")
local C = ffi.C

ffi.cdef([[
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void);
void EVP_CIPHER_CTX_free(EVP_CIPHER_CTX *ctx);
int EVP_CIPHER_CTX_ctrl(EVP_CIPHER_CTX *ctx, int type, int arg, void *ptr);
const EVP_CIPHER *EVP_aes_256_gcm(void);
int EVP_DecryptInit_ex(EVP_CIPHER_CTX *ctx, const EVP_CIPHER *type, void *impl, const unsigned char *key,
    const unsigned char *iv);
int EVP_DecryptUpdate(EVP_CIPHER_CTX *ctx, unsigned char *out, int *outl, const unsigned char *in, int inl);
int EVP_DecryptFinal_ex(EVP_CIPHER_CTX *ctx, unsigned char *out, int *outl);
]])

local _M = {}
local SET_IV_LENGTH, SET_TAG = 0x9, 0x11
local FIRST = "first"
-- 32 bytes each, the current one first, and by id.
local keys, by_id = {}, {}

local function add(id, text)
    local key = ngx.decode_base64(text)
    if key and #key == 32 then
        keys[#keys + 1] = key
        by_id[id] = key
    end
end

-- Only the master may read the files (see agent/src/store/zone-keys.ts). Workers inherit the keys.
function _M.read_keys(dir)
    keys, by_id = {}, {}
    local file = io.open(dir .. "/zone.keys", "rb")
    if not file then
        return
    end
    for id, text in file:read("*a"):gmatch("(%S+) (%S+)") do
        add(id, text)
    end
    file:close()
end

function _M.keys()
    return keys
end

-- `bound_to`: the key of the document that contains the secret. Elsewhere it does not open.
function _M.open(sealed, bound_to)
    local iv, data, tag = ngx.decode_base64(sealed.iv), ngx.decode_base64(sealed.data), ngx.decode_base64(sealed.tag)
    -- The key may be known under another id. The tag shows whether it fits.
    local zone_key = by_id[sealed.keyID or FIRST] or keys[1]
    if not zone_key then
        return nil, "no zone key"
    end
    if not iv or not data or not tag or #tag ~= 16 then
        return nil, "not sealed text"
    end
    local ctx = ffi.gc(C.EVP_CIPHER_CTX_new(), C.EVP_CIPHER_CTX_free)
    local out, length = ffi.new("unsigned char[?]", #data + 16), ffi.new("int[1]")
    local tag_bytes = ffi.new("unsigned char[16]")
    ffi.copy(tag_bytes, tag, 16)
    local opened = C.EVP_DecryptInit_ex(ctx, C.EVP_aes_256_gcm(), nil, nil, nil) == 1
        and C.EVP_CIPHER_CTX_ctrl(ctx, SET_IV_LENGTH, #iv, nil) == 1
        and C.EVP_DecryptInit_ex(ctx, nil, nil, zone_key, iv) == 1
        and C.EVP_DecryptUpdate(ctx, nil, length, bound_to, #bound_to) == 1
        and C.EVP_DecryptUpdate(ctx, out, length, data, #data) == 1
    local bytes = length[0]
    opened = opened and C.EVP_CIPHER_CTX_ctrl(ctx, SET_TAG, 16, tag_bytes) == 1
        and C.EVP_DecryptFinal_ex(ctx, out + bytes, length) == 1
    if not opened then
        return nil, "wrong key or changed text"
    end
    return ffi.string(out, bytes)
end
return _M
