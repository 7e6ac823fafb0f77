import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput, type AclRule } from '@edgeloom/contract/acl/acl.ts';
import type { PackDoc } from '@edgeloom/contract/edge/documents.ts';
import { encodeGeoPack } from '@edgeloom/contract/edge/geo-pack.ts';
import fc from 'fast-check';
import type * as z from 'zod';
import { afterAll, expect, test } from 'vitest';
import { holds, requestArbitrary, ruleArbitrary, type Visit } from '../support/builders/acl-trees.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

type RuleOptions = Omit<z.input<typeof AclRuleInput>, 'name'>;
const ruleOf = (options: RuleOptions): AclRule => settled(AclRuleInput.parse({ name: 'Rule', ...options }));
const docOf = (rules: AclRule[], id: string = randomUUID()) =>
  moduleDoc({ id, kind: 'acl', settings: { rules }, redirects: null });
async function withRules(...options: RuleOptions[]) {
  const rules = options.map(ruleOf);
  const doc = docOf(rules);
  await edge.put(doc);
  return { rules, doc, ...(await edge.site({}, { modules: { acl: doc.id } })) };
}
type Condition = RuleOptions['conditions'][number];
const when = (
  field: string,
  operator: Condition['operator'],
  value: Condition['value'],
  more: Partial<Condition> = {},
): Condition => ({ field, operator, value, ...more });

test('each action has its response, and the log row names cause and rule', async () => {
  const { name, rules } = await withRules(
    { conditions: [when('path', 'equal', '/deny')], action: 'deny' },
    { conditions: [when('path', 'equal', '/drop')], action: 'drop' },
    { conditions: [when('path', 'startsWith', '/old')], action: 'redirect301', target: '/new' },
    { conditions: [when('path', 'startsWith', '/away')], action: 'redirect302', target: 'https://example.org/' },
    { conditions: [when('path', 'equal', '/loop')], action: 'redirect302', target: '/loop' },
    { conditions: [when('header:x-key', 'equal', 'secret')], action: 'allow' },
    { conditions: [when('path', 'startsWith', '/staff')], action: 'deny' },
  );
  const denied = await edge.get('/deny', { host: name });
  expect(denied.status).toBe(929);
  expect(await edge.accessLogEntry(denied)).toMatchObject({ cause: 'acl', rule: rules[0]?.id });
  await expect(edge.get('/drop', { host: name })).rejects.toThrow(/hang up|ECONNRESET/);
  const dropped = async () => (await edge.log()).find((row) => row['rule'] === rules[1]?.id);
  await expect.poll(dropped).toMatchObject({ status: 444, cause: 'acl' });
  const moved = await edge.get('/old/a', { host: name });
  expect([moved.status, moved.header('location')]).toEqual([301, '/new']);
  expect((await edge.get('/away', { host: name })).header('location')).toBe('https://example.org/');
  expect((await edge.get('/loop', { host: name })).status).toBe(200);
  expect((await edge.get('/staff', { host: name })).status).toBe(929);
  expect((await edge.get('/staff', { host: name, headers: { 'X-Key': 'secret' } })).status).toBe(200);
});

test('a rule in monitor mode only logs, and a later rule still decides', async () => {
  const { name, rules } = await withRules(
    { conditions: [when('path', 'startsWith', '/')], action: 'deny', monitor: true },
    { conditions: [when('path', 'equal', '/b')], action: 'deny' },
  );
  const passed = await edge.get('/a', { host: name });
  expect(passed.status).toBe(200);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'acl', rule: `monitor/${rules[0]?.id}` });
  expect((await edge.get('/b', { host: name })).status).toBe(929);
});

test("paths are nginx's normalized ones", async () => {
  const { name } = await withRules({ conditions: [when('path', 'startsWith', '/admin')], action: 'deny' });
  for (const path of ['/admin', '/a/../admin', '/%61dmin', '//admin', '/./admin/x', '/x/%2e%2e/admin'])
    expect([path, (await edge.get(path, { host: name })).status]).toEqual([path, 929]);
  expect((await edge.get('/admi', { host: name })).status).toBe(200);
});

