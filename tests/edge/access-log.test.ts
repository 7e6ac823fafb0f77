// Lines of the access log: of refused requests, of visitors who leave, and of what nginx has no number for.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { rule, startEdge, upstream } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
const { name, site, host } = await edge.site({ cacheRules: [rule()] });
const known = { site: site.id, domain: host.domainID };
const unknown = { site: '', domain: '' };

/** Throws if any line is not JSON. */
const rowWith = (field: string, value: string) =>
  eventually(async () => {
    const row = (await edge.log()).find((one) => one[field] === value);
    if (row === undefined) throw new Error(`no row with ${field} ${value}`);
    return row;
  });

const close = 'Connection: close\r\n';
test.each([
  ['TRACE', `TRACE /trace HTTP/1.1\r\nHost: ${name}\r\n${close}`, 405, 'TRACE', '/trace', known],
  ['two hosts', `POST /hosts?a HTTP/1.1\r\nHost: ${name}\r\nHost: b\r\n`, 400, 'POST', '/hosts', known],
  ['no host', 'PUT /none HTTP/1.1\r\n', 400, 'PUT', '/none', unknown],
  ['a length that is none', `POST /n HTTP/1.1\r\nHost: ${name}\r\nContent-Length: x\r\n`, 400, 'POST', '/n', known],
  ['a long field', `POST /f HTTP/1.1\r\nHost: ${name}\r\nX: ${'x'.repeat(20_000)}\r\n`, 400, 'POST', '/f', known],
  ['a long path', `POST /${'x'.repeat(20_000)} HTTP/1.1\r\n`, 414, 'POST', `/${'x'.repeat(2047)}`, unknown],
  ['a version that is too new', `POST /v?a HTTP/3.0\r\nHost: ${name}\r\n`, 505, 'POST', '/v', unknown],
  ['an invalid escape', `POST /%zz HTTP/1.1\r\nHost: ${name}\r\n`, 400, 'POST', '/%zz', unknown],
  ['a line that is none', 'NONSENSE\r\n', 400, '', '/', unknown],
  ['a TLS handshake', '\u0016\u0003\u0001\r\n', 400, '', '/', unknown],
  ['an unknown name', `POST /u HTTP/1.1\r\nHost: nobody.example\r\n${close}`, 903, 'POST', '/u', unknown],
])('a request refused for %s has a row under the ID of its page', async (_, head, status, method, uri, owner) => {
  const page = await edge.raw(`${head}\r\n`);
  const id = /<p>Request ([0-9a-f]{32})<\/p>/.exec(page)?.[1] ?? '';
  expect(await rowWith('id', id)).toMatchObject({ status, method, uri, args: '', ...owner });
});

test('a row has the name of an origin behind each of its addresses', async () => {
  const names = await startNameServer();
  const resolving = await startEdge({ resolvers: [names.address] });
  onTestFinished(async () => {
    await resolving.stop();
    await names.stop();
  });
  names.records.set('origin.test', { a: ['127.0.0.9', '127.0.0.1'] });
  const { port } = resolving.origin;
  const upstreams = [upstream(port, { address: 'origin.test' })];
  const named = await resolving.site({}, { origin: { upstreams } });
  // Every other request tries the address without a server first.
  await eventually(async () => {
    const reply = await resolving.get('/', { host: named.name });
    expect(await resolving.accessLogEntry(reply)).toMatchObject({
      upstream: `127.0.0.9:${port} (origin.test), 127.0.0.1:${port} (origin.test)`,
    });
  });
  const { name: plain } = await resolving.site();
  expect(await resolving.accessLogEntry(await resolving.get('/', { host: plain }))).toMatchObject({
    upstream: `127.0.0.1:${port}`,
  });
});

test('a row is written without a signal to nginx', async () => {
  const reply = await edge.get('/unasked', { host: name });
  const id = reply.header('x-request-id') ?? 'none';
  await eventually(async () => expect(await readFile(join(edge.dir, 'logs/access.json'), 'utf8')).toContain(id));
});

test('the row of a refused request is masked as its site asks', async () => {
  const masked = await edge.site({ logMask: 'both' });
  await edge.raw(`POST /masked HTTP/1.1\r\nHost: ${masked.name}\r\nContent-Length: x\r\nReferer: http://a/b?c\r\n\r\n`);
  expect(await rowWith('uri', '/masked')).toMatchObject({ site: masked.site.id, address: '127.0.0.0' });
});

/** A stream, and the end of its connection. */
function openStream(headers: OutgoingHttpHeaders) {
  const client = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, { servername: name, rejectUnauthorized: false });
  onTestFinished(() => client.destroy());
  client.on('error', () => undefined);
  const stream = client.request({ ':authority': name, ...headers });
  stream.on('error', () => undefined);
  return stream;
}

