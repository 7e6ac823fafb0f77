// The work for one request line is bounded, whatever its path is. It is counted, not timed.
import { randomUUID } from 'node:crypto';
import { moduleDoc, type ModuleRow } from '@edgeloom/api/compile/module.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { RewriteRule } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { TokenAuthItem } from '@edgeloom/contract/modules/token-auths.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { isLongRun } from '../support/builders/long-run.ts';
import { startEdge } from '../support/services/edge.ts';

const NAMES = ['patternRuns', 'variants', 'readBytes', 'alignments', 'alignedKB'] as const;
const count = (name: (typeof NAMES)[number], amount: string) =>
  `require("edge.core.dicts").changes:incr("count:${name}", ${amount}, 0)`;
const edge = await startEdge({
  zoneKey: Buffer.alloc(32, 7),
  lua: [
    {
      file: 'edge/core/counters.lua',
      from: 'local names = {',
      to: `local names = { ${NAMES.map((name) => `"${name}"`).join(', ')},`,
    },
    {
      file: 'edge/core/path_variants.lua',
      from: 'local text = apply(STEPS[i], list[at])',
      to: `${count('readBytes', '#list[at]')} local text = apply(STEPS[i], list[at])`,
    },
    {
      file: 'edge/core/path_variants.lua',
      from: 'local list = { request.path,',
      to: `${count('variants', '1')} local list = { request.path,`,
    },
    {
      file: 'edge/plugins/url_redirect.lua',
      from: 'local captures, err = patterns.match(',
      to: `${count('patternRuns', '1')} local captures, err = patterns.match(`,
    },
    {
      file: 'edge/core/spelling.lua',
      from: 'return text and aligned(text)',
      to: `collectgarbage("stop")
      local before, read = collectgarbage("count"), text and aligned(text)
      ${count('alignments', '1')} ${count('alignedKB', 'collectgarbage("count") - before')}
      collectgarbage("restart")
      return read`,
    },
  ],
});
afterAll(() => edge.stop());

/** The status, the Location, and the counted work on hop A and, for a request that is served, on hop B. */
async function visit(host: string, path: string) {
  const before = await edge.counters();
  const reply = await edge.get(path, { host });
  const after = await edge.counters();
  const counted = (name: (typeof NAMES)[number]) => (after[name] ?? 0) - (before[name] ?? 0);
  return {
    status: reply.status,
    location: reply.header('location'),
    patternRuns: counted('patternRuns'),
    variants: counted('variants'),
    readBytes: counted('readBytes'),
    alignments: counted('alignments'),
    alignedKB: counted('alignedKB'),
  };
}

async function put(row: Omit<ModuleRow, 'id' | 'redirects'>, redirects: ModuleRow['redirects'] = null) {
  const doc = moduleDoc({ ...row, id: randomUUID(), redirects });
  await edge.put(doc);
  return doc.id;
}

/** nginx takes request lines up to 16 kB. */
const LONGEST = 16_300;
const filled = (start: string, piece: string, end = '') =>
  start + piece.repeat(Math.floor((LONGEST - start.length - end.length) / piece.length)) + end;
/** A path with this has more than ten variants. */
const VARIED = '%252f;v//%255c..;w';
/** Six steps over 64 kB of texts, and a little more on each hop. */
const MOST_BYTES_READ = 6 * 65_536;

const piece = fc.constantFrom(
  '/',
  '//',
  'a',
  '%25',
  '25',
  '%252f',
  '%2f',
  '%3b',
  ';',
  ';a',
  '/..',
  '/.',
  '%2e',
  '\\',
  '%5c',
  '%255c',
  '%41',
  '#',
);

