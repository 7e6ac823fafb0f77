import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEdge, zoneDoc } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

const usual = { force: false, hsts: null, minTLS: 'TLSv1.2' } as const;
const hsts = 'max-age=31536000; includeSubDomains';

describe('an HTTP request for a domain that forces HTTPS', () => {
  test('is redirected to the same URL by HTTPS, without an origin request', async () => {
    const { name } = await edge.site({}, { https: { ...usual, force: true } });
    const reply = await edge.get('/a%20b//c?x=1&y=%2F', { host: name });
    expect([reply.status, reply.header('location')]).toEqual([
      301,
      `https://${name}:${edge.ports.https}/a%20b//c?x=1&y=%2F`,
    ]);
    expect(edge.origin.asked('/a%20b//c?x=1&y=%2F')).toEqual([]);
    expect((await edge.get('/', { host: name, tls: name })).status).toBe(200);
    // A cached page does not bypass the redirect.
    expect((await edge.get('/', { host: name })).status).toBe(301);
  });

  test('is redirected to the requested name of a wildcard', async () => {
    const { name } = await edge.site({}, { name: '*.wild.example.com', https: { ...usual, force: true } });
    const reply = await edge.get('/', { host: name.replace('*', 'some') });
    expect(reply.header('location')).toBe(`https://some.wild.example.com:${edge.ports.https}/`);
  });

  test.each(['//evil.example.com/', '/\\evil.example.com'])('stays at the site with the path %j', async (path) => {
    const { name } = await edge.site({}, { https: { ...usual, force: true } });
    const reply = await edge.get(path, { host: name });
    expect(new URL(reply.header('location') ?? '').hostname).toBe(name);
  });

  test('by a certificate authority is served by HTTP, because a certificate is needed first', async () => {
    const { name, site } = await edge.site({}, { https: { ...usual, force: true } });
    const token = 'a'.repeat(32);
    await edge.put({ kind: 'acme', token, name, siteID: site.id, keyAuthorization: `${token}.proof` });
    const reply = await edge.get(`/.well-known/acme-challenge/${token}`, { host: name });
    expect([reply.status, reply.body]).toEqual([200, `${token}.proof`]);
  });

  test('gets the out-of-service error first', async () => {
    const { name } = await edge.site({ status: 'pause' }, { https: { ...usual, force: true } });
    expect((await edge.get('/', { host: name })).status).toBe(904);
  });
});

test("uses the zone's redirect code, and is not redirected without HTTPS", async () => {
  const other = await startEdge({ zone: { forceSSLRedirectCode: 308 } });
  try {
    const { name } = await other.site({}, { https: { ...usual, force: true } });
    expect((await other.get('/', { host: name })).status).toBe(308);
    const plain = zoneDoc(other.ports, { ports: [{ port: other.ports.http, tls: false }] });
    await other.write(plain);
    await other.render(plain);
    await other.reload();
    expect((await other.get('/', { host: name })).status).toBe(200);
  } finally {
    await other.stop();
  }
});

describe('HSTS', () => {
  test('is sent by HTTPS only, once, with fetched, cached, error and WebSocket responses', async () => {
    const { name } = await edge.site({}, { https: { ...usual, hsts } });
    const hstsOf = async (path: string, more: object = {}) => {
      const reply = await edge.get(path, { host: name, tls: name, ...more });
      return reply.all('strict-transport-security');
    };
    edge.origin.on('/own', () => ({ headers: { 'strict-transport-security': 'max-age=1' } }));
    edge.origin.on('/broken', () => ({ status: 500 }));
    for (const path of ['/', '/', '/own', '/broken']) expect(await hstsOf(path)).toEqual([hsts]);
    expect(await hstsOf('/', { method: 'POST' })).toEqual([hsts]);
    expect((await edge.get('/', { host: name })).all('strict-transport-security')).toEqual([]);
  });

  test("is the origin's if the domain has no setting", async () => {
    const { name } = await edge.site({}, { https: usual });
    edge.origin.on('/own', () => ({ headers: { 'strict-transport-security': 'max-age=1' } }));
    expect((await edge.get('/own', { host: name, tls: name })).all('strict-transport-security')).toEqual(['max-age=1']);
    expect((await edge.get('/', { host: name, tls: name })).all('strict-transport-security')).toEqual([]);
  });
});