test('forwarding headers of a visitor do not change the address', async () => {
  const { name } = await withRules({ conditions: [when('ip', 'in', ['203.0.113.0/24'])], action: 'deny' });
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Real-IP': '203.0.113.9', Forwarded: 'for=203.0.113.9' };
  expect((await edge.get('/', { host: name, headers })).status).toBe(200);
});

test('5,000 networks are looked up', async () => {
  const networks = Array.from({ length: 4999 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
  const { name } = await withRules({ conditions: [when('ip', 'in', [...networks, '127.0.0.0/8'])], action: 'deny' });
  expect((await edge.get('/', { host: name })).status).toBe(929);
});

test('a short body is compared, and a longer one counts as the rule declares', async () => {
  const rule: RuleOptions = { conditions: [when('bodyText', 'contains', 'attack')], action: 'deny' };
  const { name } = await withRules(rule);
  const { name: strict } = await withRules({ ...rule, limitMode: 'match' });
  const post = (host: string, body: string) => edge.get('/', { host, method: 'POST', body });
  expect((await post(name, 'an attack')).status).toBe(929);
  expect((await post(name, 'nothing')).status).toBe(200);
  expect((await post(name, `${'x'.repeat(60_000)}attack`)).status).toBe(929);
  const long = `attack${'x'.repeat(70_000)}`;
  expect([(await post(name, long)).status, (await post(strict, long)).status]).toEqual([200, 929]);
  expect(edge.origin.requests.at(-1)?.method).toBe('POST');
});

test('bodies of HTTP/2 without Content-Length are not empty', async () => {
  const rule: RuleOptions = { conditions: [when('bodyText', 'contains', 'attack')], action: 'deny' };
  const { name } = await withRules(rule);
  const { name: strict } = await withRules({ ...rule, limitMode: 'match' });
  const send = async (host: string, method: string, body: string) => {
    const session = connect(`https://127.0.0.1:${edge.ports.https}`, { rejectUnauthorized: false, servername: host });
    const stream = session.request({ ':method': method, ':path': '/', ':authority': host }, { endStream: false });
    stream.end(body);
    const [headers] = await once(stream, 'response');
    session.destroy();
    return headers[':status'];
  };
  // Its length is unknown, so it counts as the rule declares. Once, it was an empty text.
  expect([await send(name, 'POST', 'attack'), await send(strict, 'POST', 'nothing')]).toEqual([200, 929]);
  // The origin does not see a body that the rules do not see.
  expect(await send(strict, 'GET', 'attack')).toBe(200);
  expect(edge.origin.requests.at(-1)).toMatchObject({ method: 'GET', body: '' });
});

test('a skipped redirect leaves the decision to later rules, and only the same URL is skipped', async () => {
  const { name } = await withRules(
    { conditions: [when('path', 'equal', '/a')], action: 'redirect302', target: '/a' },
    { conditions: [when('path', 'equal', '/a')], action: 'deny' },
    { conditions: [when('path', 'equal', '/b')], action: 'redirect302', target: 'https://example.org/b' },
    { conditions: [when('path', 'equal', '/c')], action: 'redirect302', target: '/c?x=1' },
  );
  const visit = async (path: string) => {
    const reply = await edge.get(path, { host: name });
    return [reply.status, reply.header('location')];
  };
  expect(await visit('/a')).toEqual([929, undefined]);
  expect(await visit('/a?x')).toEqual([302, '/a']);
  expect(await visit('/b')).toEqual([302, 'https://example.org/b']);
  expect(await visit('/c')).toEqual([302, '/c?x=1']);
  expect(await visit('/c?x=1')).toEqual([200, undefined]);
});

test('IPv4 addresses in IPv6 are IPv4, in lists and in requests', async () => {
  const denied = await withRules({ conditions: [when('ip', 'in', ['192.0.2.0/24'])], action: 'deny' });
  const mapped = await withRules({ conditions: [when('ip', 'in', ['::ffff:192.0.2.0/120'])], action: 'deny' });
  const decisionFor = async (name: string, ip: string) => {
    const { steps } = await simulateRequest(edge, name, '/', { ip });
    return steps.find(({ step }) => step === 'acl')?.decision;
  };
  for (const { name } of [denied, mapped])
    for (const ip of ['192.0.2.7', '::ffff:192.0.2.7', '64:ff9b::192.0.2.7'])
      expect([ip, await decisionFor(name, ip)]).toEqual([ip, 'refused']);
  expect(await decisionFor(denied.name, '::ffff:192.0.3.7')).not.toBe('refused');
});

test('stored conditions that ignore the case of addresses and numbers compare them', async () => {
  const rule = ruleOf({ conditions: [when('ip', 'in', ['127.0.0.0/8']), when('port', 'greater', 1)], action: 'deny' });
  const doc = docOf([{ ...rule, conditions: rule.conditions.map((each) => ({ ...each, ignoreCase: true })) }]);
  await edge.put(doc);
  const { name } = await edge.site({}, { modules: { acl: doc.id } });
  expect((await edge.get('/', { host: name })).status).toBe(929);
  const refused = AclRuleInput.safeParse({
    name: 'Rule',
    conditions: [when('port', 'greater', 1, { ignoreCase: true })],
    action: 'deny',
  });
  expect(refused.error?.issues).toMatchObject([{ path: ['conditions', 0, 'ignoreCase'], message: 'not allowed' }]);
});

test('a pattern at its match limit counts as the rule declares', async () => {
  const conditions = [when('cookie:c', 'matches', '^.*.*.*.*=[0-9]$')];
  const { name } = await withRules({ conditions, action: 'deny' });
  const { name: lenient } = await withRules({ conditions, action: 'deny', limitMode: 'noMatch' });
  const headers = { Cookie: `c=${'ab '.repeat(1200)}x` };
  expect((await edge.get('/', { host: name, headers })).status).toBe(929);
  expect((await edge.get('/', { host: lenient, headers })).status).toBe(200);
  expect((await edge.counters())['aclLimited']).toBeGreaterThan(0);
});

test('rules beyond the budget of a request count as they declare, and the log row says so', async () => {
  const slow = (limitMode: 'match' | 'noMatch'): RuleOptions => ({
    conditions: Array.from({ length: 50 }, (_, i) => when('cookie:c', 'matches', `a.*b.*${i}`)),
    action: 'deny',
    limitMode,
  });
  const part = `${'a'.repeat(1000)}b`;
  const long: RuleOptions = {
    conditions: Array.from({ length: 20 }, () => when('arg:a', 'contains', part, { join: 'or' })),
    action: 'deny',
  };
  const last: RuleOptions = { conditions: [when('path', 'equal', '/')], action: 'deny', limitMode: 'noMatch' };
  // Once, each of these held a worker for seconds.
  const Cookie = `c=${'a'.repeat(8000)}`;
  const passing = await withRules(...Array.from({ length: 60 }, () => slow('noMatch')), last);
  const refusing = await withRules(slow('noMatch'), slow('match'));
  const repeated = await withRules({ ...long, limitMode: 'match' });
  const before = (await edge.counters())['aclOver'] ?? 0;
  const passed = await edge.get('/', { host: passing.name, headers: { Cookie } });
  const refused = await edge.get('/', { host: refusing.name, headers: { Cookie } });
  const args = `/?${Array.from({ length: 12 }, () => `a=${'a'.repeat(1100)}`).join('&')}`;
  const counted = await edge.get(args, { host: repeated.name });
  expect([passed.status, refused.status, counted.status]).toEqual([200, 929, 929]);
  const possible = passing.rules.map(({ id }) => `over/${id}`);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'acl', rule: expect.toBeOneOf(possible) });
  expect(await edge.accessLogEntry(refused)).toMatchObject({ cause: 'acl', rule: `over/${refusing.rules[1]?.id}` });
  expect((await edge.counters())['aclOver']).toBeGreaterThan(before);
  // Short cookies stay within the budget.
  expect((await edge.get('/', { host: passing.name, headers: { Cookie: 'c=ab' } })).status).toBe(929);
});

