-- When no origin responded, the visitor gets our error page instead of nginx's. An origin's own error passes through.
local pages = require("edge.pages")
local find, header, var = string.find, ngx.header, ngx.var

local _M = {}

function _M.origin_header()
    -- The last attempt received no header.
    if ngx.status >= 502 and find(var.upstream_header_time or "", "%-$") then
        local page = pages.prepare(ngx.status, var.http_x_request_id or "")
        ngx.ctx.page = page
        header["X-E-CC"] = "no-store"
        header["Content-Length"] = #page
    end
end

function _M.origin_body()
    local page = ngx.ctx.page
    if page then
        ngx.arg[1], ngx.arg[2] = page, true
        ngx.ctx.page = ""
    end
end
return _M
