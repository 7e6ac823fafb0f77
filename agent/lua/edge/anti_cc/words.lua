-- Texts of the challenge page in the visitor's language.
local find, gmatch, lower, match, tonumber = string.find, string.gmatch, string.lower, string.match, tonumber

local words = {
    ["zh-TW"] = {
        title = "請稍候，正在確認您是訪客",
        why = "這個網站此刻的請求太多，所以先確認不是程式。通過後會自動回到您要的頁面。",
        shield = "不需要您做任何事，通常幾秒鐘就好。",
        code = "請輸入圖中的 5 個字元，不分大小寫。",
        click = "請按下按鈕繼續。",
        redirect = "這個網站需要 Cookie 才能繼續，但您的瀏覽器沒有保存。請允許 Cookie，再重新載入。",
        field = "圖中的字元",
        picture = "寫著 5 個字元的圖片",
        send = "繼續",
        press = "我是訪客",
        other = "換一張圖",
        cannot = "看不到圖片？改由瀏覽器計算（約半分鐘）",
        working = "確認中…",
        cookies = "這個網站需要 Cookie 才能繼續。請允許 Cookie，再重新載入。",
        failed = "這次沒有通過。可能是太久沒回答，或網路位址改變了。",
        again = "再試一次",
        resend = "通過後瀏覽器會問是否重新送出表單，請選擇重新送出。",
        script = "請啟用 JavaScript，再重新載入這個頁面。",
        plain = "這個網站正在確認訪客不是程式。請用允許 JavaScript 與 Cookie 的瀏覽器開啟。",
        id = "請求編號",
    },
    ["zh-CN"] = {
        title = "请稍候，正在确认您是访客",
        why = "这个网站当前的请求太多，所以先确认不是程序。通过后会自动回到您要的页面。",
        shield = "不需要您做任何事，通常几秒钟就好。",
        code = "请输入图中的 5 个字符，不区分大小写。",
        click = "请按下按钮继续。",
        redirect = "这个网站需要 Cookie 才能继续，但您的浏览器没有保存。请允许 Cookie，再重新加载。",
        field = "图中的字符",
        picture = "写着 5 个字符的图片",
        send = "继续",
        press = "我是访客",
        other = "换一张图",
        cannot = "看不到图片？改由浏览器计算（约半分钟）",
        working = "确认中…",
        cookies = "这个网站需要 Cookie 才能继续。请允许 Cookie，再重新加载。",
        failed = "这次没有通过。可能是太久没回答，或网络地址变了。",
        again = "再试一次",
        resend = "通过后浏览器会问是否重新提交表单，请选择重新提交。",
        script = "请启用 JavaScript，再重新加载这个页面。",
        plain = "这个网站正在确认访客不是程序。请用允许 JavaScript 和 Cookie 的浏览器打开。",
        id = "请求编号",
    },
    en = {
        title = "One moment: checking that you are a visitor",
        why = "This site is getting too many requests right now, so it checks first that you are not a program. Then it takes you to the page that you asked for.",
        shield = "You need not do anything. It usually takes a few seconds.",
        code = "Type the 5 characters in the picture. Capital or small letters are the same.",
        click = "Press the button to go on.",
        redirect = "This site needs a cookie to go on, and your browser does not keep it. Please allow cookies, then reload.",
        field = "Characters in the picture",
        picture = "A picture of 5 characters",
        send = "Go on",
        press = "I am a visitor",
        other = "Another picture",
        cannot = "Cannot see it? Let the browser work it out (about half a minute)",
        working = "Checking…",
        cookies = "This site needs a cookie to go on. Please allow cookies, then reload.",
        failed = "That did not work. It may have taken too long, or your network address has changed.",
        again = "Try again",
        resend = "Your browser will then ask whether to send the form again: let it.",
        script = "Please turn on JavaScript, then reload this page.",
        plain = "This site checks that its visitors are not programs. Open it in a browser that allows JavaScript and cookies.",
        id = "Request",
    },
}

local function language_of(tag)
    if tag == "zh" or find(tag, "^zh%-") then
        return find(tag, "tw", 3, true) and "zh-TW" or find(tag, "hant", 3, true) and "zh-TW" or find(tag, "hk", 3, true) and "zh-TW"
            or find(tag, "mo", 3, true) and "zh-TW" or "zh-CN"
    end
    return match(tag, "^en") and "en" or nil
end

-- Picks the visitor's preferred language among ours. Reads the first few entries only.
return function(accepted)
    local best, liked, looked = "en", 0, 0
    for tag, rest in gmatch(lower(accepted or ""), "([%w-]+)([^,]*)") do
        local language = language_of(tag)
        local q = tonumber(match(rest, "q=([%d.]+)") or "1") or 0
        if language and q > liked then
            best, liked = language, q
        end
        looked = looked + 1
        if looked == 10 then
            break
        end
    end
    return best, words[best]
end
