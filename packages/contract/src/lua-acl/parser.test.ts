import { expect, test } from 'vitest';
import { parseScript, scriptError } from './parser.ts';

/** Ideas for leaving the sandbox or for using it up. None is a script. */
const escapes: readonly (readonly [idea: string, script: string])[] = [
  ['os', 'local x = os.execute("id")'],
  ['io', 'local x = io.open("/etc/passwd")'],
  ['require', 'local x = require("ffi")'],
  ['loadstring', 'local x = loadstring("return 1")()'],
  ['load', 'local x = load("x")'],
  ['dofile', 'local x = dofile("/etc/passwd")'],
  ['loadfile', 'local x = loadfile("/etc/passwd")'],
  ['_G', 'local x = _G'],
  ['_G by index', 'local x = _G["os"]'],
  ['_ENV', 'local x = _ENV'],
  ['getfenv', 'local x = getfenv(0)'],
  ['setfenv', 'local x = setfenv(1, {})'],
  ['getmetatable', 'local x = getmetatable("")'],
  ['setmetatable', 'local x = setmetatable({}, {})'],
  ['rawget', 'local x = rawget({}, 1)'],
  ['rawset', 'local x = rawset({}, 1, 2)'],
  ['rawequal', 'local x = rawequal(1, 1)'],
  ['string library', 'local x = string.rep("a", 1e9)'],
  ['a method of a text', 'local x = ("a"):rep(1000000000)'],
  ['a method of a variable', 'local a = "a" local x = a:rep(1000)'],
  ['string.dump', 'local x = string.dump(deny)'],
  ['string.format', 'local x = string.format("%99999s", "")'],
  ['string.gsub', 'local x = string.gsub("a", "a", "b")'],
  ['gsub as a function', 'local x = gsub("a", "a", "b")'],
  ['rep as a function', 'local x = rep("a", 100)'],
  ['table.concat', 'local x = table.concat({})'],
  ['debug', 'local x = debug.getinfo(1)'],
  ['package', 'local x = package.loaded'],
  ['coroutine', 'local x = coroutine.create(deny)'],
  ['pcall', 'local x = pcall(deny)'],
  ['xpcall', 'local x = xpcall(deny, deny)'],
  ['error', 'local x = error("x")'],
  ['assert', 'local x = assert(false)'],
  ['select', 'local x = select("#", 1)'],
  ['unpack', 'local x = unpack({})'],
  ['next', 'local x = next({})'],
  ['pairs', 'for k, v in pairs({}) do end'],
  ['an iterator of its own', 'for k, v in request do end'],
  ['newproxy', 'local x = newproxy(true)'],
  ['collectgarbage', 'local x = collectgarbage()'],
  ['print', 'print("x")'],
  ['ngx', 'local x = ngx.var.remote_addr'],
  ['ngx.shared', 'local x = ngx.shared.docs'],
  ['the helpers', 'local x = H.charge'],
  ['fuel by the run state', 'R.fuel = 1e9'],
  ['a generated variable', 'local x = v1'],
  ['the constants', 'local x = K[1]'],
  ['while', 'while true do end'],
  ['repeat', 'repeat until false'],
  ['goto', 'goto a'],
  ['a label', '::a::'],
  ['a function', 'function f() end'],
  ['a local function', 'local function f() return f() end'],
  ['an anonymous function', 'local f = function() end'],
  ['a call of a variable', 'local f = 1 local x = f()'],
  ['a call of a result', 'local x = lower("a")("b")'],
  ['a call of a text', 'local x = "a" "b"'],
  ['a call with a table', 'local x = lower{}'],
  ['a call with a text', 'local x = lower"a"'],
  ['variable arguments', 'local x = ...'],
  ['a global', 'x = 1'],
  ['an assignment to a function', 'deny = 1'],
  ['an assignment to the request', 'request.path = "/"'],
  ['the request as a value', 'local x = request'],
  ['the request by index', 'local x = request["path"]'],
  ['an unknown field', 'local x = request.__index'],
  ['a long string', 'local x = [[a]]'],
  ['a long string with levels', 'local x = [==[a]==]'],
  ['a long comment', '--[[ a ]] local x = 1'],
  ['bytecode', '\u001bLJ\u0002'],
  ['a NUL character', 'local x = 1\0'],
  ['a decimal escape', 'local x = "\\027"'],
  ['a hexadecimal escape', 'local x = "\\x1b"'],
  ['a line break in a text', 'local x = "a\n"'],
  ['an escaped line break', 'local x = "a\\\nb"'],
  ['a power', 'local x = 2 ^ 1e9'],
  ['an exponent', 'local x = 1e308'],
  ['an FFI number', 'local x = 1ULL'],
  ['an integer division', 'local x = 1 // 2'],
  ['bit operators', 'local x = 1 & 2'],
  ['several variables', 'local a, b = 1, 2'],
  ['several assignments', 'local a = 1 a, b = 1, 2'],
  ['a Lua pattern', 'local x = match("a", ".-.-.-b")'],
  ['a pattern that is computed', 'local p = "a" local x = matches("a", p)'],
  ['a pattern of exponential time', 'local x = matches(request.path, "(a+)+$")'],
  ['a pattern with a back-reference', 'local x = matches(request.path, "(a)\\\\1")'],
  ['a network that is computed', 'local x = ipIn(request.ip)'],
  ['a redirect that is computed', 'return redirect("/" .. request.path)'],
  ['a redirect to another scheme', 'return redirect("javascript:alert(1)")'],
  ['a redirect with a header', 'return redirect("/a\\r\\nSet-Cookie: a=b")'],
  ['a redirect to a host by slashes', 'return redirect("//evil.example")'],
  ['an unknown code', 'return redirect("/", 200)'],
  ['a value as a result', 'return 1'],
  ['code after a return', 'return deny() local x = 1'],
  ['a break without a loop', 'break'],
  ['deep parentheses', `local x = ${'('.repeat(500)}1${')'.repeat(500)}`],
  ['deep negation', `local x = ${'not '.repeat(5000)}1`],
  ['deep tables', `local x = ${'{'.repeat(500)}${'}'.repeat(500)}`],
  ['deep blocks', `${'if true then '.repeat(100)}${'end '.repeat(100)}`],
  ['many variables', 'local a = 1 '.repeat(300)],
  ['many nodes', `local x = 1${' + 1'.repeat(4000)}`],
  ['a long script', ' '.repeat(20_000)],
  ['an inherited name of JavaScript', 'local x = constructor("a")'],
  ['a prototype', 'local x = __proto__'],
  ['a full-width letter', 'local x = ｏs'],
];

