-- HTTP dates: exactly the three forms of RFC 9110 5.6.7, with names in any case.
local floor, tonumber, type, match, lower = math.floor, tonumber, type, string.match, string.lower

local _M = {}
local MONTHS = {
    jan = 1, feb = 2, mar = 3, apr = 4, may = 5, jun = 6, jul = 7, aug = 8, sep = 9, oct = 10, nov = 11, dec = 12,
}
local DAYS = { sun = true, mon = true, tue = true, wed = true, thu = true, fri = true, sat = true }
local LONG_DAYS = {
    sunday = true, monday = true, tuesday = true, wednesday = true, thursday = true, friday = true, saturday = true,
}

local function epoch(year, month, day, hour, minute, second)
    year, day, hour, minute, second = tonumber(year), tonumber(day), tonumber(hour), tonumber(minute), tonumber(second)
    if not month or day < 1 or day > 31 or hour > 23 or minute > 59 or second > 60 then
        return nil
    end
    if month <= 2 then
        year, month = year - 1, month + 12
    end
    local days = 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400)
        + floor((153 * (month - 3) + 2) / 5) + day - 719469
    return days * 86400 + hour * 3600 + minute * 60 + second
end

local function imf(text)
    local name, d, m, y, h, mi, s = match(text, "^(%a%a%a), (%d%d) (%a%a%a) (%d%d%d%d) (%d%d):(%d%d):(%d%d) gmt$")
    if name then
        return DAYS[name] and epoch(y, MONTHS[m], d, h, mi, s)
    end
end

local function rfc850(text)
    local name, d, m, y, h, mi, s = match(text, "^(%a+), (%d%d)%-(%a%a%a)%-(%d%d) (%d%d):(%d%d):(%d%d) gmt$")
    if not name or not LONG_DAYS[name] then
        return nil
    end
    -- Two-digit years are at most fifty years in the future.
    local this = tonumber(os.date("!%Y"))
    local year = tonumber(y) + this - this % 100
    return epoch(year > this + 50 and year - 100 or year, MONTHS[m], d, h, mi, s)
end

local function asctime(text)
    local name, m, d, h, mi, s, y = match(text, "^(%a%a%a) (%a%a%a) ([ %d]%d) (%d%d):(%d%d):(%d%d) (%d%d%d%d)$")
    if name then
        return DAYS[name] and epoch(y, MONTHS[m], d, h, mi, s)
    end
end

-- Seconds since 1970, or nil.
function _M.parse(value)
    if type(value) ~= "string" then
        return nil
    end
    local text = lower(value)
    return imf(text) or rfc850(text) or asctime(text) or nil
end
return _M
