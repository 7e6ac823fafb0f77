-- HTTP/2 uploads that nginx reads into a file before it asks the origin. A streamed upload has a window of 512 kB, and
-- its visitor waits for a round trip each time it is full. HTTP/1.1 has no such window.
local disk = require("edge.cache.disk")
local read_body, worker_count = ngx.req.read_body, ngx.worker.count
local pairs, setmetatable, tonumber, var = pairs, setmetatable, tonumber, ngx.var

local _M = {}
-- Smaller bodies fit into the window (http2_body_preread_size). Larger ones would need too much of the disk.
local WINDOW_BYTES, MOST_BYTES = 512 * 1024, 64 * 1024 * 1024
-- Sizes of the bodies that this worker reads, by the context of their request. Aborted requests are collected.
local reading = setmetatable({}, { __mode = "k" })

-- Whether the disk has room for this body and all that are being read, also if each worker reads as many.
local function has_room_for(size)
    local total = 0
    for _, bytes in pairs(reading) do
        total = total + bytes
    end
    return disk.has_room_for(size + total * worker_count())
end

-- Waits for the body. One of unknown length is streamed, since its sender may wait for the beginning of the response.
function _M.read(request)
    if not request.odd or var.server_protocol ~= "HTTP/2.0" then
        return
    end
    local size = tonumber(var.http_content_length)
    if size and size > WINDOW_BYTES and size <= MOST_BYTES and has_room_for(size) then
        local key = ngx.ctx
        reading[key] = size
        read_body()
        reading[key] = nil
    end
end
return _M