describe('a domain that requires TLS 1.3', () => {
  const version = async (options: ConnectionOptions) => {
    const socket = connect({ host: '127.0.0.1', port: edge.ports.https, rejectUnauthorized: false, ...options });
    await once(socket, 'secureConnect');
    const protocol = socket.getProtocol();
    socket.destroy();
    return protocol;
  };

  test('rejects older versions, while other domains accept them', async () => {
    const [newer, older] = [
      await edge.site({}, { https: { ...usual, minTLS: 'TLSv1.3' } }),
      await edge.site({}, { https: usual }),
    ];
    expect(await version({ servername: newer.name })).toBe('TLSv1.3');
    await expect(version({ servername: newer.name, maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/i);
    expect(await version({ servername: older.name, maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
    await edge.put({ ...newer.host, https: usual });
    expect(await version({ servername: newer.name, maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
  });
});

describe("a request over a connection with another host's SNI", () => {
  const rules = { usual, newer: { ...usual, minTLS: 'TLSv1.3' }, forced: { ...usual, force: true } } as const;
  const named = async (of: keyof typeof rules) => (await edge.site({}, { https: rules[of] })).name;
  const statusOf = async (host: string, tls: string | false) => (await edge.get('/', { host, tls })).status;

  test.each([
    ['usual', 'usual', 200],
    ['newer', 'newer', 200],
    ['forced', 'forced', 200],
    ['usual', 'newer', 421],
    ['newer', 'usual', 421],
    ['usual', 'forced', 421],
    ['forced', 'usual', 421],
    ['newer', 'forced', 421],
  ] as const)('with the TLS rules "%s" for a host with "%s" is %i', async (shown, asked, status) => {
    const [tls, host] = [await named(shown), await named(asked)];
    expect(await statusOf(host, host)).toBe(200);
    expect(await statusOf(host, tls)).toBe(status);
    expect(await statusOf(host, tls.toUpperCase())).toBe(status);
  });

  test.each([
    ['usual', 200],
    ['forced', 200],
    ['newer', 421],
  ] as const)('and without SNI or with an unknown SNI, for a host with "%s" is %i', async (asked, status) => {
    const host = await named(asked);
    for (const tls of [false, 'nobody.example.net'] as const) expect(await statusOf(host, tls)).toBe(status);
  });

  test('gets 421 for cached objects, too, without origin request, uncacheable', async () => {
    const [tls, host] = [await named('usual'), await named('newer')];
    edge.origin.on('/stored', { headers: { 'cache-control': 'max-age=600' } });
    for (const cache of ['uri-miss', 'hit']) expect((await edge.get('/stored', { host, tls: host })).cache).toBe(cache);
    const reply = await edge.get('/stored', { host, tls });
    expect([reply.status, reply.header('cache-control')]).toEqual([421, 'no-store']);
    expect(reply.body).toContain('<h1>421 Misdirected Request</h1>');
    expect(edge.origin.asked('/stored')).toHaveLength(1);
  });

  test('follows changes of either host at once', async () => {
    const [tls, host] = [await edge.site({}, { https: usual }), await edge.site({}, { https: usual })];
    expect(await statusOf(host.name, tls.name)).toBe(200);
    await edge.put({ ...tls.host, https: rules.newer });
    expect(await statusOf(host.name, tls.name)).toBe(421);
    await edge.put({ ...host.host, https: rules.newer });
    expect(await statusOf(host.name, tls.name)).toBe(200);
  });

  test('does not affect other requests of an HTTP/2 connection', async () => {
    const [tls, host] = [await named('usual'), await named('forced')];
    const session = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, {
      servername: tls,
      rejectUnauthorized: false,
    });
    onTestFinished(() => session.destroy());
    const ask = async (authority: string) => {
      const stream = session.request({ ':path': '/', ':authority': authority });
      const [headers] = await once(stream, 'response');
      stream.resume();
      return headers[':status'];
    };
    expect([await ask(tls), await ask(host), await ask(tls)]).toEqual([200, 421, 200]);
  });

  test('with an invalid name is no connection at all', async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: edge.ports.https,
      servername: 'a b.example.com',
      rejectUnauthorized: false,
    });
    await expect(once(socket, 'secureConnect')).rejects.toThrow();
  });
});
