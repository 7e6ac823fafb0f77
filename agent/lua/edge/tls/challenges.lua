-- What a certificate authority asks of a name, while somebody of this site orders a certificate for it. A token of
-- another name, or of a site that does not serve the name, is none of ours: then the origin is asked.
local docs = require("edge.core.docs")
local match, sub = string.match, string.sub

local _M = {}
local FOLDER = "/.well-known/acme-challenge/"

-- Is the path one that an authority asks for?
function _M.is_asked(path)
    return sub(path, 1, #FOLDER) == FOLDER
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
