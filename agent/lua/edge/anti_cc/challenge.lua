-- Challenges one visitor for one rule: accepts passes, judges answers, and asks.
local addresses = require("edge.core.addresses")
local counters = require("edge.core.counters")
local counts = require("edge.anti_cc.counts")
local page = require("edge.anti_cc.page")
local proofs = require("edge.anti_cc.proofs")
local find, gsub, match, sub = string.find, string.gsub, string.match, string.sub
local header, ngx, tonumber, unescape, var = ngx.header, ngx, tonumber, ngx.unescape_uri, ngx.var

local _M = {}
local CHALLENGE, SEE_OTHER = 978, 303
local REDIRECT_MODE = 4
local RETRY_SECONDS = "60"
-- Marks the target of a redirect, and is removed by a second redirect. Only a client without cookies returns it alone.
local MARK = "edgeloom_check="
-- The form of visitors without JavaScript.
local FIELD, LONGEST_FORM = "edgeloom_answer=", 200

local function identify(visitor)
    visitor.bearer = visitor.bearer or proofs.bearer(visitor.site)
end

-- The visitor of the present request. `pass`, `answer`: its cookies. A pass that was not signed for it is dropped.
function _M.visitor(site, pass, answer)
    local address = var.binary_remote_addr
    local visitor = { site = site.id, address = address, network = addresses.network(address), answer = answer }
    if pass then
        identify(visitor)
        visitor.pass = proofs.read_pass(pass, visitor)
    end
    return visitor
end

-- The visitor's pass, if it is enough for the rule at this address.
function _M.pass_of(visitor, rule)
    local pass = visitor.pass
    return pass and pass.is_here and proofs.holds(pass, rule) and pass or nil
end

-- The requested URL on this host only, whatever its path begins with, without our mark.
local function same_place()
    local uri, marks = gsub(var.request_uri, "([?&])" .. MARK .. "[^&]*&?", "%1")
    if marks > 0 then
        uri = gsub(uri, "[?&]$", "")
    end
    if sub(uri, 1, 1) ~= "/" then
        return "/"
    end
    local second = sub(uri, 2, 2)
    return (second == "/" or second == "\\") and "/." .. uri or uri
end

local function redirect_status()
    local method = ngx.req.get_method()
    return (method == "GET" or method == "HEAD") and 302 or 307
end

local function give(pass, visitor, rule)
    visitor.pass = pass
    var.e_pass = proofs.cookie(pass, visitor, rule.pass_seconds)
end

local function mark_of()
    local args = var.args
    return args and match(args, "^" .. MARK .. "([^&]*)") or args and match(args, "&" .. MARK .. "([^&]*)")
end

-- A visitor whose cookie came back returns to the URL without our mark.
function _M.unmark(visitor)
    local mark = mark_of()
    if mark and proofs.is_stamp(mark, visitor) then
        return redirect_status(), same_place()
    end
end

local function redirect(visitor, rule)
    local mark = mark_of()
    if mark and proofs.is_stamp(mark, visitor) then
        return CHALLENGE, page.needing_cookies()
    end
    give(proofs.redirect_pass(visitor), visitor, rule)
    local place = same_place()
    return redirect_status(), place .. (find(place, "?", 1, true) and "&" or "?") .. MARK .. proofs.stamp(visitor)
end

-- The answer in the form of a visitor without JavaScript. Waits for the request's body.
local function form_answer()
    local length = tonumber(var.http_content_length)
    if ngx.req.get_method() ~= "POST" or not length or length > LONGEST_FORM
        or var.http_content_type ~= "application/x-www-form-urlencoded" then
        return nil
    end
    ngx.req.read_body()
    local question, code = match(ngx.req.get_body_data() or "", "^" .. FIELD .. "([%w._-]+)&code=([^&]*)$")
    return question and question .. "~" .. gsub(unescape(code), "[^%w]", "") or nil
end

-- Whether the answer earns a pass, which the visitor gets. An answer used before does not count: it may be a copy.
local function accepts(answer, visitor, rule)
    local pass, id = proofs.judge(answer, rule, visitor)
    if not pass or not counts.is_new(id, proofs.ANSWER_SECONDS) then
        return false
    end
    counters.count("antiCCPassed")
    give(pass, visitor, rule)
    return true
end

-- Asks without judging an answer, as a simulation does.
function _M.question(visitor, rule, has_failed)
    identify(visitor)
    header["Retry-After"] = RETRY_SECONDS
    header["X-Robots-Tag"] = "noindex"
    local pass = visitor.pass
    local is_renewable = pass and not pass.is_here and pass.secret ~= proofs.NO_SECRET and proofs.holds(pass, rule)
    if rule.mode == REDIRECT_MODE and not is_renewable then
        return redirect(visitor, rule)
    end
    -- The answer that earned the pass stays in the browser for a while, and has not failed.
    if is_renewable and visitor.answer and not proofs.is_renewal(visitor.answer) then
        has_failed = false
    end
    local mode, level = proofs.stronger(pass, rule)
    return CHALLENGE, page.asking(mode, level, visitor, is_renewable and pass, has_failed)
end

-- Returns nothing when the visitor's answer is accepted, else a status with a page or a target.
function _M.ask(visitor, rule)
    identify(visitor)
    local answer = visitor.answer
    if answer and accepts(answer, visitor, rule) then
        return nil
    end
    local typed = form_answer()
    if typed and accepts(typed, visitor, rule) then
        return SEE_OTHER, same_place()
    end
    counters.count("antiCCAsked")
    return _M.question(visitor, rule, answer ~= nil or typed ~= nil)
end
return _M
