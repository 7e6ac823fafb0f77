-- The challenge page. It contains nothing of the request but our own request id, and loads nothing. Solutions travel
-- in a cookie, or without JavaScript in a form, so the visitor stays at the requested URL. The browser keeps a secret
-- that extends a pass to another address.
local pictures = require("edge.anti_cc.pictures")
local proofs = require("edge.anti_cc.proofs")
local words_for = require("edge.anti_cc.words")
local find, format = string.find, string.format
local var = ngx.var

local _M = {}

local STYLE = [[
:root{color-scheme:light dark;--ground:#f6f7f9;--paper:#fff;--text:#1c2330;--quiet:#5b6577;--line:#d5dae3;--main:#2458d6;--on:#fff;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ground:#12151b;--paper:#1b2029;--text:#e8ebf1;--quiet:#a4adbd;--line:#39414f;--main:#8fb0ff;--on:#0d1524;--bad:#ff9d94}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--ground);color:var(--text);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"PingFang TC","Microsoft JhengHei","Noto Sans CJK TC",sans-serif}
main{width:100%;max-width:30rem;padding:28px 24px;background:var(--paper);border:1px solid var(--line);border-radius:12px;overflow-wrap:anywhere}
h1{margin:0 0 12px;font-size:20px;line-height:1.35}
p{margin:0 0 14px}
form{display:grid;gap:12px;justify-items:start;margin:0 0 14px}
img{display:block;width:100%;max-width:312px;border:1px solid var(--line);border-radius:6px;background:#fff}
label{display:grid;gap:4px;font-size:14px;color:var(--quiet)}
input{width:12rem;max-width:100%;padding:9px 12px;font:20px/1.3 ui-monospace,monospace;letter-spacing:.2em;color:var(--text);background:var(--paper);border:1px solid var(--quiet);border-radius:8px}
button{min-height:44px;padding:9px 18px;font:inherit;font-weight:600;color:var(--on);background:var(--main);border:1px solid var(--main);border-radius:8px;cursor:pointer}
button.plain{color:var(--main);background:none;border-color:transparent;padding-inline:0;font-weight:400;text-align:start;text-decoration:underline}
:focus-visible{outline:3px solid var(--main);outline-offset:2px}
button:disabled{opacity:.6;cursor:default}
progress{width:100%;height:8px;accent-color:var(--main)}
[role=status]{min-height:1.6em;margin:8px 0 0;font-size:14px;color:var(--quiet)}
.bad{color:var(--bad)}
.id{margin:20px 0 0;font-size:12px;color:var(--quiet)}
[hidden]{display:none!important}
]]

-- SHA-256 of one block, of which the first four words are used. crypto.subtle is unavailable over HTTP. Works in short
-- turns.
local SCRIPT = [[
(function(){
var main=document.querySelector('main'),data=main.dataset,status=main.querySelector('[role=status]'),bar=main.querySelector('progress');
function part(name){return main.querySelector('[data-part='+name+']')}
function say(text,bad){status.textContent=text||'';status.className=bad?'bad':''}
var K=new Int32Array(64),H=new Int32Array(8),W=new Int32Array(64),D=new Int32Array(4);
for(var n=2,found=0;found<64;n++){
 for(var i=2;i*i<=n&&n%i;i++);
 if(i*i>n){if(found<8)H[found]=(Math.pow(n,1/2)%1)*4294967296;K[found++]=(Math.pow(n,1/3)%1)*4294967296}
}
function first(text){
 var length=text.length,i,a=H[0],b=H[1],c=H[2],d=H[3],e=H[4],f=H[5],g=H[6],h=H[7];
 for(i=0;i<16;i++)W[i]=0;
 for(i=0;i<length;i++)W[i>>2]|=text.charCodeAt(i)<<(24-8*(i&3));
 W[length>>2]|=128<<(24-8*(length&3));
 W[15]=length*8;
 for(i=0;i<64;i++){
  if(i>15){var x=W[i-15],y=W[i-2];
   W[i]=W[i-16]+W[i-7]+((x>>>7|x<<25)^(x>>>18|x<<14)^x>>>3)+((y>>>17|y<<15)^(y>>>19|y<<13)^y>>>10)}
  var s=h+((e>>>6|e<<26)^(e>>>11|e<<21)^(e>>>25|e<<7))+(e&f^~e&g)+K[i]+W[i]|0,
   t=((a>>>2|a<<30)^(a>>>13|a<<19)^(a>>>22|a<<10))+(a&b^a&c^b&c)|0;
  h=g;g=f;f=e;e=d+s|0;d=c;c=b;b=a;a=s+t|0;
 }
 D[1]=H[1]+b;D[2]=H[2]+c;D[3]=H[3]+d;
 return D[0]=H[0]+a|0;
}
function hash(text){
 first(text);
 for(var i=0,hex='';i<4;i++)hex+=('0000000'+(D[i]>>>0).toString(16)).slice(-8);
 return hex;
}
function secrets(){try{return(localStorage.getItem('edgeloom')||'').split(' ')}catch(none){return[]}}
function fresh(){
 try{
  var bytes=crypto.getRandomValues(new Uint8Array(16)),secret='';
  for(var i=0;i<16;i++)secret+=(256+bytes[i]).toString(16).slice(1);
  localStorage.setItem('edgeloom',secret+' '+(secrets()[0]||''));
  return '~'+hash(secret);
 }catch(none){return''}
}
function renewal(){
 return data.renew&&!data.failed?secrets().filter(function(one){return one&&hash(one)===data.secret})[0]:'';
}
function work(question,done){
 var fields=question.split('.'),bits=12+Number(fields[1]),answers=[],tried=0;
 bar.hidden=false;bar.value=0;say(data.working);
 (function turn(){
  var end=Date.now()+40;
  while(Date.now()<end)for(var i=0;i<500;i++)
   if(first(fields[3]+':'+answers.length+':'+tried)>>>32-bits)tried++;
   else{answers.push(tried);tried=0;bar.value=answers.length/PUZZLES;if(answers.length===PUZZLES){done(answers.join('-'));return}}
  setTimeout(turn,0);
 })();
}
function answer(question,text){
 document.cookie='edgeloom_answer='+question+'~'+text+fresh()+';path=/;max-age=30;samesite=lax';
 if(document.cookie.indexOf('edgeloom_answer=')<0){bar.hidden=true;say(data.cookies,true);return}
 location.reload();
}
function begin(){
 var ready=null,pressed=false,mode=data.mode,press=part('press'),began=Date.now();
 function go(){if(ready!==null&&pressed)setTimeout(answer,Math.max(0,LEAST-Date.now()+began),data.question,ready)}
 if(mode==='2'){part('code').hidden=false;part('field').focus();return}
 if(mode==='3'){
  press.hidden=false;press.focus();
  press.onclick=function(event){if(!event.isTrusted)return;pressed=true;press.disabled=true;say(data.working);go()};
 }else pressed=true;
 work(data.question,function(text){ready=text;bar.hidden=true;if(!pressed)say('');go()});
}
if(part('code')){
 part('code').onsubmit=function(event){
  event.preventDefault();
  var text=part('field').value.toLowerCase().replace(/[^a-z0-9]/g,'');
  if(text)answer(data.question,text);else part('field').focus();
 };
 part('other').onclick=function(){location.reload()};
 part('cannot').onclick=function(){part('code').hidden=true;work(data.instead,function(text){setTimeout(answer,LEAST,data.instead,text)})};
}
part('again').onclick=function(){part('again').hidden=true;begin()};
var known=renewal();
if(known){answer(data.renew,known);return}
if(data.failed&&data.mode!=='2'){say(data.failed,true);part('again').hidden=false;part('again').focus()}
else{begin();if(data.failed)say(data.failed,true)}
})();
]]
SCRIPT = SCRIPT:gsub("PUZZLES", proofs.PUZZLES):gsub("LEAST", proofs.LEAST_MS)

-- Escapes a text for string.format.
local function plain(text)
    return (text:gsub("%%", "%%%%"))
end
local HEAD = [[
<!doctype html>
<html lang="%s"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>%s</title><style nonce="%s">]] .. plain(STYLE) .. [[</style></head>
]]
local FORM = HEAD .. [[
<body><main data-mode="%s" data-question="%s" data-instead="%s" data-renew="%s" data-secret="%s" data-failed="%s" data-working="%s" data-cookies="%s">
<h1>%s</h1><p>%s</p><p class="how">%s</p>%s%s
<button type="button" data-part="press" hidden>%s</button><button type="button" data-part="again" hidden>%s</button>
<progress hidden max="1" aria-label="%s"></progress><p role="status"></p>
<noscript>%s</noscript><p class="id">978 · %s %s</p>
</main><script nonce="%s">]] .. plain(SCRIPT) .. [[</script></body></html>
]]
local CODE = [[
<form data-part="code" hidden><img alt="%s" width="208" height="72" src="data:image/png;base64,%s">
<label>%s<input data-part="field" maxlength="8" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button>%s</button><button type="button" class="plain" data-part="other">%s</button>
<button type="button" class="plain" data-part="cannot">%s</button></form>]]
-- For visitors without JavaScript. Posted to the requested URL.
local PLAIN_FORM = [[
<style nonce="%s">.how{display:none}</style>
<p class="bad">%s</p><p>%s</p><form method="post"><input type="hidden" name="edgeloom_answer" value="%s">
<img alt="%s" width="208" height="72" src="data:image/png;base64,%s">
<label>%s<input name="code" maxlength="8" autocomplete="off" autocapitalize="off" spellcheck="false" required></label>
<button>%s</button></form>]]
-- Shown without a script to visitors who do not keep cookies.
local NOTE = HEAD .. [[
<body><main><h1>%s</h1><p>%s</p><p class="id">978 · %s %s</p></main></body></html>
]]
local SHORT = "<!doctype html><meta charset=\"utf-8\"><meta name=\"robots\" content=\"noindex\"><title>978</title><p>%s</p>\n"

local POLICY = "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; base-uri 'none'; form-action 'self'; "
    .. "frame-ancestors 'self'"
local CODE_MODE = 2
local KINDS = { "shield", "code", "click" }

local function is_resent()
    local method = ngx.req.get_method()
    return method ~= "GET" and method ~= "HEAD"
end

-- `renewable`: the visitor's pass, which the browser's secret would extend to this address. `failed`: the previous
-- solution was wrong.
function _M.asking(mode, level, visitor, renewable, failed)
    local accepted = var.http_accept
    local language, words = words_for(var.http_accept_language)
    if not accepted or not find(accepted, "text/html", 1, true) then
        return { html = format(SHORT, words.plain), csp = "default-src 'none'" }
    end
    local id = var.request_id
    local shown = pictures.any()
    local typed = proofs.question(CODE_MODE, 0, visitor, shown.text)
    local form, question, instead = "", typed, ""
    if mode == CODE_MODE then
        form = format(CODE, words.picture, shown.png, words.field, words.send, words.other, words.cannot)
        instead = proofs.question(mode, level + proofs.INSTEAD, visitor)
    else
        question = proofs.question(mode, level, visitor)
    end
    local renew = renewable and proofs.question(proofs.RENEWAL, 0, visitor) or ""
    local without = format(PLAIN_FORM, id, failed and words.failed or "", words.script, typed, words.picture, shown.png, words.field,
        words.send)
    return {
        html = format(FORM, language, words.title, id, mode, question, instead, renew, renewable and renewable.secret or "",
            failed and words.failed or "", words.working, words.cookies, words.title, words.why, words[KINDS[mode]],
            is_resent() and "<p>" .. words.resend .. "</p>" or "", form, words.press, words.again, words.working, without,
            words.id, id, id),
        csp = format(POLICY, id, id),
    }
end

-- Shown when a cookie was set several times and never returned.
function _M.needing_cookies()
    local language, words = words_for(var.http_accept_language)
    local id = var.request_id
    return {
        html = format(NOTE, language, words.title, id, words.title, words.redirect, words.id, id),
        csp = format(POLICY, id, id),
    }
end
return _M
