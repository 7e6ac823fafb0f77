// Hostile text in every field of every call that reaches the edge, found by walking the contract's schemas. It must not
// add lines, headers or requests, nor break a plugin.
import { randomBytes, randomUUID } from 'node:crypto';
import { cacheRuleDocs } from '@edgeloom/api/compile/cache-rules.ts';
import { errorPageDocs } from '@edgeloom/api/compile/error-pages.ts';
import { antiHeaderDocs, antiRefererDocs } from '@edgeloom/api/compile/hotlink.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { siteDoc } from '@edgeloom/api/compile/site.ts';
import { isStorable } from '@edgeloom/api/http/input.ts';
import type { SiteRow } from '@edgeloom/api/compile/site.ts';
import { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import { CompressionInput } from '@edgeloom/contract/compression/compression.ts';
import { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { ModuleDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { AntiHeaderInput, AntiRefererInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import { CorsInput } from '@edgeloom/contract/modules/cors.ts';
import { CustomHeaderInput } from '@edgeloom/contract/modules/custom-headers.ts';
import { ProxyRewriteInput } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { TokenAuthInput } from '@edgeloom/contract/modules/token-auths.ts';
import { RateInput } from '@edgeloom/contract/rates/rates.ts';
import { renderTree } from '@edgeloom/agent/render/render.ts';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { casesOfRun } from '../support/builders/long-run.ts';
import { hostDoc, startEdge, zoneDoc } from '../support/services/edge.ts';

const zoneKey = randomBytes(32);
const edge = await startEdge({ zoneKey });
afterAll(() => edge.stop());
edge.origin.on('/fail', { status: 500, headers: { 'content-type': 'text/plain' }, body: 'theirs' });

type Path = (string | number)[];

/** Paths of free texts, such as `rules.*.source`. Enums are skipped. */
function textsOf(schema: unknown, at: string[] = []): string[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([name, field]) => textsOf(field, [...at, name]));
  if (schema instanceof z.ZodArray) return textsOf(schema.element, [...at, '*']);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => textsOf(option, at));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return textsOf(schema.unwrap(), at);
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return [at.join('.')];
  if (schema instanceof z.ZodPipe) return textsOf(schema.in, at);
  return [];
}

/** The concrete paths of these texts in a value. */
function placesIn(value: unknown, at: Path = []): Path[] {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    placesIn(inner, [...at, Array.isArray(value) ? Number(name) : name]),
  );
}
const generally = (at: Path) => at.map((part) => (typeof part === 'number' ? '*' : part)).join('.');

function textAt(value: unknown, at: Path): string {
  const found = at.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  );
  return z.string().parse(found);
}

function replaced(value: unknown, at: Path, text: string): unknown {
  const [part, ...rest] = at;
  if (part === undefined) return text;
  const copy: unknown = Array.isArray(value) ? [...value] : { ...Object(value) };
  Reflect.set(Object(copy), part, replaced(Reflect.get(Object(copy), part), rest, text));
  return copy;
}

const fragments = [
  '\r\nX-Injected: 1',
  '\nX-Injected: 1\n\n<b>',
  '\rX-Injected: 1',
  '%0d%0aX-Injected:%201',
  '\0',
  '%00',
  '\u0085X-Injected: 1',
  '\u2028',
  '\u7f51\u{1f600}\u00e4',
  '\ud800',
  '}',
  '{host}{x}{',
  '";',
  "'",
  '; more_set_headers "X-Injected: 1";',
  '$host${x}$1$9',
  '\\',
  '\\r\\nX-Injected: 1',
  ']==]',
  ' ',
  ', x-injected',
  '<!--</script><script>',
  '|*?+',
  'x'.repeat(3000),
];
const hostile = (text: string) =>
  fragments.flatMap((fragment) => {
    const half = Math.ceil(text.length / 2);
    return [text + fragment, text.slice(0, half) + fragment + text.slice(half)];
  });

const hasLineBreak = (text: string) => /[\r\n]/.test(text);

interface Documents {
  site?: Partial<SiteRow>;
  host?: Partial<HostDoc>;
  module?: ModuleDoc;
}
interface Subject {
  name: string;
  schema: z.ZodType;
  samples: unknown[];
  documents: (input: unknown) => Documents;
}

