// Servers read unusual spellings of paths differently. A rule must not judge another path than the origin serves. The
// readings here follow RFC 3986 and what servers are known to do, and share nothing with the edge's code.
import { randomUUID } from 'node:crypto';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import { moduleDoc, type ModuleRow } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import { moduleKey, type SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { TokenAuthItem } from '@edgeloom/contract/modules/token-auths.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type * as z from 'zod';
import { isLongRun } from '../support/builders/long-run.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { blockingWaf } from '../support/builders/waf.ts';
import { rule, startEdge, type HostOverrides } from '../support/services/edge.ts';

const edge = await startEdge({ zoneKey: Buffer.alloc(32, 7) });
afterAll(() => edge.stop());

/** RFC 3986 5.2.4, to the letter. */
function removeDotSegments(path: string): string {
  let [input, output] = [path, ''];
  while (input !== '') {
    if (/^\.\.?\//.test(input)) input = input.replace(/^\.\.?\//, '');
    else if (/^\/\.(\/|$)/.test(input)) input = input.replace(/^\/\.(\/|$)/, '/');
    else if (/^\/\.\.(\/|$)/.test(input)) {
      input = input.replace(/^\/\.\.(\/|$)/, '/');
      output = output.replace(/\/?[^/]*$/, '');
    } else if (input === '.' || input === '..') input = '';
    else {
      const segment = /^\/?[^/]*/.exec(input)?.[0] ?? '';
      output += segment;
      input = input.slice(segment.length);
    }
  }
  return output;
}
const decode = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
/** RFC 3986 6.2.2: what is unreserved is the same with and without escapes. Escaped slashes separate nothing. */
const decodeUnreserved = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (escape) => (/[\w.~-]/.test(decode(escape)) ? decode(escape) : escape));
const decodeSegments = (path: string) =>
  path
    .split('/')
    .map((segment) => decode(segment).replaceAll('/', '<slash>'))
    .join('/');
const dropParameters = (path: string) => path.replace(/;[^/]*/g, '');
const mergeSlashes = (path: string) => path.replace(/\/{2,}/g, '/');
const forwardSlashes = (path: string) => path.replaceAll('\\', '/');

type Reader = (raw: string) => string;
const readers: Record<string, Reader> = {
  'as written': decodeSegments,
  'RFC 3986': (raw) => decodeSegments(removeDotSegments(decodeUnreserved(raw))),
  'a browser': (raw) => decodeSegments(new URL(`http://host${raw}`).pathname),
  'decoding first': (raw) => removeDotSegments(decode(raw)),
  'with merged slashes': (raw) => removeDotSegments(mergeSlashes(decode(raw))),
  'merging slashes last': (raw) => mergeSlashes(removeDotSegments(decode(raw))),
  'a servlet container': (raw) => removeDotSegments(mergeSlashes(decode(dropParameters(raw)))),
  'a servlet container that decodes first': (raw) => removeDotSegments(dropParameters(decode(raw))),
  Windows: (raw) => removeDotSegments(mergeSlashes(forwardSlashes(decode(raw)))),
  'a proxy before a server': (raw) => removeDotSegments(decode(removeDotSegments(decode(raw)))),
  'a proxy before a servlet container': (raw) =>
    removeDotSegments(decode(dropParameters(removeDotSegments(decode(raw))))),
};
const readingsOf = (raw: string) => Object.values(readers).map((read) => read(raw));
const isAccount = (raw: string) => readingsOf(raw).some((path) => path.startsWith('/account'));
const isStatic = (raw: string) => readingsOf(raw).every((path) => path.startsWith('/static/'));

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/', '/', '/static/', '/account/', '/account', 'static', 'a.txt', 'x') },
  { weight: 2, arbitrary: fc.constantFrom('..', '.', '/..', '/../', '/./', '//') },
  { weight: 1, arbitrary: fc.constantFrom('%2f', '%2F', '%252f', '\\', '%5c', '%5C', '%255c', '/..;/', '..;x=1') },
  { weight: 1, arbitrary: fc.constantFrom('%2e', '%2e%2e', '.%2E', '%252e%252e', ';', ';v=1', '%3b', '#', '%20') },
  { weight: 1, arbitrary: fc.constantFrom('%61ccount', '/%2561ccount', 'accoun%74', '%73tatic') },
);
const spelling = fc
  .tuple(
    fc.constantFrom('/', '/static/', '/account/', '//', '/static', '/static/x/'),
    fc.array(piece, { maxLength: 6 }),
  )
  .map(([start, pieces]) => start + pieces.join(''));
