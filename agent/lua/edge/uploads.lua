-- HTTP/2 uploads that nginx reads into a file before it asks the origin. A streamed upload has a window of 512 kB, and
-- its visitor waits for a round trip each time it is full. HTTP/1.1 has no such window.
local read_body = ngx.req.read_body
local tonumber, var = tonumber, ngx.var

local _M = {}
-- Smaller bodies fit into the window (http2_body_preread_size). Larger ones would need too much of the disk.
local WINDOW_BYTES, MOST_BYTES = 512 * 1024, 64 * 1024 * 1024

-- Waits for the body. One of unknown length is streamed, since its sender may wait for the beginning of the response.
function _M.read(request)
    if not request.odd or var.server_protocol ~= "HTTP/2.0" then
        return
    end
    local size = tonumber(var.http_content_length)
    if size and size > WINDOW_BYTES and size <= MOST_BYTES then
        read_body()
    end
end
return _M