const subject = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  samples: z.input<Schema>[],
  documents: (input: z.output<Schema>) => Documents,
): Subject => ({ name, schema, samples, documents: (input) => documents(schema.parse(input)) });

const paths = { type: 'prefix' as const, value: ['/a'] };
const subjects: Subject[] = [
  subject(
    'cache rules',
    CacheRuleInput,
    [
      {
        ...paths,
        cacheTime: 60,
        query: 'listed',
        queryNames: ['x'],
        cookies: 'listed',
        cookieNames: ['lang'],
        passCookies: ['sid*'],
      },
      { type: 'regex', value: ['^/a/.*$'], cacheTime: 60 },
      { type: 'fileType', value: ['css'], cacheTime: 60 },
    ],
    (rule) => ({ site: { rules: cacheRuleDocs([{ ...rule, id: randomUUID() }]) } }),
  ),
  subject(
    'compression',
    CompressionInput,
    [{ gzip: true, brotli: true, types: ['text/plain'], minBytes: 0 }],
    (input) => ({
      site: {
        compression: {
          webp: false,
          webpQuality: 80,
          webpTypes: ['image/png'],
          webpMinBytes: 0,
          webpMaxBytes: 1,
          ...withoutNothing(input),
        },
      },
    }),
  ),
  subject('rates', RateInput, [{ ...paths, rate: 1024 }], (rate) => ({
    site: { rules: { rates: [{ id: randomUUID(), ...rate }] } },
  })),
  subject(
    'error pages',
    ErrorPageInput,
    [
      { code: 500, type: 'content', value: '<h1>later</h1>' },
      { code: 500, type: 'javascript', value: 'location.reload()' },
      { code: 500, type: 'redirect', value: 'https://www.example.com/why' },
    ],
    (page) => ({ site: { rules: errorPageDocs([page]) } }),
  ),
  subject(
    'rules about fields',
    AntiHeaderInput,
    [
      { name: 'X-Test', operator: 'equal', value: 'bad' },
      { name: 'X-Test', operator: 'matches', value: '^b.d$' },
    ],
    (rule) => ({ site: { rules: antiHeaderDocs([{ id: randomUUID(), ...rule }]) } }),
  ),
  subject(
    'rules about referers',
    AntiRefererInput,
    [
      {
        ...paths,
        isBlack: true,
        referers: ['*.example.net'],
        action: 'redirect',
        target: 'https://www.example.com/no',
      },
    ],
    (rule) => ({ host: antiRefererDocs([{ id: randomUUID(), ...rule }]) }),
  ),
  subject(
    'custom headers',
    CustomHeaderInput,
    [
      {
        name: 'headers',
        headers: [
          { direction: 'response', action: 'set', name: 'X-Own', value: 'of {host}' },
          { direction: 'request', action: 'add', name: 'X-Own', value: 'of {clientIP}' },
          { direction: 'response', action: 'set', name: 'Cache-Control', value: 'no-cache' },
        ],
      },
    ],
    ({ headers }) => ({
      module: moduleDoc({ id: randomUUID(), kind: 'customHeader', settings: { headers }, redirects: null }),
    }),
  ),
  subject(
    'redirects',
    RedirectInput,
    [
      { type: 'exact', source: '/old', target: 'https://www.example.com/new?x=1' },
      { type: 'prefix', source: '/a', target: '/new' },
      { type: 'regex', source: '^/a/(.*)$', target: '/new/$1' },
    ],
    (rule) => ({
      module: moduleDoc({
        id: randomUUID(),
        kind: 'urlRedirect',
        settings: {},
        redirects: [{ id: randomUUID(), ...rule }],
      }),
    }),
  ),
  subject(
    'CORS',
    CorsInput,
    [
      {
        name: 'cors',
        allowOrigins: ['https://app.example.com'],
        allowMethods: ['GET', 'PROPFIND'],
        allowHeaders: ['X-Token'],
        exposeHeaders: ['X-Count'],
      },
      { name: 'cors', allowOrigins: ['{host}:8443', 'https://*.example.com'], allowHeaders: ['*'] },
    ],
    ({ name: _, ...settings }) => ({
      module: moduleDoc({ id: randomUUID(), kind: 'cors', settings, redirects: null }),
    }),
  ),
  subject(
    'rewrites',
    ProxyRewriteInput,
    [
      {
        name: 'rewrites',
        rules: [
          { type: 'prefix', source: '/a', target: '/inner?from=edge', keepRest: false, host: 'inner.example.com' },
          { type: 'regex', source: '^/o(l)d$', target: '/inner/$1' },
        ],
      },
    ],
    ({ rules }) => ({
      module: moduleDoc({ id: randomUUID(), kind: 'proxyRewrite', settings: { rules }, redirects: null }),
    }),
  ),
  subject(
    'tokens',
    TokenAuthInput,
    [
      {
        name: 'tokens',
        auths: [
          {
            name: 'one',
            ...paths,
            except: { type: 'url', value: ['/a/free'] },
            parts: [{ name: 'sign', format: '{time}-{sign}' }],
            text: '{path}-{time}-{key}',
            algorithm: 'md5',
            action: 'redirect',
            target: 'https://www.example.com/no',
            keys: [{ key: 'secret-of-six' }],
          },
        ],
      },
      {
        name: 'tokens',
        auths: [
          {
            id: randomUUID(),
            type: 'prefix',
            value: ['/a'],
            place: 'header',
            parts: [{ name: 'X-Sign', format: '{time}.{sign}' }],
            text: '{path}{time}',
            algorithm: 'hmacSha256',
            keys: [{ id: randomUUID() }],
          },
        ],
      },
    ],
    ({ auths }) => {
      const keys = new Map<string, string>();
      const settings = {
        auths: auths.map((auth) => ({
          ...auth,
          id: randomUUID(),
          keys: auth.keys.map((key) => {
            const id = randomUUID();
            keys.set(id, 'key' in key ? key.key : 'another-key');
            return { id, createdAt: new Date().toISOString() };
          }),
        })),
      };
      const keyring = () => ({
        zoneKey: { id: 'first' as const, key: zoneKey },
        open: (id: string) => keys.get(id) ?? '',
      });
      return { module: moduleDoc({ id: randomUUID(), kind: 'tokenAuth', settings, redirects: null }, keyring) };
    },
  ),
];

