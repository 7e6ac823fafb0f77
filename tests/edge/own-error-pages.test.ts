// nginx's own error responses.
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createServer } from 'node:net';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { errorPageDocs } from '@edgeloom/api/compile/error-pages.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { rule, startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge({ zone: { maxBodyBytes: 1000 } });
afterAll(() => edge.stop());
const { name } = await edge.site({ cacheRules: [rule()] });
const sorry = (...codes: number[]) =>
  errorPageDocs(codes.map((code) => ErrorPageInput.parse({ code, type: 'content', value: `<h1>sorry ${code}</h1>` })));
const { name: dressed } = await edge.site({ cacheRules: [rule()], ...sorry(400, 500, 502, 504) });
edge.origin.on('/file', { headers: { etag: '"a"', 'content-length': 10 }, body: '0123456789' });

const request = (line: string, host = name, more = '') =>
  `${line}\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;
/** The page has its status, names no software and is not cacheable. */
const expectOurs = (text: string, status: number, title: string) => {
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(text).toContain(`<h1>${status} ${title}</h1>`);
  expect(text).toMatch(/<p>Request [0-9a-f]{32}<\/p>/);
  expect(text).toMatch(/\r\nCache-Control: no-store\r\n/);
  expect(text).toMatch(/\r\nContent-Type: text\/html; charset=utf-8\r\n/);
  expect(text.match(/\r\nCache-Control:/g)).toHaveLength(1);
  expect(text).not.toContain('<center>');
};

test.each([
  ['a line that is none', 'NONSENSE\r\n\r\n', 400, 'Bad Request'],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400, 'Bad Request'],
  ['a broken field', request('GET /a HTTP/1.1', name, 'No Colon\r\n'), 400, 'Bad Request'],
  [
    'a field that is too long',
    request('GET /a HTTP/1.1', name, `X-Long: ${'x'.repeat(20_000)}\r\n`),
    400,
    'Bad Request',
  ],
  [
    'a page by HTTP/1.0 with a field that is too long',
    request('GET /a HTTP/1.0', name, `X: ${'x'.repeat(20_000)}\r\n`),
    400,
    'Bad Request',
  ],
  ['an address that is too long', request(`GET /${'x'.repeat(20_000)} HTTP/1.1`), 414, 'URI Too Long'],
  ['a version that is too new', request('GET / HTTP/3.0'), 505, 'HTTP Version Not Supported'],
  ['TRACE', request('TRACE / HTTP/1.1'), 405, 'Method Not Allowed'],
  ['an unknown coding', request('POST / HTTP/1.1', name, 'Transfer-Encoding: foo\r\n'), 501, 'Not Implemented'],
  [
    'a body that is too large',
    `${request('POST / HTTP/1.1', name, 'Content-Length: 5000\r\n')}${'x'.repeat(5000)}`,
    413,
    'Content Too Large',
  ],
])('%s shows our page', async (_, text, status, title) => {
  const raw = await edge.raw(text);
  expect(raw).toContain(title);
  expectOurs(raw, status, title);
});

test.each([
  ['if-match', '"b"', 412, 'Precondition Failed'],
  ['if-unmodified-since', 'Mon, 01 Jan 2001 00:00:00 GMT', 412, 'Precondition Failed'],
  ['range', 'bytes=50-', 416, 'Range Not Satisfiable'],
])('a cached file requested with %s: %s shows our page', async (field, value, status, title) => {
  edge.origin.on('/dated', {
    headers: {
      etag: '"a"',
      'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
      'content-length': 10,
      'cache-control': 'max-age=77',
    },
    body: '0123456789',
  });
  await edge.get('/dated', { host: name });
  await eventually(async () => expect((await edge.get('/dated', { host: name })).cache).toBe('hit'));
  expectOurs(await edge.raw(request('GET /dated HTTP/1.1', name, `${field}: ${value}\r\n`)), status, title);
  const reply = await edge.get('/dated', { host: name, headers: { [field]: value } });
  expect(reply.status).toBe(status);
  expect(reply.header('etag')).toBeUndefined();
  expect(reply.header('content-range')).toBe(status === 416 ? 'bytes */10' : undefined);
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status, uri: '/dated', method: 'GET' });
});

test('the log names the requested host if the request could not be parsed', async () => {
  const text = await edge.raw(request('GET /named?a=1 HTTP/1.1', name, 'No Colon\r\n'));
  const [, id] = /<p>Request ([0-9a-f]{32})/.exec(text) ?? [];
  await eventually(async () =>
    expect((await edge.log()).find((row) => row['id'] === id)).toMatchObject({ status: 400, uri: '/named' }),
  );
});

test('plain HTTP to a TLS port shows our page', async () => {
  const reply = await edge.get('/', { host: name, port: edge.ports.https });
  expect([reply.status, reply.body]).toEqual([400, expect.stringContaining('This port answers HTTPS only.')]);
});

test('HTTP/2 shows the same pages', async () => {
  const session = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, {
    servername: name,
    rejectUnauthorized: false,
  });
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':path': '/', ':authority': name, ':method': 'POST', 'content-length': 5000 });
  stream.end('x'.repeat(5000));
  const [headers] = await once(stream, 'response');
  let body = '';
  for await (const chunk of stream) body += String(chunk);
  expect([headers[':status'], body]).toEqual([413, expect.stringContaining('<h1>413 Content Too Large</h1>')]);
});

/** An origin that closes every request without a response. */
async function interimOnly() {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 199 Odd\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return { origin: { upstreams: [upstream(address.port)] } };
}

describe('an origin without a usable response', () => {
  test.each(['GET', 'POST'])('is our 502 by %s, or the page of the site', async (method) => {
    const origin = await interimOnly();
    const plain = await edge.site({ cacheRules: [rule()] }, origin);
    expectOurs(await edge.raw(request(`${method} / HTTP/1.1`, plain.name)), 502, 'Bad Gateway');
    const own = await edge.site({ cacheRules: [rule()], ...sorry(502) }, origin);
    const reply = await edge.get('/', { host: own.name, method });
    expect([reply.status, reply.body, reply.header('cache-control')]).toEqual([502, '<h1>sorry 502</h1>', 'no-store']);
    expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 502, uri: '/', method, site: own.site.id });
  });

  test('in slices: our page for the first, and a truncated file for a later one', async () => {
    const plain = await edge.site({ cacheRules: [rule({ slices: true })] }, await interimOnly());
    expectOurs(await edge.raw(request('GET / HTTP/1.1', plain.name)), 502, 'Bad Gateway');
    const { name: host } = await edge.site({ cacheRules: [rule({ slices: true })] });
    const mega = 1 << 20;
    edge.origin.on('/pieces', ({ headers }) =>
      headers.range === `bytes=0-${mega - 1}`
        ? {
            status: 206,
            headers: { etag: '"a"', 'content-range': `bytes 0-${mega - 1}/${3 * mega}` },
            body: 'a'.repeat(mega),
          }
        : { raw: 'HTTP/1.1 199 Odd\r\n\r\n' },
    );
    const text = await edge.raw(request('GET /pieces HTTP/1.1', host));
    const body = text.slice(text.indexOf('\r\n\r\n') + 4);
    // Data that nginx had buffered when the second slice failed is lost.
    expect(body.length).toBeLessThanOrEqual(mega);
    expect(body.replace(/^a+/, '')).toBe('');
  });
});

test("a request that cannot be parsed shows the site's page if its host could be parsed", async () => {
  const text = await edge.raw(request('GET /a HTTP/1.1', dressed, 'No Colon\r\n'));
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\n<h1>sorry 400<\/h1>\r\n/);
  expect(await edge.raw(request('GET /a HTTP/1.1', dressed, `X: ${'x'.repeat(20_000)}\r\n`))).toContain(
    '<h1>sorry 400</h1>',
  );
});

test('the internal location of these pages is not reachable', async () => {
  const reply = await edge.get('//unreadable', { host: name });
  expect(reply.status).toBe(200);
});
