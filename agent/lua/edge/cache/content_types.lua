-- Checks that a response's content type fits the file extension that a cache rule matched. An origin may answer a
-- made-up `/account/a.css` with an account page, which must not be cached for everyone.
local paths = require("edge.core.paths")
local find, gmatch, lower, match = string.find, string.gmatch, string.lower, string.match
local pairs, type = pairs, type

local _M = {}

-- Types by group of extensions. A type ending in "/" includes all its subtypes.
local GROUPS = {
    ["css"] = "text/css",
    ["js mjs cjs"] = "application/javascript text/javascript application/x-javascript application/ecmascript text/ecmascript",
    ["json map webmanifest geojson topojson har"] = "application/json application/manifest+json application/geo+json "
        .. "application/topo+json application/source-map text/json text/plain",
    ["xml xsl xslt xsd rss atom rdf kml gpx opml"] = "text/xml application/xml application/rss+xml application/atom+xml "
        .. "application/rdf+xml application/xslt+xml application/gpx+xml application/vnd.google-earth.kml+xml text/x-opml",
    ["htm html shtml xhtml php asp aspx jsp"] = "text/html application/xhtml+xml",
    ["txt text log ini conf cfg yml yaml toml csv tsv md markdown vtt srt ics vcf"] = "text/plain text/csv "
        .. "text/tab-separated-values text/markdown text/x-markdown text/yaml text/vtt text/calendar text/vcard text/x-log "
        .. "application/yaml application/x-yaml application/toml application/x-subrip application/vnd.ms-excel",
    ["svg svgz"] = "image/svg+xml text/xml application/xml",
    ["jpg jpeg jpe jfif pjpeg png apng gif webp avif jxl bmp ico cur tif tiff heic heif jp2 psd"] = "image/",
    ["woff woff2 ttf otf eot ttc"] = "font/ application/font-woff application/font-woff2 application/font-sfnt "
        .. "application/x-font-woff application/x-font-woff2 application/x-font-ttf application/x-font-truetype "
        .. "application/x-font-opentype application/x-font-otf application/vnd.ms-fontobject",
    ["mp4 m4v m4s m4a mov avi mkv webm ogv ogg oga opus flv f4v wmv mpg mpeg mp2 mp3 aac flac wav weba mid midi 3gp ts m2ts"]
        = "video/ audio/ application/ogg application/mp4 application/x-flv",
    ["m3u8 m3u"] = "application/vnd.apple.mpegurl application/x-mpegurl audio/ video/ text/plain",
    ["mpd"] = "application/dash+xml text/xml application/xml video/vnd.mpeg.dash.mpd",
    ["wasm"] = "application/wasm",
    ["pdf"] = "application/pdf application/x-pdf",
}
-- Documents and API data. No other file type uses these content types.
local PAGES = {
    ["text/html"] = true, ["application/xhtml+xml"] = true, ["application/json"] = true, ["text/json"] = true,
    ["multipart/x-mixed-replace"] = true, ["text/event-stream"] = true,
}

local by_extension = {}
for extensions, list in pairs(GROUPS) do
    local types = {}
    for kind in gmatch(list, "%S+") do
        types[kind] = true
    end
    for extension in gmatch(extensions, "%S+") do
        by_extension[extension] = types
    end
end

-- Redirects are exempt: origins label their body as a page.
local REDIRECTS = { [301] = true, [302] = true, [303] = true, [307] = true, [308] = true }

local function is_of(extension, kind)
    local types = by_extension[extension]
    if kind == "application/octet-stream" then
        return true
    elseif not types then
        return not PAGES[kind]
    end
    return types[kind] or types[match(kind, "^[^/]*/")] or false
end

function _M.fits(site, rule, path, status, content_type)
    if site.checkContentType == false or not rule or rule.type ~= "fileType" or REDIRECTS[status] then
        return true
    end
    local kind = type(content_type) == "string" and match(lower(content_type), "^%s*([^;,%s]+)")
    if not kind or find(content_type, ",", 1, true) then
        return false
    end
    return is_of(paths.extension(path), kind)
end
return _M
