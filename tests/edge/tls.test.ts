import { execFile } from 'node:child_process';
import { randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { certDoc as compiledCert } from '@edgeloom/api/compile/cert.ts';
import { sealTo } from '@edgeloom/api/compile/seal.ts';
import { KeyID } from '@edgeloom/contract/edge/sealed.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { startEdge, upstream } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';

const zoneKey = randomBytes(32);
const unknownKey = { id: KeyID.parse(randomUUID()), key: randomBytes(32) };
const edge = await startEdge({ zoneKey });
afterAll(() => edge.stop());

type Pair = { cert: string; key: string };

/** An RSA pair; the agent creates only ECDSA pairs. */
async function rsaPair(name: string): Promise<Pair> {
  const { stdout } = await promisify(execFile)(
    'openssl',
    `req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=${name} -keyout - -out -`.split(' '),
  );
  const [key = '', cert = ''] = stdout.split(/(?=-----BEGIN CERTIFICATE-----)/);
  return { cert, key };
}

function certDoc(pairs: Pair[], over: Partial<CertDoc> = {}): CertDoc {
  const id = over.id ?? randomUUID();
  return {
    kind: 'cert',
    id,
    names: [],
    notAfter: new Date(Date.now() + 86_400_000).toISOString(),
    pairs: pairs.map(({ cert, key }) => ({ chainPem: cert, key: edge.seal(key, `cert/${id}`) })),
    ...over,
  };
}

async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: edge.ports.https, rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Name and key type of the served certificate. */
async function shown(options: ConnectionOptions): Promise<[string, string | undefined]> {
  const socket = await handshake(options);
  const certificate = new X509Certificate(socket.getPeerCertificate(true).raw);
  socket.destroy();
  return [certificate.subject, certificate.publicKey.asymmetricKeyType];
}

async function secureSite(pairs: Pair[]) {
  const cert = certDoc(pairs);
  await edge.put(cert);
  return { cert, ...(await edge.site({}, { certID: cert.id })) };
}

test('a client gets the certificate of the requested name', async () => {
  const one = await secureSite([selfSigned('one.example.com')]);
  const two = await secureSite([selfSigned('two.example.com')]);
  expect(await shown({ servername: one.name })).toEqual(['CN=one.example.com', 'ec']);
  expect(await shown({ servername: two.name })).toEqual(['CN=two.example.com', 'ec']);
  expect((await edge.get('/', { host: one.name, tls: one.name })).status).toBe(200);
});

test('with an RSA and an ECDSA pair each client gets a supported one', async () => {
  const { name } = await secureSite([await rsaPair('both.example.com'), selfSigned('both.example.com')]);
  const ciphers = (kind: string): ConnectionOptions => ({
    servername: name,
    maxVersion: 'TLSv1.2',
    ciphers: `ECDHE-${kind}-AES128-GCM-SHA256`,
  });
  expect(await shown(ciphers('RSA'))).toEqual(['CN=both.example.com', 'rsa']);
  expect(await shown(ciphers('ECDSA'))).toEqual(['CN=both.example.com', 'ec']);
});

test.each([
  ['no name', {}],
  ['a name that is not here', { servername: 'nobody.example.com' }],
])('a client that requests %s gets the default certificate, and then 903', async (_, options) => {
  expect((await shown(options))[0]).toBe('CN=fallback.invalid');
  expect((await edge.get('/', { host: 'nobody.example.com', tls: 'nobody.example.com' })).status).toBe(903);
});

test('names of certificates are case-insensitive', async () => {
  const { name } = await secureSite([selfSigned('capitals.example.com')]);
  expect((await shown({ servername: name.toUpperCase() }))[0]).toBe('CN=capitals.example.com');
});

test('a new certificate is used from the next handshake on, by all workers', async () => {
  const { cert, name } = await secureSite([selfSigned('before.example.com')]);
  for (let i = 0; i < 4; i += 1) expect((await shown({ servername: name }))[0]).toBe('CN=before.example.com');
  await edge.put(certDoc([selfSigned('after.example.com')], { id: cert.id }));
  for (let i = 0; i < 8; i += 1) expect((await shown({ servername: name }))[0]).toBe('CN=after.example.com');
});

describe('an unusable certificate does not affect others:', () => {
  test.each<[string, () => CertDoc]>([
    ['a key sealed for another document', () => ({ ...certDoc([selfSigned('a.example.com')]), id: randomUUID() })],
    [
      'a key that was changed',
      () => {
        const doc = certDoc([selfSigned('a.example.com')]);
        const [pair] = doc.pairs;
        if (pair === undefined) throw new Error('no pair');
        return { ...doc, pairs: [{ ...pair, key: { ...pair.key, tag: Buffer.alloc(16).toString('base64') } }] };
      },
    ],
    ['a chain that is none', () => certDoc([{ cert: 'no chain', key: selfSigned('a.example.com').key }])],
    ['a key that is none', () => certDoc([{ cert: selfSigned('a.example.com').cert, key: 'no key' }])],
  ])('%s', async (_, make) => {
    const cert = make();
    await edge.put(cert);
    const { name } = await edge.site({}, { certID: cert.id });
    expect((await shown({ servername: name }))[0]).toBe('CN=fallback.invalid');
    expect((await edge.get('/', { host: name })).status).toBe(200);
    expect((await edge.counters())['certFailed']).toBeGreaterThan(0);
  });
});

test('a worker without the key of a new certificate continues with the one before', async () => {
  const before = selfSigned('before.example.com');
  const { cert, name } = await secureSite([before]);
  const unknown = certDoc([selfSigned('after.example.com')], { id: cert.id });
  for (const pair of unknown.pairs) pair.key = sealTo(unknownKey, `cert/${cert.id}`, 'any');
  const names = async () =>
    new Set((await Promise.all(Array.from({ length: 16 }, () => shown({ servername: name })))).map(([cn]) => cn));
  // Each worker knows only certificates that it has served itself.
  await eventually(async () => {
    await edge.put(cert);
    expect(await names()).toEqual(new Set(['CN=before.example.com']));
    await edge.put(unknown);
    expect(await names()).toEqual(new Set(['CN=before.example.com']));
  });
  await edge.put(certDoc([selfSigned('after.example.com')], { id: cert.id }));
  expect(await names()).toEqual(new Set(['CN=after.example.com']));
});

test('a key that does not match its chain fails that handshake only', async () => {
  const { cert } = selfSigned('a.example.com');
  const doc = certDoc([{ cert, key: selfSigned('b.example.com').key }]);
  await edge.put(doc);
  const { name } = await edge.site({}, { certID: doc.id });
  await shown({ servername: name }).catch(() => undefined);
  const healthy = await secureSite([selfSigned('healthy.example.com')]);
  expect((await shown({ servername: healthy.name }))[0]).toBe('CN=healthy.example.com');
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken, and a session is resumed', async (version) => {
  const { name } = await secureSite([selfSigned('resumed.example.com')]);
  const options = { servername: name, minVersion: version, maxVersion: version };
  // The client may reconnect before the other worker can see the session.
  await eventually(async () => {
    const first = await handshake(options);
    expect(first.getProtocol()).toBe(version);
    const session = version === 'TLSv1.3' ? (await once(first, 'session'))[0] : first.getSession();
    first.destroy();
    const second = await handshake({ ...options, session });
    const reused = second.isSessionReused();
    second.destroy();
    expect(reused).toBe(true);
  });
});

test('TLS 1.1 is not supported', async () => {
  const options: ConnectionOptions = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' };
  await expect(handshake(options)).rejects.toThrow();
});

test('a zone supports the configured protocols, and HTTP/2 if enabled', async () => {
  const strict = await startEdge({ zone: { tlsProtocols: ['TLSv1.3'], http2: false } });
  const options: ConnectionOptions = {
    host: '127.0.0.1',
    port: strict.ports.https,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
  };
  const socket = connect(options);
  await once(socket, 'secureConnect');
  expect([socket.getProtocol(), socket.alpnProtocol]).toEqual(['TLSv1.3', 'http/1.1']);
  socket.destroy();
  const refused = connect({ ...options, maxVersion: 'TLSv1.2' });
  await expect(once(refused, 'secureConnect')).rejects.toThrow();
  await strict.stop();
});

test('HTTP/2 behaves like HTTP/1.1: same authority, cache and error codes', async () => {
  const { name } = await secureSite([selfSigned('h2.example.com')]);
  edge.origin.on('/h2', { headers: { 'cache-control': 'max-age=60' }, body: 'two' });
  const session = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, {
    servername: name,
    rejectUnauthorized: false,
  });
  const ask = async (authority: string) => {
    const stream = session.request({ ':path': '/h2', ':authority': authority });
    const [headers] = await once(stream, 'response');
    stream.resume();
    await once(stream, 'end');
    return [headers[':status'], headers['cache-status']];
  };
  expect(await ask(name)).toEqual([200, expect.stringContaining('fwd=uri-miss')]);
  expect(await ask(name)).toEqual([200, expect.stringContaining('; hit; ttl=')]);
  expect((await ask('nobody.example.com'))[0]).toBe(903);
  expect(edge.origin.asked('/h2')[0]?.name).toBe(name);
  session.close();
});

