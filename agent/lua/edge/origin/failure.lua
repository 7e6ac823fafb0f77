-- When no origin answered at all, the visitor gets our page and not nginx's. What an origin said itself is passed on.
local pages = require("edge.pages")
local find, header, var = string.find, ngx.header, ngx.var

local _M = {}

function _M.origin_header()
    -- The last try never brought a header.
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
