-- Relay: serves the zone's edge nodes from its cache, with one origin request for all of them. Clients need the zone's
-- certificate.
local response_headers = require("edge.cache.response_headers")
local docs = require("edge.core.docs")
local documents = require("edge.shield.documents")
local lookup = require("edge.cache.lookup")
local requests = require("edge.core.request")
local var, header, start_time = ngx.var, ngx.header, ngx.req.start_time
local match, tonumber = string.match, tonumber

local _M = {}
-- Edge nodes then send the request to the origin.
local OTHER_DOCUMENTS = 597

local function time_of(age, arrived_at)
    age = tonumber(age)
    return age and arrived_at - age
end

-- Returns a status to refuse, or the next location.
function _M.access()
    if var.ssl_client_verify ~= "SUCCESS" then
        return 903
    end
    local request = requests.relayed()
    if not request or documents.of(request) ~= var.http_x_e_documents then
        return OTHER_DOCUMENTS
    end
    local site = request.site.doc
    var.e_site, var.e_domain = site.id, request.host.doc.domainID
    local place = lookup.access(site, request)
    local hard, soft = match(var.http_x_e_fresh or "", "^([%d-]+),([%d-]+)$")
    if not hard or place == "@pass" then
        return place
    end
    local arrived_at = start_time() * 1000
    return lookup.refresh(site, request, time_of(hard, arrived_at), time_of(soft, arrived_at), place)
end

function _M.header_filter()
    if var.e_site ~= "" then
        response_headers.header_filter()
        header["X-E-Relay"], header["Cache-Tag"] = response_headers.for_edge()
    end
end
return _M