const withoutNothing = (value: object) => {
  const given = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Compressed.parse({ gzip: false, brotli: false, types: [], minBytes: 0, ...Object.fromEntries(given) });
};
const Compressed = z.object({ gzip: z.boolean(), brotli: z.boolean(), types: z.array(z.string()), minBytes: z.int() });

const siteId = randomUUID();
const { name } = hostDoc({ id: siteId }, edge.origin.port);
async function serve({ site = {}, host = {}, module }: Documents): Promise<void> {
  const made = siteDoc({
    id: siteId,
    status: 'normal',
    cacheVersion: 0,
    maskLogAddress: false,
    maxConnections: 0,
    responseMbps: 0,
    maskLogQuery: false,
    ports: [edge.ports.http],
    cacheSetting: null,
    compression: null,
    rules: {},
    ...site,
  });
  const modules = module ? { modules: { [module.module]: module.id } } : {};
  await edge.put(...(module ? [module] : []), made, hostDoc(made, edge.origin.port, { name, ...modules, ...host }));
}

const asks = ['GET /a/b.css?x=1', 'GET /old', 'OPTIONS /a/b.css', 'GET /fail'].map(
  (line) =>
    `${line} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\nOrigin: https://app.example.com\r\nReferer: https://www.example.net/\r\nX-Test: bad\r\nCookie: lang=de; sid=1\r\n${line.startsWith('OPTIONS') ? 'Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: x-token\r\n' : 'Accept-Encoding: gzip\r\n'}\r\n`,
);

/** Response and request headers that may appear, whatever rules apply. */
const allowedResponseHeaders =
  /^(?:date|server|content-type|content-length|content-encoding|transfer-encoding|connection|keep-alive|cache-control|cache-status|age|vary|etag|location|x-request-id|content-security-policy|accept-ranges|access-control-allow-(?:origin|methods|headers|credentials)|access-control-expose-headers|access-control-max-age|x-own)$/i;
const allowedRequestHeaders =
  /^(?:host|connection|origin|referer|x-test|cookie|accept-encoding|access-control-request-(?:method|headers)|x-request-id|x-forwarded-(?:for|proto)|x-real-ip|via|cdn-loop|x-own)$/i;

/** Header names that the owner chose, where they are valid names. */
const ownNames = (documents: Documents): string[] =>
  documents.module?.module === 'customHeader'
    ? [...documents.module.request, ...documents.module.response].map((change) => change.name.toLowerCase())
    : [];