test('a pattern finds the same in long texts, at each place', async () => {
  const { name } = await withRules({ conditions: [when('bodyText', 'matches', 'x+y$|^start')], action: 'deny' });
  const status = async (body: string) => (await edge.get('/', { host: name, method: 'POST', body })).status;
  for (const size of [0, 1, 255, 256, 257, 4096, 4097, 5119, 60_000]) {
    expect([size, await status(`${'-'.repeat(size)}xy`)]).toEqual([size, 929]);
    expect([size, await status(`${'-'.repeat(size)}x`)]).toEqual([size, 200]);
  }
  expect(await status(`start${'-'.repeat(9000)}`)).toBe(929);
  expect(await status(`${'-'.repeat(9000)}start`)).toBe(200);
});

test('a cookie header of spaces is read in linear time', async () => {
  const { name } = await withRules({ conditions: [when('cookie:a', 'equal', 'b')], action: 'deny' });
  const headers = { Cookie: `${' '.repeat(6000)}; a=b` };
  expect((await edge.get('/', { host: name, headers })).status).toBe(929);
});

test('random condition trees are evaluated as by an independent evaluator', { timeout: 900_000 }, async () => {
  const RULES = 10;
  const id = randomUUID();
  await edge.put(docOf([], id));
  const { name } = await edge.site({}, { modules: { acl: id } });
  let comparisons = 0;
  const ask = async (visit: Visit, rules: readonly AclRule[]) => {
    const { method, path, headers } = visit;
    const reply = await edge.get(path, { host: name, method, headers });
    const expected = rules.findIndex((rule) => holds(rule, { ...visit, host: name, port: edge.ports.http }));
    comparisons += expected === -1 ? rules.length : expected + 1;
    const found = reply.status === 302 ? Number(reply.header('location')?.slice('/rule/'.length)) : -1;
    if (found !== expected)
      throw new Error(
        `edge ${found} (${reply.status}), expected ${expected}: ${JSON.stringify([visit, rules[found], rules[expected]])}`,
      );
  };
  const rulesArbitrary = fc.array(ruleArbitrary, { minLength: RULES, maxLength: RULES });
  await fc.assert(
    fc.asyncProperty(
      rulesArbitrary,
      fc.array(requestArbitrary, { minLength: 16, maxLength: 16 }),
      async (inputs, visits) => {
        const rules = inputs.map((input, i) =>
          ruleOf({ ...input, action: 'redirect302', target: `/rule/${i}`, limitMode: 'noMatch' }),
        );
        await edge.put(docOf(rules, id));
        for (const visit of visits) await ask(visit, rules);
      },
    ),
    { numRuns: isLongRun ? 4000 : 60, seed: 19, endOnFailure: true },
  );
  expect(comparisons).toBeGreaterThan(isLongRun ? 100_000 : 1000);
});

