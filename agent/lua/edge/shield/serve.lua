-- Relay: answers the zone's edge nodes from its cache, or asks the origin once for all of them. Clients need the zone's
-- certificate.
local answer = require("edge.cache.answer")
local docs = require("edge.core.docs")
local documents = require("edge.shield.documents")
local lookup = require("edge.cache.lookup")
local requests = require("edge.core.request")
local var, header, start_time = ngx.var, ngx.header, ngx.req.start_time
local match, tonumber = string.match, tonumber

local _M = {}
-- Edge nodes then ask the origin.
local ASK_YOURSELF = 597

local function moment(age, asked)
    age = tonumber(age)
    return age and asked - age
end

-- Returns a status to refuse, or the next location.
function _M.access()
    if var.ssl_client_verify ~= "SUCCESS" then
        return 903
    end
    local request = requests.relayed()
    if not request or documents.of(request) ~= var.http_x_e_documents then
        return ASK_YOURSELF
    end
    local site = request.site.doc
    var.e_site, var.e_domain = site.id, request.host.doc.domainID
    local place = lookup.access(site, request)
    local hard, soft = match(var.http_x_e_fresh or "", "^([%d-]+),([%d-]+)$")
    if not hard or place == "@pass" then
        return place
    end
    local asked = start_time() * 1000
    return lookup.refresh(site, request, moment(hard, asked), moment(soft, asked), place)
end

function _M.header_filter()
    if var.e_site ~= "" then
        answer.header_filter()
        header["X-E-Relay"], header["Cache-Tag"] = answer.for_edge()
    end
end
return _M
