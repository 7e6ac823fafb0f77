-- ACME http-01 challenges of names that this site serves. Unknown tokens and those of other names go to the origin.
local docs = require("edge.core.docs")
local match, sub = string.match, string.sub

local _M = {}
local FOLDER = "/.well-known/acme-challenge/"

-- Whether the path is one of http-01.
function _M.is_asked(request)
    return sub(request.path, 1, #FOLDER) == FOLDER
end

function _M.answer(request)
    local token = match(sub(request.path, #FOLDER + 1), "^[%w_-]+$")
    local entry = token and #token >= 16 and #token <= 128 and docs.get("acme/" .. token)
    local doc = entry and entry.doc
    if doc and doc.name == request.name and doc.siteID == request.site.doc.id then
        return doc.keyAuthorization
    end
end
return _M