/** Known to have fooled caches and rules. */
const known = [
  '/account/..%2fstatic/c',
  '/account/%2e%2e/static/c',
  '//account/../static/c',
  '/static/..;/account',
  '/static/..%2faccount',
  '/static/..\\account',
  '/static/%2e%2e%5caccount',
  '/static/%252e%252e/account',
  '/account;v=1',
  '/account%2fc',
  '/static/#/../../account',
];

async function put(row: Omit<ModuleRow, 'id' | 'redirects'>, redirects: ModuleRow['redirects'] = null) {
  const doc = moduleDoc({ ...row, id: randomUUID(), redirects });
  await edge.put(doc);
  return doc.id;
}
const nameOf = async (site: Partial<SiteDoc>, host: HostOverrides = {}) =>
  (await edge.site({ cacheRules: [rule()], ...site }, host)).name;
type AclOptions = Omit<z.input<typeof AclRuleInput>, 'name'>;
const acl = async (...options: AclOptions[]) => {
  const rules = options.map((one) => settled(AclRuleInput.parse({ name: 'Rule', ...one })));
  return nameOf({}, { modules: { acl: await put({ kind: 'acl', settings: { rules } }) } });
};
const script = async (text: string) =>
  nameOf(
    {},
    {
      modules: { luaAcl: await put({ kind: 'luaAcl', settings: { script: text, limitMode: 'deny', monitor: false } }) },
    },
  );
const path = (operator: 'startsWith' | 'notEqual', value: string): AclOptions['conditions'][number] => ({
  field: 'path',
  operator,
  value,
});
const list = async () => {
  const doc = listDoc({ id: randomUUID(), value: [address], expires: [] });
  await edge.put(doc);
  return doc.id;
};
const challenge = (urlRegex: string, mode: number) => ({
  id: randomUUID(),
  urlRegex,
  header: '',
  headerValue: '',
  mode,
  frequency: 0,
  seconds: 300,
  siteRate: 0,
  errorPercent: 0,
  originMs: 0,
  raiseMinutes: 5,
  difficulty: 1,
  passSeconds: 3600,
  monitor: false,
});

type TokenOptions = Partial<z.input<typeof TokenAuthItem>>;
async function token(options: TokenOptions) {
  const id = randomUUID();
  const item = TokenAuthItem.parse({
    parts: [{ name: 'auth', format: '{time}-{sign}' }],
    text: '{path}-{time}-{key}',
    algorithm: 'sha256',
    keys: [{ key: 'first-key-1' }],
    ...options,
  });
  const stored = { ...item, id: randomUUID(), keys: [{ id: randomUUID(), createdAt: new Date(0).toISOString() }] };
  const zoneKey = { id: 'first', key: Buffer.alloc(32) };
  const doc = moduleDoc({ id, kind: 'tokenAuth', settings: { auths: [stored] }, redirects: null }, () => ({
    zoneKey,
    open: () => 'first-key-1',
  }));
  if (doc.module !== 'tokenAuth') throw new Error('another module');
  const keys = [edge.seal('first-key-1', moduleKey(id))];
  await edge.put({ ...doc, auths: doc.auths.map((auth) => ({ ...auth, keys })) });
  return nameOf({}, { modules: { tokenAuth: id } });
}

