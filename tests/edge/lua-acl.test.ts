import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { LuaAclDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { statusFrom } from '../support/assertions/visit.ts';
import { hostDoc, startEdge } from '../support/services/edge.ts';
import type { Edge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

interface ScriptOptions {
  limitMode?: 'deny' | 'pass';
  monitor?: boolean;
  /** By default the edge that most tests share. */
  at?: Edge;
}
async function withScript(script: string, { limitMode = 'deny', monitor = false, at = edge }: ScriptOptions = {}) {
  const doc = moduleDoc({
    id: randomUUID(),
    kind: 'luaAcl',
    settings: { script, limitMode, monitor },
    redirects: null,
  });
  await at.put(doc);
  return { doc, ...(await at.site({}, { modules: { luaAcl: doc.id } })) };
}
const statusOf = async (
  script: string,
  path = '/',
  headers: Record<string, string> = {},
  options: ScriptOptions = {},
) => {
  const { name } = await withScript(script, options);
  return (await edge.get(path, { host: name, headers })).status;
};

test('a script decides by what it reads of the request', async () => {
  const { name, doc } = await withScript(
    `
    local words = { "admin", "backup" }
    for _, word in ipairs(words) do
      if contains(lower(request.path), word) and cookie("staff") ~= "yes" then return deny() end
    end
    if startsWith(request.path, "/old") then return redirect("/new?" .. "x", 301) end`.replace(
      '"/new?" .. "x"',
      '"/new"',
    ),
  );
  const denied = await edge.get('/x/ADMIN', { host: name });
  expect(denied.status).toBe(929);
  expect(await edge.accessLogEntry(denied)).toMatchObject({ cause: 'luaAcl', rule: doc.id });
  expect((await edge.get('/admin', { host: name, headers: { Cookie: 'a=b; staff=yes' } })).status).toBe(200);
  const moved = await edge.get('/old/1', { host: name });
  expect([moved.status, moved.header('location')]).toEqual([301, '/new']);
  expect((await edge.get('/x', { host: name })).status).toBe(200);
});

test.each([
  [
    'texts',
    'if sub("abc", 2) == "bc" and #"abc" == 3 and find("abc", "c") == 3 and upper("é") == "é" then return deny() end',
  ],
  [
    'numbers',
    'if (7 % 3) * 2 + 10 / 4 - 1 == 3.5 and floor(2.7) == 2 and max(1, 2) == 2 and min(1, 2) == 1 then return deny() end',
  ],
  [
    'numbers of texts',
    'if tonumber("12") + 1 == 13 and tonumber("0x10") == nil and tostring(12) == "12" then return deny() end',
  ],
  ['tables', 'local t = { 1, 2, x = { y = 3 } } t[3] = t.x.y if #t == 3 and t[3] == 3 then return deny() end'],
  ['loops', 'local n = 0 for i = 10, 1, -2 do if i < 4 then break end n = n + i end if n == 28 then return deny() end'],
  ['scopes', 'local a = 1 if true then local a = 2 a = 3 end if a == 1 then return deny() end'],
  ['or and and', 'local a = nil local b = a or "x" if b == "x" and not (a and b) then return deny() end'],
  ['parameters', 'if arg("q") == "a b" and arg("z") == nil and request.args == "q=a+b" then return deny() end'],
  [
    'addresses',
    'if ipIn("127.0.0.0/8") and not ipIn("10.0.0.0/8", "::1") and request.ip == "127.0.0.1" then return deny() end',
  ],
  ['hostile texts', 'if "\\"\\\\\\n]]--" ~= "" and "é\'" == \'é\\\'\' then return deny() end'],
])('%s are those of Lua', async (_what, script) => {
  expect(await statusOf(script, '/?q=a+b')).toBe(929);
});

const stopped: readonly (readonly [what: string, script: string])[] = [
  ['an endless loop', 'for i = 1, 1 / 0 do end'],
  ['a loop without progress', 'for i = 1, 2, 0 do end'],
  ['a loop of a tiny step', 'for i = 1, 2, 0.0000000000001 do end'],
  ['nested loops', 'for i = 1, 1000 do for j = 1, 1000 do end end'],
  ['doubled texts', 'local s = "aaaaaaaaaaaaaaaa" for i = 1, 40 do s = s .. s end'],
  ['a grown table', 'local t = {} for i = 1, 5000 do t[i] = i end'],
  ['many tables', 'for i = 1, 5000 do local t = { 1, 2, 3 } end'],
  ['a long body', `for i = 1, 1000 do ${'local a = 1 + 1 '.repeat(50)} end`],
  [
    'a search of long texts',
    'local s = "aaaaaaaaaaaaaaaa" for i = 1, 11 do s = s .. s end for i = 1, 50 do local x = find(s, s .. "b") end',
  ],
  ['an index of nil', 'local x = nil local y = x.y'],
  ['a method of a text by index', 'local x = "abc" local y = x.rep'],
  ['a sum of texts', 'local x = "1" + 1'],
  ['a comparison of types', 'if "1" < 2 then end'],
  ['a length of nil', 'local x = #header("X-None")'],
  ['a key of nil', 'local t = {} t[header("X-None")] = 1'],
  ['a text of a table', 'local x = {} .. "a"'],
  ['a deep expression', `local a = 1 local x = ${'"a" .. ("b" < "c" .. ('.repeat(5)}a${'))'.repeat(5)}`],
];
test('a script that fails or costs too much is stopped, and the log row says so', async () => {
  // The log is written once a second, so it is read at the end.
  const sent = [];
  for (const [what, script] of stopped) {
    const { name, doc } = await withScript(script);
    const reply = await edge.get('/', { host: name });
    expect([what, reply.status]).toEqual([what, 929]);
    expect([what, await statusOf(script, '/', {}, { limitMode: 'pass' })]).toEqual([what, 200]);
    sent.push({ what, reply, doc });
  }
  for (const { what, reply, doc } of sent) {
    const { cause, rule } = await edge.accessLogEntry(reply);
    expect([what, cause, String(rule).replace(/^(?:over|failed)/, 'stopped')]).toEqual([
      what,
      'luaAcl',
      `stopped/${doc.id}`,
    ]);
  }
});

test('a pattern costs the time that it takes', async () => {
  // Once, forty of these took a tenth of a second for the price of a few microseconds each.
  const script = 'for i = 1, 40 do local x = matches(cookie("c"), "a.*b.*c") end return deny()';
  const { name, doc } = await withScript(script, { limitMode: 'pass' });
  const visit = (length: number) => edge.get('/', { host: name, headers: { Cookie: `c=${'a'.repeat(length)}` } });
  // The first touch of memory counts as CPU time, too: a first visit may cost more.
  await expect.poll(async () => (await visit(10)).status).toBe(929);
  const slow = await visit(8000);
  expect(slow.status).toBe(200);
  expect(await edge.accessLogEntry(slow)).toMatchObject({ cause: 'luaAcl', rule: `over/${doc.id}` });
});

test('an iteration costs what its body costs', async () => {
  const loop = (statements: number) => `for i = 1, 300 do ${'local a = 1 '.repeat(statements)} end`;
  expect([await statusOf(loop(1)), await statusOf(loop(50))]).toEqual([200, 929]);
});

test('a script in monitor mode only logs', async () => {
  const { name, doc } = await withScript('return deny()', { monitor: true });
  const reply = await edge.get('/', { host: name });
  expect(reply.status).toBe(200);
  expect(await edge.accessLogEntry(reply)).toMatchObject({ cause: 'luaAcl', rule: `monitor/${doc.id}` });
});

test('a rule that allows skips the script', async () => {
  const { doc } = await withScript('return deny()');
  const allow = { field: 'path', operator: 'equal', value: '/ok', join: 'and', ignoreCase: false };
  const rule = { id: randomUUID(), name: 'Ok', conditions: [allow], action: 'allow', target: null };
  const settings = { rules: [{ ...rule, monitor: false, limitMode: 'noMatch', enabled: true }] };
  const acl = moduleDoc({ id: randomUUID(), kind: 'acl', settings, redirects: null });
  await edge.put(acl);
  const { name } = await edge.site({}, { modules: { luaAcl: doc.id, acl: acl.id } });
  expect((await edge.get('/ok', { host: name })).status).toBe(200);
  expect((await edge.get('/no', { host: name })).status).toBe(929);
});

test('one address uses up its share, many addresses the budget, and every request shows it', async () => {
  // One worker writes its rows in order, so the row of a request proves that those of earlier requests are there.
  const single = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
  onTestFinished(() => single.stop());
  const script = 'for i = 1, 19000 do end return deny()';
  const { name, doc } = await withScript(script, { limitMode: 'pass', at: single });
  const rules = async () => (await single.log()).filter(({ host }) => host === name).map(({ rule }) => rule);
  const rulesAfter = async (addresses: number, requests: number) => {
    const from = (i: number) => `127.0.9.${1 + (i % addresses)}`;
    await Promise.all(Array.from({ length: requests }, (_, i) => statusFrom(from(i), single.ports.http, name)));
    return rules();
  };
  await expect.poll(() => rulesAfter(1, 60), { timeout: 60_000 }).toContain(`share/${doc.id}`);
  await single.accessLogEntry(await single.get('/', { host: name }));
  expect(await rules()).not.toContain(`off/${doc.id}`);
  await expect.poll(() => rulesAfter(40, 500), { timeout: 60_000 }).toContain(`off/${doc.id}`);
});

test('scripts of one site share a budget, and an IPv6 network a share', async () => {
  const script = 'for i = 1, 19000 do end return deny()';
  const first = await withScript(script, { limitMode: 'pass' });
  const second = await withScript(script, { limitMode: 'pass' });
  const domain = hostDoc(first.site, edge.origin.port, { modules: { luaAcl: second.doc.id } });
  await edge.put(domain);
  // Ten requests of the first script use the share of an address, also for the second.
  const rules = async () => {
    await Promise.all(Array.from({ length: 30 }, () => statusFrom('127.0.9.99', edge.ports.http, first.name)));
    await statusFrom('127.0.9.99', edge.ports.http, domain.name);
    return (await edge.log()).filter(({ host }) => host === domain.name).map(({ rule }) => rule);
  };
  await expect.poll(rules, { timeout: 60_000 }).toContain(`share/${second.doc.id}`);
});

test('networks of a script may have spaces around them', async () => {
  expect(await statusOf('if ipIn("127.0.0.0/8 ") then return deny() end')).toBe(929);
});

test('the longest chains that are accepted run', async () => {
  const logical = `if ${'request.path == "/x" or '.repeat(110)}true then return deny() end`;
  const text = `if ${'"a" .. '.repeat(38)}"a" ~= "" then return deny() end`;
  const sum = `if ${'1 + '.repeat(37)}1 > 2 then return deny() end`;
  for (const script of [logical, text, sum]) expect(await statusOf(script)).toBe(929);
});

test('code that is none of a generator reaches nothing', async () => {
  const hostile = async (code: string) => {
    const doc: LuaAclDoc = {
      kind: 'module',
      id: randomUUID(),
      module: 'luaAcl',
      code,
      deniesAtLimit: true,
      monitor: false,
    };
    await edge.put(doc);
    const { name } = await edge.site({}, { modules: { luaAcl: doc.id } });
    return (await edge.get('/', { host: name })).status;
  };
  expect(await hostile('return function() return os.time() and "allow" end')).toBe(929);
  expect(await hostile('return function() return ngx and "allow" end')).toBe(200);
  expect(await hostile('\u001bLJ\u0002')).toBe(929);
  expect(await hostile('this is no Lua')).toBe(929);
});
