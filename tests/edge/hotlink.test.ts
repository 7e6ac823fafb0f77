import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { antiHeaderDocs, antiRefererDocs } from '@edgeloom/api/compile/hotlink.ts';
import type { AntiHeaderDoc, AntiRefererDoc } from '@edgeloom/contract/edge/documents.ts';
import { AntiHeaderInput, AntiRefererInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const refererRule = (over: Partial<AntiRefererDoc> = {}): AntiRefererDoc => ({
  id: randomUUID(),
  type: 'all',
  value: [],
  isBlack: false,
  referers: [],
  allowEmpty: true,
  ...over,
});
const headerRule = (over: Partial<AntiHeaderDoc> = {}): AntiHeaderDoc => ({
  id: randomUUID(),
  name: 'x-robot',
  operator: 'exists',
  value: '',
  action: 'deny' as const,
  ...over,
});
const protectedBy = (...antiReferers: AntiRefererDoc[]) => edge.site({ cacheRules: [rule()] }, { antiReferers });

async function statuses(host: string, path: string, ...referers: (string | undefined)[]): Promise<number[]> {
  const found = [];
  for (const referer of referers)
    found.push((await edge.get(path, { host, ...(referer !== undefined && { headers: { referer } }) })).status);
  return found;
}

describe('anti-referer', () => {
  test('an allow list permits its hosts and the domain itself, and answers 403 to others before origin and cache', async () => {
    const { name, host } = await protectedBy(
      refererRule({ referers: ['friend.example', '*.one.example', '**.any.example'] }),
    );
    const ok = [
      `http://${name}/page`,
      'https://friend.example',
      'https://FRIEND.example:8443/x?y#z',
      'https://friend.example./',
      'https://a.one.example/',
      'https://a.any.example/',
      'https://a.b.any.example/',
    ];
    expect(await statuses(name, '/white', ...ok)).toEqual(ok.map(() => 200));
    const bad = [
      'https://thief.example/',
      'https://notfriend.example/',
      'https://friend.example.thief.example/',
      'https://friend.example@thief.example/',
      'https://thief.example\\@friend.example/',
      'https://one.example/',
      'https://a.b.one.example/',
      'https://any.example/',
      `https://${'a.'.repeat(400)}any.example/`,
    ];
    const before = edge.origin.asked('/white').length;
    expect(await statuses(name, '/white', ...bad)).toEqual(bad.map(() => 403));
    expect(edge.origin.asked('/white')).toHaveLength(before);
    expect(host.antiReferers).toHaveLength(1);
  });

  test('a block list denies its hosts only', async () => {
    const { name } = await protectedBy(refererRule({ isBlack: true, referers: ['**.thief.example', 'thief.example'] }));
    const asked = ['https://thief.example/', 'https://x.thief.example', 'https://other.example', undefined, ''];
    expect(await statuses(name, '/black', ...asked)).toEqual([403, 403, 200, 200, 200]);
  });

  test('an empty referer is allowed only where configured', async () => {
    const { name } = await protectedBy(refererRule({ allowEmpty: false, referers: ['friend.example'] }));
    const asked = [undefined, '', 'about:blank', 'android-app://x', 'https://', 'https://friend.example'];
    expect(await statuses(name, '/empty', ...asked)).toEqual([403, 403, 403, 403, 403, 200]);
  });

  test('the first rule with a matching path decides', async () => {
    const { name } = await protectedBy(
      refererRule({ type: 'prefix', value: ['/public/'], isBlack: true, referers: ['nobody.example'] }),
      refererRule({ type: 'fileType', value: ['mp4'] }),
      refererRule({ type: 'regex', value: ['^/v[0-9]+/'] }),
      refererRule({ type: 'url', value: ['/exact'] }),
    );
    const answers: Record<string, number> = {};
    for (const path of ['/public/a.mp4', '/a.MP4', '/%61.mp4?x=1', '/x/../v1/a', '/v/a', '/exact', '/exact/'])
      answers[path] = (await edge.get(path, { host: name, headers: { referer: 'https://thief.example/' } })).status;
    expect(answers).toEqual({
      '/public/a.mp4': 200,
      '/a.MP4': 403,
      '/%61.mp4?x=1': 403,
      '/x/../v1/a': 403,
      '/v/a': 200,
      '/exact': 403,
      '/exact/': 200,
    });
  });

  test('cached responses are protected, too', async () => {
    const { name } = await protectedBy(refererRule());
    await edge.get('/stored', { host: name });
    expect((await edge.get('/stored', { host: name })).cache).toBe('hit');
    expect(await statuses(name, '/stored', 'https://thief.example/', undefined)).toEqual([403, 200]);
  });

  test('a denial is not cacheable, and the log names the rule', async () => {
    const guard = refererRule();
    const { name } = await protectedBy(guard);
    const refused = await edge.get('/no', { host: name, headers: { referer: 'https://thief.example/' } });
    expect(refused.header('cache-control')).toBe('no-store');
    expect(refused.body).toContain('403 Forbidden');
    expect(await edge.accessLogEntry(refused)).toMatchObject({ status: 403, cause: 'antiReferer', rule: guard.id });
    expect(await edge.accessLogEntry(await edge.get('/yes', { host: name }))).toMatchObject({
      status: 200,
      cause: '',
      rule: '',
    });
  });

  test('a redirect target is exempt from the rule', async () => {
    const { name } = await edge.site({}, { name: 'looped.example.com' });
    const made = { isBlack: false, action: 'redirect' as const, target: `http://${name}/a%20b//no.png?why=1` };
    const [row] = [{ ...AntiRefererInput.parse(made), id: randomUUID() }];
    const { site, host } = await edge.site({}, { name: 'looped.example.com', ...antiRefererDocs([row]) });
    expect(host.siteID).toBe(site.id);
    const headers = { referer: 'https://thief.example/' };
    const sent = await edge.get('/movie', { host: name, headers });
    expect([sent.status, sent.header('location'), sent.header('cache-control')]).toEqual([
      302,
      made.target,
      'no-store',
    ]);
    expect(await edge.accessLogEntry(sent)).toMatchObject({ status: 302, cause: 'antiReferer', rule: row.id });
    for (const path of ['/a%20b//no.png?why=1', '/a%20b/no.png'])
      expect((await edge.get(path, { host: name, headers })).status).toBe(200);
    expect((await edge.get('/a%20b/no.png/', { host: name, headers })).status).toBe(302);
  });

  test("a path that hits a pattern's match limit counts as matching", async () => {
    const { name } = await protectedBy(refererRule({ type: 'regex', value: ['^/(a+)+$'] }));
    expect(await statuses(name, `/${'a'.repeat(60)}!`, 'https://thief.example/', undefined)).toEqual([403, 200]);
  });

  test('changed rules apply to the next request', async () => {
    const { name, host } = await protectedBy(refererRule());
    expect(await statuses(name, '/change', 'https://thief.example/')).toEqual([403]);
    await edge.put({ ...host, antiReferers: [refererRule({ referers: ['thief.example'] })] });
    expect(await statuses(name, '/change', 'https://thief.example/')).toEqual([200]);
    const { antiReferers, ...bare } = host;
    expect(antiReferers).toHaveLength(1);
    await edge.put(bare);
    expect(await statuses(name, '/change', 'https://other.example/')).toEqual([200]);
  });
});

describe('anti-header', () => {
  const guarded = async (over: Partial<AntiHeaderDoc>) => (await edge.site({ antiHeaders: [headerRule(over)] })).name;
  const ask = async (host: string, value?: string | string[]) =>
    (await edge.get('/h', { host, ...(value !== undefined && { headers: { 'X-Robot': value } }) })).status;

  test.each<[AntiHeaderDoc['operator'], string, (string | string[] | undefined)[], (string | string[] | undefined)[]]>([
    ['exists', '', ['', 'a'], [undefined]],
    ['absent', '', [undefined], ['', 'a']],
    ['equal', 'a b', ['a b', ['x', 'a b']], [undefined, 'A b', 'a bc']],
    ['notEqual', 'key', [undefined, 'Key', 'keys', ''], ['key', ['x', 'key']]],
    ['contains', '%d(', ['x%d(y', '%d('], [undefined, 'x1(', '']],
    ['startsWith', 'ab', ['ab', 'abc'], [undefined, 'a', 'cab']],
    ['matches', '^b[0-9]+$', ['b12', ['x', 'b1']], [undefined, 'b', 'b12x']],
  ])('%s %j', async (operator, value, refused, served) => {
    const host = await guarded({ operator, value });
    expect(await Promise.all(refused.map((one) => ask(host, one)))).toEqual(refused.map(() => 403));
    expect(await Promise.all(served.map((one) => ask(host, one)))).toEqual(served.map(() => 200));
  });

  test('a header is found behind a hundred others', async () => {
    const host = await guarded({});
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1']));
    expect((await edge.get('/h', { host, headers: { ...many, 'x-robot': '1' } })).status).toBe(403);
  });

  test("a value that hits a pattern's match limit is denied", async () => {
    const host = await guarded({ operator: 'matches', value: '^(a+)+$' });
    expect(await ask(host, `${'a'.repeat(60)}!`)).toBe(403);
  });

  test('drop closes the connection without a response and is logged as 444', async () => {
    const drop = headerRule({ action: 'drop' });
    const { name } = await edge.site({ antiHeaders: [drop] });
    await expect(edge.get('/dropped', { host: name, headers: { 'x-robot': '1' } })).rejects.toThrow(
      /hang up|ECONNRESET/,
    );
    await eventually(async () => {
      const row = (await edge.log()).find(({ uri }) => uri === '/dropped');
      expect(row).toMatchObject({ status: 444, cause: 'antiHeader', rule: drop.id });
    });
  });

  test("the site's rules precede the domain's", async () => {
    const [ofSite, ofHost] = [headerRule(), headerRule({ action: 'drop' })];
    const both = await edge.site({ antiHeaders: [ofSite] }, { antiHeaders: [ofHost, headerRule({ name: 'x-other' })] });
    const refused = await edge.get('/h', { host: both.name, headers: { 'x-robot': '1' } });
    expect(await edge.accessLogEntry(refused)).toMatchObject({ status: 403, rule: ofSite.id });
    expect((await edge.get('/h', { host: both.name, headers: { 'x-other': '1' } })).status).toBe(403);
  });
});

test('no text of any field breaks a document, a response or the log', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.stringMatching(/^[ -~]{1,60}$/),
    fc.constantFrom('"}{"', '%00', '\u0000', '\r\nX-Evil: 1', '${host}', "');os.exit()--", '\u2028', '\ud800', '%1%z'),
  );
  // Mostly valid input, or hardly any rule would be accepted.
  const or = (good: fc.Arbitrary<string>) => fc.oneof({ weight: 9, arbitrary: good }, text);
  const paths = fc.oneof(
    fc.constant({ type: 'all', value: [] }),
    fc.record({ type: fc.constant('fileType'), value: fc.array(or(fc.constant('css')), { maxLength: 2 }) }),
    fc.record({
      type: fc.constantFrom('url', 'prefix'),
      value: fc.array(or(text.map((part) => `/${part}`)), { maxLength: 2 }),
    }),
    fc.record({ type: fc.constant('regex'), value: fc.tuple(text) }),
  );
  const target = or(text.map((part) => `https://a.example/${encodeURI(part.toWellFormed())}`));
  const referers = fc
    .record({
      isBlack: fc.boolean(),
      referers: fc.array(or(fc.domain()), { maxLength: 3 }),
      allowEmpty: fc.boolean(),
      action: fc.constantFrom('deny', 'redirect'),
      target,
      paths,
    })
    .map(({ paths: about, ...rest }) => ({ ...rest, ...about }));
  const headers = fc.record({
    name: or(fc.constant('X-Robot')),
    operator: fc.constantFrom('equal', 'notEqual', 'contains', 'startsWith', 'matches'),
    value: text,
  });
  const taken = { referers: 0, headers: 0 };
  const { site, host } = await edge.site();
  await fc.assert(
    fc.asyncProperty(referers, headers, async (referer, header) => {
      const [a, b] = [AntiRefererInput.safeParse(referer), AntiHeaderInput.safeParse(header)];
      if (!a.success && !b.success) return;
      taken.referers += a.success ? 1 : 0;
      taken.headers += b.success ? 1 : 0;
      await edge.put(
        { ...site, ...antiHeaderDocs(b.data ? [{ ...b.data, id: site.id }] : []) },
        { ...host, ...antiRefererDocs(a.data ? [{ ...a.data, id: host.domainID }] : []) },
      );
      const ask = { host: host.name, headers: { referer: 'https://x.example/', 'x-robot': 'b' } };
      const reply = await edge.get('/any.css', ask);
      expect([200, 302, 403]).toContain(reply.status);
      expect(reply.header('x-evil')).toBeUndefined();
      expect(reply.header('location')).toBe(reply.status === 302 ? a.data?.target : undefined);
    }),
    { numRuns: isLongRun ? 300 : 75, seed: 1 },
  );
  // Enough rules were accepted for the test to be meaningful.
  expect(Math.min(taken.referers, taken.headers)).toBeGreaterThan(10);
  // Finding the last entry parses every line.
  await edge.accessLogEntry(await edge.get('/last.css', { host: host.name }));
  const errors = await edge.errors();
  expect(errors.split('\n').filter((line) => /antiReferer|antiHeader|is refused/.test(line))).toEqual([]);
});