test('a cookie that is too long for HTTP/2 closes the connection and is logged as 444', async () => {
  const stream = openStream({ ':path': '/cookie', cookie: 'a'.repeat(30_000) });
  await expect.poll(() => stream.closed).toBe(true);
  expect(await rowWith('uri', '/cookie')).toMatchObject({ status: 444, bytes: 0, httpVersion: 'HTTP/2.0' });
});

test('the method of HTTP/2 is not guessed when nginx does not know it', async () => {
  const stream = openStream({ ':method': 'POST', ':path': '/other-host', host: 'other.example' }).end();
  await once(stream, 'response');
  expect(await rowWith('uri', '/other-host')).toMatchObject({ status: 400, method: '', ...known });
});

describe('a visitor who leaves is logged as 499', () => {
  const large = Buffer.alloc(40 << 20);
  const path = (kind: string) => {
    edge.origin.on(`/${kind}`, { headers: { 'content-length': large.length }, body: large });
    return `/${kind}`;
  };
  const leave = async (head: string, event: 'data' | 'connect') => {
    const socket = connect(edge.ports.http, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.write(`${head}\r\n`);
    await once(socket, event);
    socket.destroySoon();
  };

  test('during a download from the origin', async () => {
    await leave(`GET ${path('miss')} HTTP/1.1\r\nHost: ${name}\r\n`, 'data');
    expect(await rowWith('uri', '/miss')).toMatchObject({ status: 499, method: 'GET', cache: 'MISS', ...known });
  });

  test('during a download from the cache', async () => {
    expect((await edge.get(path('hit'), { host: name })).bytes).toHaveLength(large.length);
    await leave(`GET /hit HTTP/1.1\r\nHost: ${name}\r\n`, 'data');
    await expect
      .poll(async () => (await edge.log()).filter(({ uri }) => uri === '/hit').map(({ status }) => status))
      .toEqual([200, 499]);
  });

  test('by resetting a stream of HTTP/2', async () => {
    const stream = openStream({ ':path': path('reset') });
    await once(stream, 'data');
    stream.close();
    expect(await rowWith('uri', '/reset')).toMatchObject({ status: 499, httpVersion: 'HTTP/2.0' });
  });

  test('during an upload', async () => {
    await leave(`POST /upload HTTP/1.1\r\nHost: ${name}\r\nContent-Length: 10\r\n\r\n123`, 'connect');
    expect(await rowWith('uri', '/upload')).toMatchObject({ status: 499, method: 'POST', bytes: 0 });
  });
});

describe('a visitor who stays is not logged as 499', () => {
  test('when the origin breaks off', async () => {
    edge.origin.on('/broken', { rawThenClose: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789' });
    await edge.raw(`GET /broken HTTP/1.1\r\nHost: ${name}\r\n${close}\r\n`);
    expect(await rowWith('uri', '/broken')).toMatchObject({ status: 200 });
  });

  test('when a later slice fails', async () => {
    const sliced = await edge.site({ cacheRules: [rule({ slices: true })] });
    const mega = 1 << 20;
    const first = { etag: '"a"', 'content-range': `bytes 0-${mega - 1}/${3 * mega}` };
    edge.origin.on('/pieces', ({ headers }) =>
      headers.range === `bytes=0-${mega - 1}`
        ? { status: 206, headers: first, body: 'a'.repeat(mega) }
        : { raw: 'HTTP/1.1 199 Odd\r\n\r\n' },
    );
    await edge.raw(`GET /pieces HTTP/1.1\r\nHost: ${sliced.name}\r\n${close}\r\n`);
    expect(await rowWith('uri', '/pieces')).toMatchObject({ status: 200, site: sliced.site.id });
  });

  test('with HEAD, a range, a redirect and a stored response', async () => {
    edge.origin.on('/whole', { headers: { etag: '"a"', 'content-length': 10 }, body: '0123456789' });
    edge.origin.on('/moved', { status: 302, headers: { location: '/whole' } });
    const replies = [
      await edge.get('/whole', { host: name }),
      await edge.get('/whole', { host: name, method: 'HEAD' }),
      await edge.get('/whole', { host: name, headers: { range: 'bytes=0-3' } }),
      await edge.get('/whole', { host: name, headers: { 'if-none-match': '"a"' } }),
      await edge.get('/moved', { host: name }),
    ];
    const rows = await Promise.all(replies.map((reply) => edge.accessLogEntry(reply)));
    expect(rows.map(({ status }) => status)).toEqual([200, 200, 206, 304, 302]);
  });
});
