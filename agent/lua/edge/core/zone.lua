-- The zone's document for this node, or the trial document when this node takes part in a rollout.
local docs = require("edge.core.docs")
local settings = require("edge.core.settings")
local ipairs = ipairs

local _M = {}

local function tried(trial)
    if trial.mine == nil then
        trial.mine = false
        for _, id in ipairs(trial.doc.nodes) do
            if id == settings.node then
                trial.mine = { doc = trial.doc.zone }
            end
        end
    end
    return trial.mine or nil
end

-- { doc }, or nil when there is none.
function _M.get()
    local trial = settings.node and docs.get("trial")
    return trial and tried(trial) or docs.get("zone")
end
return _M