/** Sites that protect /account, each by another rule. */
const protections: Record<string, () => Promise<string>> = {
  'an access rule': () => acl({ conditions: [path('startsWith', '/account')], action: 'deny' }),
  'a script': () => script('if startsWith(request.path, "/account") then return deny() end'),
  'hotlink protection': () =>
    nameOf(
      {},
      {
        antiReferers: [
          { id: randomUUID(), type: 'prefix', value: ['/account'], isBlack: false, referers: [], allowEmpty: false },
        ],
      },
    ),
  'a token': () => token({ type: 'prefix', value: ['/account'] }),
  'a black list': async () =>
    nameOf({ lists: [{ id: await list(), isBlack: true, urls: [{ path: '/account', prefix: true }] }] }),
  'a challenge': () => nameOf({ antiCCs: [challenge('^/account', 1)] }),
  'a limit': async () => {
    const name = await nameOf({
      frequencies: [
        {
          id: randomUUID(),
          urlRegex: '^/account',
          type: 1,
          header: '',
          status: 929,
          monitor: false,
          seconds: 3600,
          times: 1,
        },
      ],
    });
    await forwarded(name, '/account');
    return name;
  },
  'a rule about user agents': () =>
    nameOf({ userAgents: [{ id: randomUUID(), pattern: '.*', blockType: 0, url: '^/account' }] }),
  'a redirect': async () => {
    const rules = [
      { ...RedirectInput.parse({ type: 'regex', source: '^/account', target: '/login' }), id: randomUUID() },
    ];
    return nameOf({}, { modules: { urlRedirect: await put({ kind: 'urlRedirect', settings: {} }, rules) } });
  },
};
/** Sites that exempt /static/ from what otherwise keeps everybody out. */
const exemptions: Record<string, () => Promise<string>> = {
  'an access rule that allows': () =>
    acl(
      { conditions: [path('startsWith', '/static/')], action: 'allow' },
      { conditions: [path('startsWith', '/')], action: 'deny' },
    ),
  'an access rule about other paths': () => acl({ conditions: [path('notEqual', '/static/x')], action: 'deny' }),
  'a script that allows': () => script('if startsWith(request.path, "/static/") then return allow() end return deny()'),
  'an exception from tokens': () => token({ type: 'all', value: [], except: { type: 'prefix', value: ['/static/'] } }),
  'a white list': async () =>
    nameOf({
      lists: [{ id: await list(), isBlack: false, urls: [{ path: '/static/', prefix: true }] }],
      antiCCs: [challenge('', 1)],
    }),
  'an exemption from challenges': () => nameOf({ antiCCs: [challenge('^/static/', 0), challenge('', 1)] }),
};

// Lists do not concern 127.0.0.1.
const address = '127.0.5.1';
/** The URLs that the origin is asked for. */
async function forwarded(host: string, raw: string): Promise<string[]> {
  const before = edge.origin.requests.length;
  await statusFrom(address, edge.ports.http, host, '127.0.0.1', {}, raw);
  return edge.origin.requests.slice(before).map(({ url }) => url);
}
const forSpellings = (claim: (raw: string) => Promise<void>) =>
  fc.assert(fc.asyncProperty(spelling, claim), {
    numRuns: isLongRun ? 1000 : 60,
    seed: 1,
    examples: known.map((raw): [string] => [raw]),
    endOnFailure: true,
  });

describe.each(Object.entries(protections))('%s', (_, made) => {
  let host: string;
  beforeAll(async () => void (host = await made()));

  test('protects a path in every spelling that some server reads as it', async () => {
    expect([await forwarded(host, '/account/x'), await forwarded(host, '/open')]).toEqual([[], ['/open']]);
    await forSpellings(async (raw) => {
      expect((await forwarded(host, raw)).filter(isAccount)).toEqual([]);
    });
  });
});

describe.each(Object.entries(exemptions))('%s', (_, made) => {
  let host: string;
  beforeAll(async () => void (host = await made()));

  test('exempts only paths that every server reads alike', async () => {
    expect([await forwarded(host, '/x'), await forwarded(host, '/static/x')]).toEqual([[], ['/static/x']]);
    await forSpellings(async (raw) => {
      expect((await forwarded(host, raw)).filter((url) => !isStatic(url))).toEqual([]);
    });
  });
});

test('an exception of the firewall counts only for paths that every server reads alike', async () => {
  const settings = { ...blockingWaf, exceptions: [{ rule: 'sqli', path: '/static/', parameter: null }] };
  const host = await nameOf({}, { modules: { waf: await put({ kind: 'waf', settings }) } });
  const attack = '?id=1%20union%20all%20select%20name,2%20from%20users';
  expect([await forwarded(host, `/x${attack}`), await forwarded(host, `/static/x${attack}`)]).toEqual([
    [],
    [`/static/x${attack}`],
  ]);
  await forSpellings(async (raw) => {
    const urls = (await forwarded(host, raw + attack)).map((url) => url.slice(0, -attack.length));
    expect(urls.filter((url) => !isStatic(url))).toEqual([]);
  });
});

