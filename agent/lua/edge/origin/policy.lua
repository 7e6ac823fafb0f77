-- Whether an address is in a forbidden range for origins. Addresses are lists of 16-bit groups. core/outbound.ts in the
-- API decides the same; tests/support/outbound-addresses.ts tests both.
local floor, tonumber, match, gmatch, gsub = math.floor, tonumber, string.match, string.gmatch, string.gsub
local find, sub = string.find, string.sub
local ipairs = ipairs

local _M = {}

local function v4(text)
    local a, b, c, d = match(text, "^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
    a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
    if a and a < 256 and b < 256 and c < 256 and d < 256 then
        return { a * 256 + b, c * 256 + d }
    end
end

local function groups_of(text)
    local groups = {}
    for group in gmatch(text, "[^:]+") do
        groups[#groups + 1] = tonumber(group, 16)
    end
    return groups
end

local function v6(text)
    text = gsub(gsub(gsub(text, "^%[", ""), "%]$", ""), "%%.*$", "")
    local dotted = match(text, "(%d+%.%d+%.%d+%.%d+)$")
    if dotted then
        local tail = v4(dotted)
        if not tail then
            return nil
        end
        text = sub(text, 1, #text - #dotted) .. ("%x:%x"):format(tail[1], tail[2])
    end
    if find(text, "[^%x:]") then
        return nil
    end
    local gap = find(text, "::", 1, true)
    local groups = groups_of(gap and sub(text, 1, gap - 1) or text)
    if gap then
        local tail = groups_of(sub(text, gap + 2))
        for _ = #groups + #tail + 1, 8 do
            groups[#groups + 1] = 0
        end
        for _, group in ipairs(tail) do
            groups[#groups + 1] = group
        end
    end
    if #groups ~= 8 then
        return nil
    end
    return groups
end

-- The IPv4 address embedded in an IPv6 address: compatible (::/96), mapped (::ffff:0:0/96), translated (64:ff9b::/96)
-- and ISATAP.
local function embedded(groups)
    if #groups ~= 8 then
        return nil
    end
    local middle = groups[3] + groups[4] + groups[5]
    local plain = groups[1] + groups[2] + middle == 0 and (groups[6] == 0 or groups[6] == 0xffff)
    local translated = groups[1] == 0x64 and groups[2] == 0xff9b and middle + groups[6] == 0
    local isatap = groups[6] == 0x5efe and (groups[5] == 0 or groups[5] == 0x200)
    if plain or translated or isatap then
        return { groups[7], groups[8] }
    end
end

local function parse(text)
    return find(text, ":", 1, true) and v6(text) or v4(text)
end

local function range(cidr)
    local text, length = match(cidr, "^([^/]+)/(%d+)$")
    text = text or cidr
    local groups = parse(text)
    if not groups then
        return nil
    end
    return { groups = groups, bits = tonumber(length) or #groups * 16 }
end

local function contains(one, groups)
    if #one.groups ~= #groups then
        return false
    end
    local bits = one.bits
    for i, group in ipairs(groups) do
        if bits <= 0 then
            return true
        end
        local unit = bits >= 16 and 1 or 2 ^ (16 - bits)
        if floor(group / unit) ~= floor(one.groups[i] / unit) then
            return false
        end
        bits = bits - 16
    end
    return true
end

local compiled = setmetatable({}, { __mode = "k" })
local function ranges(list)
    local made = compiled[list]
    if not made then
        made = {}
        for _, cidr in ipairs(list) do
            made[#made + 1] = range(cidr)
        end
        compiled[list] = made
    end
    return made
end

local function any(list, groups)
    for _, one in ipairs(ranges(list)) do
        if contains(one, groups) then
            return true
        end
    end
    return false
end

-- Unreadable addresses are refused.
function _M.allows(policy, address)
    local groups = parse(address)
    if not groups then
        return false
    end
    local inner = embedded(groups)
    local restricted = policy.restricted
    if restricted and (any(restricted, groups) or inner and any(restricted, inner)) then
        return false
    end
    if inner then
        return any(policy.allow, groups) or any(policy.allow, inner)
    end
    return not any(policy.deny, groups) or any(policy.allow, groups)
end
return _M