describe('an HTTPS origin', () => {
  test('gets its own SNI, never another one on a reused connection', async () => {
    const secure = await startOrigin({ tls: selfSigned('origin.example.com') });
    const names = [];
    for (const sni of ['a.origin.example.com', 'b.origin.example.com', null]) {
      const { name } = await edge.site(
        {},
        { origin: { scheme: 'https', sni, host: 'host.example.com:444', upstreams: [upstream(secure.port)] } },
      );
      for (let i = 0; i < 2; i += 1) {
        expect((await edge.get(`/sni${i}`, { host: name })).status).toBe(200);
        names.push(secure.requests.at(-1)?.serverName);
      }
    }
    expect(names).toEqual([
      'a.origin.example.com',
      'a.origin.example.com',
      'b.origin.example.com',
      'b.origin.example.com',
      'host.example.com',
      'host.example.com',
    ]);
    expect(secure.requests.every((asked) => asked.headers.host === 'host.example.com:444')).toBe(true);
    await secure.stop();
  });
  test("without its own Host setting gets the name and port of the edge, not the port in the client's header", async () => {
    const secure = await startOrigin({ tls: selfSigned('origin.example.com') });
    const { name } = await edge.site({}, { origin: { scheme: 'https', upstreams: [upstream(secure.port)] } });
    expect((await edge.get('/', { host: `${name}:8080` })).status).toBe(200);
    expect(secure.requests[0]).toMatchObject({ serverName: name, headers: { host: `${name}:${edge.ports.http}` } });
    await secure.stop();
  });
  test('is used for TLS clients if the scheme follows the client', async () => {
    const secure = await startOrigin({ tls: selfSigned('origin.example.com') });
    const { name } = await edge.site(
      {},
      {
        origin: {
          scheme: 'follow',
          portMap: [{ from: edge.ports.https, to: secure.port }],
          upstreams: [upstream(edge.origin.port)],
        },
      },
    );
    expect((await edge.get('/follow', { host: name, tls: name })).status).toBe(200);
    expect((await edge.get('/follow', { host: name })).status).toBe(200);
    expect([secure.asked('/follow').length, edge.origin.asked('/follow').length]).toEqual([1, 1]);
    await secure.stop();
  });
});

