import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import type { Reply } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

async function withCors(wish: Partial<CorsSettings>) {
  const settings: CorsSettings = {
    allowOrigins: ['https://app.example.com'],
    allowMethods: ['GET', 'PUT'],
    allowHeaders: ['Content-Type', 'X-Mine'],
    exposeHeaders: ['X-Total'],
    maxAge: 300,
    allowCredentials: false,
    ...wish,
  };
  const doc = moduleDoc({ id: randomUUID(), kind: 'cors', settings, redirects: null });
  await edge.put(doc);
  return edge.site({ cacheRules: [rule()] }, { modules: { cors: doc.id } });
}
const allowed = (reply: Reply) => reply.header('access-control-allow-origin');
const preflight = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'x-mine, content-type' };

describe('a preflight request', () => {
  test('is answered by the edge without the origin', async () => {
    const { name } = await withCors({});
    const headers = { origin: 'https://app.example.com', ...preflight };
    const reply = await edge.get('/ask', { host: name, method: 'OPTIONS', headers });
    expect([reply.status, reply.body]).toEqual([204, '']);
    expect(allowed(reply)).toBe('https://app.example.com');
    expect(reply.header('access-control-allow-methods')).toBe('GET, PUT');
    expect(reply.header('access-control-allow-headers')).toBe('Content-Type, X-Mine');
    expect(reply.header('access-control-max-age')).toBe('300');
    expect(reply.header('access-control-expose-headers')).toBeUndefined();
    expect(reply.header('vary')?.split(', ').sort()).toEqual([
      'Access-Control-Request-Headers',
      'Access-Control-Request-Method',
      'Origin',
    ]);
    expect(edge.origin.asked('/ask')).toEqual([]);
  });
  test('of another origin gets no permission', async () => {
    const { name } = await withCors({});
    const headers = { origin: 'https://evil.example', ...preflight };
    const reply = await edge.get('/ask', { host: name, method: 'OPTIONS', headers });
    expect([reply.status, allowed(reply), reply.header('access-control-allow-methods')]).toEqual([
      204,
      undefined,
      undefined,
    ]);
  });
  test('may use any valid header name if all are allowed', async () => {
    const { name } = await withCors({ allowHeaders: ['*'] });
    const ask = async (names: string) => {
      const headers = { ...preflight, origin: 'https://app.example.com', 'access-control-request-headers': names };
      const reply = await edge.get('/ask', { host: name, method: 'OPTIONS', headers });
      return reply.header('access-control-allow-headers');
    };
    expect(await ask('x-a, authorization')).toBe('x-a, authorization');
    expect(await ask("access_token,x!#$%&'*+.^`|~")).toBe("access_token,x!#$%&'*+.^`|~");
    expect(await ask('x-a; <b>')).toBeUndefined();
  });
  test('needs its headers: any other OPTIONS goes to the origin', async () => {
    const { name } = await withCors({});
    await edge.get('/options', { host: name, method: 'OPTIONS', headers: { origin: 'https://app.example.com' } });
    expect(edge.origin.asked('/options')).toHaveLength(1);
  });
});

test('CORS headers of the origin are replaced, on misses and hits, with one stored object', async () => {
  const { name } = await withCors({ allowOrigins: ['https://app.example.com', 'https://b.example.com'] });
  edge.origin.on('/data', {
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': '*',
      vary: 'Accept-Language',
    },
  });
  const seen = [];
  for (const origin of ['https://app.example.com', 'https://b.example.com', 'https://c.example.com', undefined]) {
    const reply = await edge.get('/data', {
      host: name,
      headers: { 'accept-language': 'tw', ...(origin && { origin }) },
    });
    expect(reply.header('access-control-allow-credentials')).toBeUndefined();
    expect(reply.header('vary')?.split(', ').sort()).toEqual(['Accept-Language', 'Origin']);
    seen.push([reply.cache, allowed(reply), reply.header('access-control-expose-headers')]);
  }
  expect(seen).toEqual([
    ['vary-miss', 'https://app.example.com', 'X-Total'],
    ['hit', 'https://b.example.com', 'X-Total'],
    ['hit', undefined, undefined],
    ['hit', undefined, undefined],
  ]);
});

test('a wildcard response is the same for everyone', async () => {
  const { name } = await withCors({ allowOrigins: ['*'], exposeHeaders: ['*'] });
  const reply = await edge.get('/all', { host: name, headers: { origin: 'https://x.example' } });
  expect([allowed(reply), reply.header('access-control-expose-headers'), reply.header('vary')]).toEqual([
    '*',
    '*',
    undefined,
  ]);
});

test('credentials are allowed for a named origin only', async () => {
  const { name } = await withCors({ allowCredentials: true });
  const credentials = async (origin: string) =>
    (await edge.get('/c', { host: name, headers: { origin } })).header('access-control-allow-credentials');
  expect(await credentials('https://app.example.com')).toBe('true');
  expect(await credentials('https://other.example.com')).toBeUndefined();
});

describe('allowed origins', () => {
  const cases: [string, string, boolean][] = [
    ['https://app.example.com', 'https://APP.example.com', true],
    ['https://app.example.com', 'http://app.example.com', false],
    ['https://app.example.com', 'https://app.example.com:8443', false],
    ['https://app.example.com:443', 'https://app.example.com', true],
    ['https://app.example.com:8443', 'https://app.example.com:8443', true],
    ['https://*.example.com', 'https://a.example.com', true],
    ['https://*.example.com', 'https://a.b.example.com', false],
    ['https://*.example.com', 'https://example.com', false],
    ['https://*.example.com', 'https://.example.com', false],
    ['https://*.example.com', 'https://evil.com/.example.com', false],
    ['https://*.example.com:444', 'https://a.example.com:444', true],
    ['https://app.example.com', 'null', false],
    ['null', 'null', true],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['capacitor://localhost', 'ionic://localhost', false],
    ['http://[2001:db8::1]:3000', 'http://[2001:db8::1]:3000', true],
    ['https://app.example.com', 'https://app.example.com.evil.example', false],
  ];
  test.each(cases)('%s: %s is %s', async (pattern, origin, expected) => {
    const { name } = await withCors({ allowOrigins: [pattern] });
    const reply = await edge.get('/o', { host: name, headers: { origin } });
    expect(allowed(reply)).toBe(expected ? origin : undefined);
  });
  test('{host} is the requested host, with what follows it', async () => {
    const { name } = await withCors({ allowOrigins: ['{host}', '{host}:3000'] });
    const origins = [
      `https://${name}`,
      `http://${name}`,
      `https://${name}:3000`,
      `https://${name}:1`,
      `https://x.${name}`,
    ];
    const seen = [];
    for (const origin of origins) {
      const reply = await edge.get('/own', { host: name, headers: { origin } });
      seen.push(allowed(reply) === origin);
    }
    expect(seen).toEqual([true, true, true, false, false]);
  });
});
