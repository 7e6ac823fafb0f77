-- Simulated requests in progress: the order, and the steps that each worker recorded. Entries expire within seconds.
local cjson = require("cjson.safe")
local dict = require("edge.core.dicts").simulated

local _M = {}
local SECONDS = 20

-- An order: scheme, port, answer (the origin's response), docs (replacing those on disk), or draft (the id of an order
-- that has them for many requests). nil and the reason when there is no room.
function _M.begin(id, order)
    return dict:safe_set("order|" .. id, cjson.encode(order), SECONDS)
end

local function read_order(id)
    local text = dict:get("order|" .. id)
    return text and cjson.decode(text)
end

local draft_id, draft_docs

local function forget_draft(_, id)
    if draft_id == id then
        draft_id, draft_docs = nil, nil
    end
end

-- Each worker decodes the documents of a draft once for all of its requests.
local function docs_of_draft(id)
    if draft_id ~= id then
        local draft = read_order(id)
        if not draft then
            return nil
        end
        draft_id, draft_docs = id, draft.docs
        ngx.timer.at(SECONDS, forget_draft, id)
    end
    return draft_docs
end

-- nil when its time, or that of its documents, has run out.
function _M.order(id)
    local order = read_order(id)
    if not order or not order.draft then
        return order
    end
    order.docs = docs_of_draft(order.draft)
    return order.docs and order
end

function _M.add(id, step)
    local name = "steps|" .. id
    if dict:rpush(name, cjson.encode(step)) == 1 then
        dict:expire(name, SECONDS)
    end
end

-- Returns and removes the steps.
function _M.finish(id)
    local list = {}
    local text = dict:lpop("steps|" .. id)
    while text do
        list[#list + 1] = cjson.decode(text)
        text = dict:lpop("steps|" .. id)
    end
    dict:delete("order|" .. id)
    -- An empty table would be encoded as an object.
    return list[1] and list
end
return _M
