-- Texts of the challenge page in the visitor's language.
local find, gmatch, lower, match, tonumber = string.find, string.gmatch, string.lower, string.match, tonumber

local words = {
    ["zh-TW"] = {
        title = "請稍候，正在驗證您是真人",
        why = "這個網站目前的請求過多，因此先確認您不是機器人。通過後會自動開啟您要的頁面。",
        shield = "不需要任何操作，通常只要幾秒鐘。",
        code = "請輸入圖中的 5 個字元，不分大小寫。",
        click = "請按下按鈕繼續。",
        redirect = "這個網站需要 Cookie 才能繼續，但您的瀏覽器沒有保存。請允許 Cookie，再重新載入。",
        field = "圖中的字元",
        picture = "含有 5 個字元的圖片",
        send = "繼續",
        press = "我是真人",
        other = "換一張圖",
        cannot = "看不到圖片？改由瀏覽器計算（約半分鐘）",
        working = "驗證中…",
        cookies = "這個網站需要 Cookie 才能繼續。請允許 Cookie，再重新載入。",
        failed = "驗證未通過。可能是時間過長，或網路位址已變更。",
        again = "再試一次",
        resend = "通過後瀏覽器會詢問是否重新送出表單，請選擇重新送出。",
        script = "您的瀏覽器未啟用 JavaScript。請輸入圖中的 5 個字元，再按「繼續」。",
        plain = "這個網站正在驗證訪客不是機器人。請用允許 JavaScript 與 Cookie 的瀏覽器開啟。",
        id = "請求編號",
    },
    ["zh-CN"] = {
        title = "请稍候，正在验证您是真人",
        why = "这个网站当前的请求过多，因此先确认您不是机器人。通过后会自动打开您要的页面。",
        shield = "不需要任何操作，通常只要几秒钟。",
        code = "请输入图中的 5 个字符，不区分大小写。",
        click = "请按下按钮继续。",
        redirect = "这个网站需要 Cookie 才能继续，但您的浏览器没有保存。请允许 Cookie，再重新加载。",
        field = "图中的字符",
        picture = "含有 5 个字符的图片",
        send = "继续",
        press = "我是真人",
        other = "换一张图",
        cannot = "看不到图片？改由浏览器计算（约半分钟）",
        working = "验证中…",
        cookies = "这个网站需要 Cookie 才能继续。请允许 Cookie，再重新加载。",
        failed = "验证未通过。可能是时间过长，或网络地址已变更。",
        again = "再试一次",
        resend = "通过后浏览器会询问是否重新提交表单，请选择重新提交。",
        script = "您的浏览器未启用 JavaScript。请输入图中的 5 个字符，再点“继续”。",
        plain = "这个网站正在验证访客不是机器人。请用允许 JavaScript 和 Cookie 的浏览器打开。",
        id = "请求编号",
    },
    en = {
        title = "One moment. Verifying that you are human",
        why = "This site is receiving too many requests right now, so it checks that you are not a bot. Your page opens automatically afterwards.",
        shield = "No action needed. This usually takes a few seconds.",
        code = "Type the 5 characters in the image. Upper and lower case are the same.",
        click = "Press the button to continue.",
        redirect = "This site needs a cookie to continue, but your browser did not store it. Allow cookies and reload the page.",
        field = "Characters in the image",
        picture = "An image of 5 characters",
        send = "Continue",
        press = "I am human",
        other = "Another image",
        cannot = "Can't see the image? Let your browser do a calculation instead (about half a minute)",
        working = "Verifying…",
        cookies = "This site needs a cookie to continue. Allow cookies and reload the page.",
        failed = "Verification failed. It may have taken too long, or your network address has changed.",
        again = "Try again",
        resend = "Afterwards your browser asks whether to resubmit the form. Confirm to send it.",
        script = "JavaScript is off in your browser. Type the 5 characters in the image and press Continue.",
        plain = "This site verifies that visitors are not bots. Open it in a browser that allows JavaScript and cookies.",
        id = "Request ID",
    },
}

local function language_of(tag)
    if tag == "zh" or find(tag, "^zh%-") then
        return find(tag, "tw", 3, true) and "zh-TW" or find(tag, "hant", 3, true) and "zh-TW" or find(tag, "hk", 3, true) and "zh-TW"
            or find(tag, "mo", 3, true) and "zh-TW" or "zh-CN"
    end
    return match(tag, "^en") and "en" or nil
end

-- Selects the texts for an Accept-Language header, from its first ten entries.
return function(accept_language)
    local best, best_q, entries = "en", 0, 0
    for tag, rest in gmatch(lower(accept_language or ""), "([%w-]+)([^,]*)") do
        local language = language_of(tag)
        local q = tonumber(match(rest, "q=([%d.]+)") or "1") or 0
        if language and q > best_q then
            best, best_q = language, q
        end
        entries = entries + 1
        if entries == 10 then
            break
        end
    end
    return best, words[best]
end