async function assertHolds(documents: Documents): Promise<void> {
  const own = ownNames(documents);
  const isOdd = (known: RegExp) => (field: string) => !known.test(field) && !own.includes(field.toLowerCase());
  for (const ask of asks) {
    const before = edge.origin.requests.length;
    const answer = await edge.raw(ask);
    const [head = ''] = answer.split('\r\n\r\n', 1);
    const [status = '', ...lines] = head.split('\r\n');
    expect(status).toMatch(/^HTTP\/1\.1 [2-5]\d\d(?: [A-Za-z -]+)?$/);
    for (const line of lines) expect(line).toMatch(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+: [^\r\n\0]*$/);
    expect(lines.map((line) => line.slice(0, line.indexOf(':'))).filter(isOdd(allowedResponseHeaders))).toEqual([]);
    const asked = edge.origin.requests.slice(before);
    expect(asked.length).toBeLessThanOrEqual(1);
    for (const { rawHeaders } of asked)
      expect(rawHeaders.filter((_, i) => i % 2 === 0).filter(isOdd(allowedRequestHeaders))).toEqual([]);
  }
}

describe.each(subjects)('$name', ({ schema, samples, documents }) => {
  test('have a sample for each free text', () => {
    const places = samples.flatMap((sample) => placesIn(sample).map(generally));
    expect(textsOf(schema).filter((text) => !places.includes(text))).toEqual([]);
  });

  test('stay unchanged, whatever they contain', { timeout: 120_000 }, async () => {
    const texts = new Set(textsOf(schema));
    const placesOf = (sample: unknown) => placesIn(sample).filter((place) => texts.has(generally(place)));
    // Each field gets all texts with a line break, and in the short run a third of its other texts, beginning with
    // another one than the field before.
    const every = Math.min(3, samples.flatMap(placesOf).length);
    let fields = 0;
    let taken = 0;
    for (const sample of samples) {
      await serve(documents(sample));
      await assertHolds(documents(sample));
      for (const place of placesOf(sample)) {
        fields += 1;
        const accepted = hostile(textAt(sample, place)).filter(
          (text) => isStorable(text) && schema.safeParse(replaced(sample, place, text)).success,
        );
        const others = accepted.filter((text) => !hasLineBreak(text));
        for (const text of [...accepted.filter(hasLineBreak), ...casesOfRun(others, every, fields % every)]) {
          const made = documents(replaced(sample, place, text));
          await serve(made);
          await assertHolds(made);
          taken += 1;
        }
      }
    }
    expect(taken).toBeGreaterThan(0);
    expect((await edge.counters())['pluginFailed'] ?? 0).toBe(0);
  });
});

test('no text in rendered files changes more than its own token, or it is rejected', () => {
  const host = {
    dir: '/var/lib/edgeloom',
    luaDir: '/opt/edgeloom/lua',
    listen: ['0.0.0.0'],
    user: null,
    capabilities: {
      version: '1.22.1',
      openresty: false,
      modules: [],
      lua: true,
      stream: true,
      streamRealip: true,
      brotli: false,
      slice: true,
      geoip2: false,
      realip: true,
      http2: 'listen' as const,
      http3: false,
      minFree: true,
      poolPerName: false,
      webp: false,
    },
    resolvers: [],
    caBundle: null,
  };
  const zone = zoneDoc(
    { http: 80, https: 443 },
    { relays: [{ id: randomUUID(), address: '203.0.113.7', port: 8443 }] },
  );
  const node: NodeDoc = { kind: 'node', id: randomUUID(), enabled: true, cacheMaxBytes: 0 };
  const render = (changed: { zone?: ZoneDoc; node?: NodeDoc }) =>
    [...renderTree({ zone, node, generation: 1, host, ...changed })].map(([file, text]) => [file, text]);
  const plain = JSON.stringify(render({}));
  const changing: string[] = [];
  for (const [key, schema, sample] of [
    ['zone', ZoneDoc, zone],
    ['node', NodeDoc, node],
  ] as const)
    for (const place of placesIn(sample))
      for (const text of hostile(textAt(sample, place))) {
        const parsed = schema.safeParse(replaced(sample, place, text));
        if (parsed.success && JSON.stringify(render({ [key]: parsed.data })) !== plain) changing.push(place.join('.'));
      }
  expect(changing).toEqual([]);
});
