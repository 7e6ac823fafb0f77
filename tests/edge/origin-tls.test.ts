// Origins over TLS with certificate verification.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { startEdge, upstream } from '../support/services/edge.ts';
import { startOrigin } from '../support/fakes/origin.ts';

const trusted = selfSigned('origin.example.com');
const edge = await startEdge({ trustedAuthorities: trusted.cert });
const [right, wrong] = await Promise.all([
  startOrigin({ tls: trusted }),
  startOrigin({ tls: selfSigned('origin.example.com') }),
]);
afterAll(() => Promise.all([edge.stop(), right.stop(), wrong.stop()]));

const site = (ports: number[], more: { sni?: string | null; verify?: boolean; certID?: string } = {}) =>
  edge.site(
    {},
    {
      origin: {
        scheme: 'https',
        host: 'origin.example.com',
        verify: true,
        upstreams: ports.map((port, i) => upstream(port, { backup: i > 0 })),
        ...more,
      },
    },
  );

describe('an origin with certificate verification', () => {
  test('is used, for pages and bodies, if a trusted authority signed its certificate', async () => {
    const { name } = await site([right.port]);
    expect((await edge.get('/valid', { host: name })).status).toBe(200);
    expect((await edge.get('/valid', { host: name, method: 'POST', body: 'x'.repeat(100_000) })).status).toBe(200);
    expect(right.asked('/valid').map(({ method, body }) => [method, body.length])).toEqual([
      ['GET', 0],
      ['POST', 100_000],
    ]);
  });

  test('receives nothing if the certificate is untrusted', async () => {
    const { name } = await site([wrong.port]);
    const reply = await edge.get('/secret', { host: name, headers: { cookie: 'session=1' } });
    expect([reply.status, reply.body]).toEqual([502, expect.stringContaining('does not answer')]);
    expect(wrong.asked('/secret')).toEqual([]);
  });

  test('receives nothing if the certificate has another name', async () => {
    const { name } = await site([right.port], { sni: 'other.example.com' });
    expect((await edge.get('/other', { host: name })).status).toBe(502);
    expect(right.asked('/other')).toEqual([]);
  });

  test('is replaced by a backup with a valid certificate', async () => {
    const { name } = await site([wrong.port, right.port]);
    expect((await edge.get('/backup', { host: name })).status).toBe(200);
    expect([wrong.asked('/backup').length, right.asked('/backup').length]).toEqual([0, 1]);
  });
});

test("an origin that requests a client certificate gets the domain's, and no other domain uses it", async () => {
  const [ours, id] = [selfSigned('edge.example.com'), randomUUID()];
  const server = createServer(
    { ...trusted, requestCert: true, rejectUnauthorized: false, ca: ours.cert },
    (request, response) => {
      const authorized = request.socket instanceof TLSSocket && request.socket.authorized;
      response.writeHead(authorized ? 200 : 403).end();
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const key = edge.seal(ours.key, `cert/${id}`);
  await edge.put({
    kind: 'cert',
    id,
    names: [],
    notAfter: new Date(Date.now() + 86_400_000).toISOString(),
    pairs: [{ chainPem: ours.cert, key }],
  });
  const [shown, none, lost] = [
    await site([port], { certID: id }),
    await site([port]),
    await site([port], { certID: randomUUID() }),
  ];
  // Sequential, so that a reused connection would show.
  for (let i = 0; i < 3; i += 1) {
    expect((await edge.get('/', { host: shown.name })).status).toBe(200);
    expect((await edge.get('/', { host: none.name })).status).toBe(403);
  }
  expect((await edge.get('/', { host: lost.name })).status).toBe(502);
  server.close();
  server.closeAllConnections();
});

test('without verification any certificate is accepted', async () => {
  const { name } = await site([wrong.port], { verify: false });
  expect((await edge.get('/', { host: name })).status).toBe(200);
});

test('without trusted authorities no verified origin is used', async () => {
  const bare = await startEdge();
  try {
    const { name } = await bare.site(
      {},
      { origin: { scheme: 'https', host: 'origin.example.com', verify: true, upstreams: [upstream(right.port)] } },
    );
    expect((await bare.get('/bare', { host: name })).status).toBe(502);
    expect(right.asked('/bare')).toEqual([]);
  } finally {
    await bare.stop();
  }
});