// Regression: the first variant decided if it met an error.
test('an exemption counts only for paths that every server reads alike, also if its test meets an error', async () => {
  const from = 'return from ~= nil or err ~= nil and not rule.is_exempt';
  const to = 'return from ~= nil, "error"';
  const own = await startEdge({ lua: [{ file: 'edge/anti_cc/site_rules.lua', from, to }] });
  onTestFinished(() => own.stop());
  const { name } = await own.site({ antiCCs: [challenge('^/static/', 0), challenge('', 1)] });
  for (const raw of ['/static/x', '/static/..;/account']) {
    await statusFrom(address, own.ports.http, name, '127.0.0.1', {}, raw);
  }
  expect(own.origin.requests.map(({ url }) => url)).toEqual(['/static/x']);
});

test('a limit by URL counts all spellings together', async () => {
  const limit = { urlRegex: '', type: 2, header: '', status: 929, monitor: false, seconds: 3600, times: 1 } as const;
  const host = await nameOf({ frequencies: [{ id: randomUUID(), ...limit }] });
  const spellings = ['/a/b', '/a/b;v=1', '/a/b;v=2', '/a%2fb', '//a/b', '/a;x/b', '/x/..%2fa/b', '/a\\b', '/%2561/b'];
  const counts = [];
  for (const raw of spellings) counts.push((await forwarded(host, raw)).length);
  expect(counts).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await forwarded(host, '/a/c;v=1')).toEqual(['/a/c;v=1']);
});

test('only responses to paths that every server reads alike are stored, and the origin gets paths as written', async () => {
  const host = await nameOf({ cacheRules: [rule({ value: ['/static/'] })] });
  const states = [await edge.get('/static/y', { host }), await edge.get('/static/y', { host })];
  expect(states.map(({ cache }) => cache)).toEqual(['uri-miss', 'hit']);
  await forSpellings(async (raw) => {
    const first = await edge.get(raw, { host });
    expect(first.status === 200 ? first.body : raw).toBe(raw);
    const second = await edge.get(raw, { host });
    expect(second.cache !== 'hit' || (isStatic(raw) && new Set(readingsOf(raw)).size === 1)).toBe(true);
  });
});

const escapeAll = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('');

test('paths with usual escapes are stored', async () => {
  const host = await nameOf({ cacheRules: [rule({ value: ['/static/'] })] });
  const character = fc.constantFrom(...'aZ9-_.~!$&()*+,=:@ "\'[]<>|{}^`é付🙂?');
  const segment = fc.array(character, { minLength: 1, maxLength: 8 }).filter((all) => all[0] !== '.');
  const escaped = fc
    .array(fc.tuple(segment, fc.boolean()), { minLength: 1, maxLength: 3 })
    .map((segments) =>
      segments
        .map(([all, isFull]) => all.map((one) => (isFull ? escapeAll(one) : encodeURIComponent(one))).join(''))
        .join('/'),
    );
  await fc.assert(
    fc.asyncProperty(escaped, async (rest) => {
      const url = `/static/${randomUUID()}/${rest}`;
      expect((await edge.get(url, { host })).body).toBe(url);
      expect((await edge.get(url, { host })).cache).toBe('hit');
    }),
    { numRuns: isLongRun ? 500 : 40, seed: 1 },
  );
});

test('a simulation names the reason why nothing is stored', async () => {
  const host = await nameOf({});
  const { steps } = await simulateRequest(edge, host, '/static/..;/account');
  const why = Object.fromEntries(steps.map(({ step, detail }) => [step, detail['why']]));
  expect(why).toMatchObject({ cache: 'ambiguous', keep: 'ambiguous' });
});

test('a path with more variants than a request may have is refused', async () => {
  const { name } = await edge.site();
  const twisted = `/a;b/..\\c//%2e%2e%252f..;d%255c${'x%25252f..//;\\'.repeat(20)}`;
  expect((await edge.get(twisted, { host: name })).status).toBe(400);
  expect((await edge.get('/api/projects/group%2Fname', { host: name })).body).toBe('/api/projects/group%2Fname');
});