describe('the path variants of a request line', () => {
  let host: string;
  beforeAll(async () => void ({ name: host } = await edge.site()));

  test.each<[string, string]>([
    ['escapes of escapes', filled('/%', '25')],
    ['escapes of escapes of a slash', filled('/%', '25', '2f')],
    ['escapes that nginx removes', filled('/', '%3b%2f%255c', '/..')],
    ['escapes of escapes that nginx removes', filled('/', 'a%25255c%2fb', '/..')],
    ['slashes', filled('/', '/')],
    ['backslashes', filled('/', '\\')],
    ['dot segments', filled('/', './')],
    ['parameters', filled('/', ';/')],
    ['escaped letters after a parameter', filled('/;', '%41')],
    ['everything', filled('/a;b/..\\c//%2e%2e%252f..;d%255c', 'x%25252f..//;\\')],
  ])('are found in bounded work: %s', async (_, path) => {
    const { status, variants, readBytes } = await visit(host, path);
    expect(variants).toBeLessThanOrEqual(status === 400 ? 1 : 2);
    expect(readBytes).toBeLessThanOrEqual(MOST_BYTES_READ * variants);
  });

  test('are found in bounded work for any path', async () => {
    const pieces = fc.array(piece, { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
    const size = fc.constantFrom(100, 1000, 2000, 4000, 8000, LONGEST);
    await fc.assert(
      fc.asyncProperty(pieces, pieces, pieces, size, async (start, repeated, end, length) => {
        const path = `${`/${start}${repeated.repeat(length / repeated.length)}`.slice(0, length)}${end}`;
        const { variants, readBytes } = await visit(host, path);
        expect(readBytes).toBeLessThanOrEqual(MOST_BYTES_READ * variants);
      }),
      { numRuns: isLongRun ? 500 : 40, seed: 1 },
    );
  });

  test('are found once, however many entries for tokens there are', async () => {
    const id = randomUUID();
    const entry = (options: Partial<z.input<typeof TokenAuthItem>>) => ({
      ...TokenAuthItem.parse({
        type: 'prefix',
        parts: [{ name: 'auth', format: '{time}-{sign}' }],
        text: '{path}-{time}-{key}',
        algorithm: 'sha256',
        keys: [{ key: 'first-key-1' }],
        ...options,
      }),
      id: randomUUID(),
      keys: [{ id: randomUUID(), createdAt: new Date(0).toISOString() }],
    });
    const parts = [{ format: '{time}-{sign}' }];
    const auths = [
      ...['/1', '/2', '/3'].map((path) => entry({ value: [path] })),
      ...['/4', '/5', '/6'].map((path) => entry({ value: [path], place: 'path', parts })),
      entry({ value: ['/account'] }),
    ];
    const zoneKey = { id: 'first', key: Buffer.alloc(32) };
    const doc = moduleDoc({ id, kind: 'tokenAuth', settings: { auths }, redirects: null }, () => ({
      zoneKey,
      open: () => 'first-key-1',
    }));
    if (doc.module !== 'tokenAuth') throw new Error('another module');
    const keys = [edge.seal('first-key-1', moduleKey(id))];
    await edge.put({ ...doc, auths: doc.auths.map((auth) => ({ ...auth, keys })) });
    const { name } = await edge.site({}, { modules: { tokenAuth: id } });
    expect(await visit(name, '/account/1;v=1')).toMatchObject({ status: 403, variants: 1 });
    expect(await visit(name, '/account/%252f')).toMatchObject({ status: 403, variants: 1 });
  });
});

describe('the spelling of a path', () => {
  const redirects = ['/bare', '/kept', '/spelled'].map((source) => ({
    ...RedirectInput.parse({
      type: source === '/spelled' ? 'regex' : 'prefix',
      source: source === '/spelled' ? '^/spelled/(.*)/(.*)$' : source,
      target: source === '/spelled' ? 'https://other.example.com/$1/$2' : 'https://other.example.com',
      keepRest: source === '/kept',
    }),
    id: randomUUID(),
  }));
  let host: string;
  beforeAll(async () => {
    const urlRedirect = await put({ kind: 'urlRedirect', settings: {} }, redirects);
    const rules = [RewriteRule.parse({ type: 'prefix', source: '/rewritten', target: '/new' })];
    const proxyRewrite = await put({ kind: 'proxyRewrite', settings: { rules } });
    ({ name: host } = await edge.site({}, { modules: { urlRedirect, proxyRewrite } }));
  });

  test.each<[string, number, number]>([
    ['/unmatched/%252f;v=1//x%20y', 200, 0],
    ['/bare/%252f;v=1//x%20y', 301, 0],
    ['/kept/%252f;v=1//x%20y', 301, 1],
    ['/spelled/%252f;v=1//x%20y', 301, 1],
    ['/x/..%252fkept/%252f;v=1//x%20y', 301, 1],
    ['/rewritten/x%20y', 200, 1],
  ])('of %s is read only for a rule that needs it, and once', async (path, status, alignments) => {
    expect(await visit(host, path)).toMatchObject({ status, alignments });
  });

  test('with many doubled slashes is not copied for each of them', async () => {
    const slashes = '/'.repeat(16_000);
    const { location, alignments, alignedKB } = await visit(host, `/kept${slashes}`);
    expect([location, alignments]).toEqual([`https://other.example.com${slashes}`, 1]);
    expect(alignedKB).toBeLessThan(2048);
  });
});

describe('the patterns of a hundred without a fixed start', () => {
  const redirect = (type: 'prefix' | 'regex', source: string, target: string) => ({
    ...RedirectInput.parse({ type, source, target, priority: source.includes('other') ? 1 : 2 }),
    id: randomUUID(),
  });
  async function hostOf(...redirects: ReturnType<typeof redirect>[]) {
    const patterns = redirects.filter(({ type }) => type === 'regex');
    const others = Array.from({ length: 100 - patterns.length }, (_, i) => redirect('regex', `^.*/other${i}$`, '/'));
    const urlRedirect = await put({ kind: 'urlRedirect', settings: {} }, [...others, ...redirects]);
    return (await edge.site({}, { modules: { urlRedirect } })).name;
  }

  // Regression: two hundred were run, which are two hops.
  test('are all run for each hop of a plain path, so that a loop of three is found', async () => {
    const host = await hostOf(
      redirect('regex', '^.*/one$', '/two'),
      redirect('regex', '^.*/two$', '/three'),
      redirect('regex', '^.*/three$', '/one'),
    );
    for (const path of ['/one', '/two', '/three', '/one;v=1']) expect((await visit(host, path)).status).toBe(200);
  });
  test('are all run for ten hops, after which a growing path counts as a loop', async () => {
    const host = await hostOf(redirect('regex', '^.*/grow/(.*)$', '/grow/$1%252f;v=1'));
    // Ten hops, after all patterns for the request.
    expect(await visit(host, '/grow/a')).toMatchObject({ status: 200, patternRuns: 1100 });
  });
  // Regression: each of up to 40 hops was compared with all patterns, for each variant of its path.
  test('are run at most a thousand times, so that a path with many variants does not pass a redirect', async () => {
    const host = await hostOf(redirect('prefix', '/hidden', '/login'));
    // Runs on a path of 3 kB count twice.
    for (const [rest, runs] of [
      [`a${VARIED}`, 1000],
      [`${'a'.repeat(3000)}${VARIED}`, 500],
    ] as const) {
      const { status, location, patternRuns } = await visit(host, `/hidden/${rest}`);
      expect([status, location, patternRuns]).toEqual([301, `/login/${rest}`, runs]);
    }
  });
});