test.each(escapes)('%s is no script', (_idea, script) => {
  expect(scriptError(script)).not.toBeNull();
});

test('an operator chain that Lua would not load is refused at its column', () => {
  for (const chain of [`1${' + 1'.repeat(400)}`, `"a"${' .. "a"'.repeat(41)}`, `true${' or true'.repeat(121)}`])
    expect(scriptError(`local x = ${chain}`)).toMatchObject({ code: 'tooDeep', at: { line: 1 } });
  expect(scriptError(`local x = true${' or true'.repeat(121)}`)?.at.column).toBe(
    `local x = true${' or true'.repeat(120)} `.length + 1,
  );
});

test('an error has its line and column', () => {
  expect(scriptError('local a = 1\nif a then\n  x = os\nend')).toMatchObject({
    code: 'unknownName',
    subject: 'x',
    at: { line: 3, column: 3 },
  });
  expect(scriptError('local a = "1\n')).toMatchObject({ code: 'unfinishedText', at: { line: 1, column: 11 } });
  expect(scriptError('if true then')).toMatchObject({ code: 'expected', subject: 'end' });
});

test('the language has variables, branches, loops, tables, functions and actions', () => {
  const script = `
    -- Paths of the shop.
    local parts = { "a", 'b', key = 1, [2] = 3; }
    local n = 0
    for i, part in ipairs(parts) do
      if contains(request.path, part) and not (n > 3) then n = n + i elseif n == 2 then break else n = n - 1 end
    end
    for i = 1, #parts, 2 do parts[i] = parts.key .. tostring(i) end
    if ipIn("10.0.0.0/8", "::1") or matches(header("X-A"), "^a+$") then return allow() end
    if n > 1 then return redirect("/x", 301) end
    return`;
  expect(parseScript(script)).toHaveLength(7);
});
