-- The anti-CC rules of a site: the first one that matches a request applies.
local memo = require("edge.core.memo")
local patterns = require("edge.core.patterns")
local path_variants = require("edge.core.path_variants")
local set = require("edge.core.set")
local white = require("edge.core.white")
local gsub, ipairs, lower, time, var = string.gsub, ipairs, string.lower, ngx.time, ngx.var

local _M = {}
local EXEMPT = 0
-- Files of a page: ten requests for them count as one.
local PARTS = set({
    "css", "js", "mjs", "map", "wasm", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff", "woff2", "ttf", "otf",
    "mp3", "mp4", "webm", "m3u8", "ts", "m4s", "pdf", "zip",
})
local NO_PREFIXES = {}

local prepared = memo(function(rule)
    return {
        id = rule.id,
        is_exempt = rule.mode == EXEMPT,
        pattern = rule.urlRegex ~= "" and rule.urlRegex or nil,
        header = rule.header ~= "" and "http_" .. gsub(lower(rule.header), "-", "_") or nil,
        value = rule.headerValue ~= "" and rule.headerValue or nil,
        ends = rule.ends,
        watches = rule.monitor,
        mode = rule.mode,
        level = rule.difficulty,
        requests = rule.frequency,
        seconds = rule.seconds,
        rate = rule.siteRate,
        can_raise = rule.siteRate > 0 or rule.errorPercent > 0 or rule.originMs > 0,
        minutes = rule.raiseMinutes,
        pass_seconds = rule.passSeconds,
        parts = PARTS,
        prefixes = NO_PREFIXES,
    }
end)

-- A pattern that reaches the match limit counts as a match, unless it exempts.
local function is_about(request, rule)
    if not rule.pattern then
        return true
    end
    local from, err = patterns.find(request.path, rule.pattern, rule.id)
    return from ~= nil or err ~= nil and not rule.is_exempt
end

-- Depends on the path only, so it is cached with the request.
local function about(site, request)
    local cached = request.anti_cc_rules
    if not cached or cached.of ~= site.antiCCs then
        cached = { of = site.antiCCs }
        for _, doc in ipairs(site.antiCCs) do
            local rule = prepared(doc)
            local judge = rule.is_exempt and path_variants.all or path_variants.any
            if judge(request, is_about, rule) then
                cached[#cached + 1] = rule
            end
        end
        request.anti_cc_rules = cached
    end
    return cached
end

local function has_header(rule)
    local value = rule.header and var[rule.header]
    return not rule.header or value ~= nil and (not rule.value or value == rule.value)
end

-- The rule for this request. nil: none, or one that exempts it.
function _M.find(site, request)
    -- Validations of certificates cannot solve challenges.
    if request.challenged or white.has(site) then
        return nil
    end
    for _, rule in ipairs(about(site, request)) do
        if has_header(rule) and not (rule.ends and rule.ends <= time()) then
            return not rule.is_exempt and rule or nil
        end
    end
end

local watching = memo(function(rules)
    local list = {}
    for _, rule in ipairs(rules) do
        if rule.errorPercent > 0 or rule.originMs > 0 then
            list[#list + 1] = { id = rule.id, errors = rule.errorPercent, slow = rule.originMs, minutes = rule.raiseMinutes }
        end
    end
    return list[1] and list or false
end)

-- The rules that responses of the origin may raise. nil: none.
function _M.watching(site)
    return site.antiCCs and watching(site.antiCCs) or nil
end
return _M