test("challenges of an authority are answered on the name's own site, in any state of the site", async () => {
  const token = 'evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA';
  const path = `/.well-known/acme-challenge/${token}`;
  const mine = await edge.site();
  const beside = await edge.site();
  const asked = {
    kind: 'acme' as const,
    token,
    name: mine.name,
    siteID: mine.site.id,
    keyAuthorization: `${token}.thumb`,
  };
  await edge.put(asked);
  const answer = await edge.get(path, { host: mine.name });
  expect([answer.status, answer.body, answer.header('content-type')]).toEqual([200, `${token}.thumb`, 'text/plain']);
  await edge.put({ ...mine.site, status: 'pause' });
  expect((await edge.get(path, { host: mine.name })).body).toBe(`${token}.thumb`);
  expect((await edge.get(path, { host: beside.name })).body).not.toContain('thumb');
  expect((await edge.get(path, { host: 'nobody.example.com' })).status).toBe(903);
  // A name that moved to another site does not keep its challenge response.
  await edge.put({ ...asked, siteID: beside.site.id });
  expect((await edge.get(path, { host: mine.name })).status).toBe(904);
  await edge.remove(`acme/${token}`);
  await edge.put(mine.site);
  const before = edge.origin.asked(path).length;
  await edge.get(path, { host: mine.name });
  expect(edge.origin.asked(path)).toHaveLength(before + 1);
});

test('during key rotation certificates with either key work, and none with a removed key', async () => {
  const newer = { id: randomUUID(), key: randomBytes(32) };
  const ring = [
    { id: 'first' as const, key: zoneKey.toString('base64') },
    { id: newer.id, key: newer.key.toString('base64') },
  ];
  const sealedBy = async (key: Parameters<typeof compiledCert>[1], name: string) => {
    const pair = selfSigned(name);
    const row = { id: randomUUID(), names: [], notAfter: new Date(Date.now() + 86_400_000) };
    const cert = compiledCert({ ...row, pairs: [{ keyType: 'ecdsa', chainPem: pair.cert, keyPem: pair.key }] }, key);
    await edge.put(cert);
    return edge.site({}, { certID: cert.id });
  };
  const older = await sealedBy({ id: 'first', key: zoneKey }, 'older.example.com');
  const fresh = await sealedBy(newer, 'fresh.example.com');
  await edge.setZoneKeys(ring);
  expect(await shown({ servername: older.name })).toEqual(['CN=older.example.com', 'ec']);
  expect(await shown({ servername: fresh.name })).toEqual(['CN=fresh.example.com', 'ec']);
  await edge.setZoneKeys(ring.toReversed());
  expect(await shown({ servername: older.name })).toEqual(['CN=older.example.com', 'ec']);
  await edge.setZoneKeys(ring.slice(1));
  expect(await shown({ servername: fresh.name })).toEqual(['CN=fresh.example.com', 'ec']);
  expect(await shown({ servername: older.name })).toEqual(['CN=fallback.invalid', 'ec']);
});