test('places and networks of addresses are fields, and unknown without a pack', async () => {
  const denied = (conditions: RuleOptions['conditions']) => withRules({ conditions, action: 'deny' });
  const conditions = [
    [when('country', 'in', ['tw', 'jp'])],
    [when('continent', 'equal', 'AS')],
    [when('isp', 'contains', 'hinet', { ignoreCase: true })],
    [when('asn', 'equal', 3462)],
  ];
  const hosts: string[] = [];
  for (const one of conditions) hosts.push((await denied(one)).name);
  const { name: unknown } = await denied([when('province', 'notEqual', 'TW-TPE')]);
  const statuses = () => Promise.all(hosts.map(async (host) => (await edge.get('/', { host })).status));
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  const range = { high: [0, 0x7f00_0000, 0x8000_0000], low: [], index: [0, 1, 0] };
  const none = { high: [], low: [], index: [] };
  const file = encodeGeoPack({
    places: [
      { country: '', continent: '', province: '' },
      { country: 'TW', continent: 'AS', province: '' },
    ],
    networks: [
      { asn: 0, isp: '' },
      { asn: 3462, isp: 'HiNet' },
    ],
    place: { 4: range, 6: none },
    network: { 4: range, 6: none },
  });
  const version = randomUUID();
  const part: PackDoc = { kind: 'pack', id: 'geo.0', version, data: file.toString('base64') };
  await edge.put(part, { kind: 'pack', id: 'geo', version, parts: 1 });
  expect(await statuses()).toEqual([929, 929, 929, 929]);
  expect((await edge.get('/', { host: unknown })).status).toBe(929);
});
