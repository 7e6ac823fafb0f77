import { createServer as createPlain } from 'node:http';
import { createServer as createTls } from 'node:https';
import { createServer, type Server } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import '../support/assertions/matchers.ts';

const { as, build, close } = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8', RATE_PROBE: '8/60' });
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) server.close();
  await close();
});

const listening = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const place = server.address();
  return typeof place === 'object' && place ? place.port : 0;
};
const prober = async () => {
  const site = await build.site();
  return (body: { address?: string; port: number; host?: string }) =>
    as(site.owner).call(domains.probe, { params: site.params, body: { address: '127.0.0.1', ...body } });
};
const nobody = { reachable: false, scheme: null, status: null };

describe('an origin test', () => {
  test('returns protocol and status, for the given host name', async () => {
    const probe = await prober();
    const asked: unknown[] = [];
    const port = await listening(
      createPlain((request, answer) => {
        asked.push([request.method, request.url, request.headers.host, request.headers['user-agent']]);
        answer.writeHead(404).end('x'.repeat(100_000));
      }),
    );
    expect(await probe({ port, host: 'shop.example.com' })).toEqual({ reachable: true, scheme: 'http', status: 404 });
    expect(asked).toEqual([['GET', '/', 'shop.example.com', 'Edgeloom-Probe']]);
  });

  test('detects HTTPS with any certificate', async () => {
    const probe = await prober();
    const { cert, key } = selfSigned('origin.example.com');
    const port = await listening(createTls({ cert, key }, (_, answer) => answer.writeHead(200).end()));
    expect(await probe({ port })).toEqual({ reachable: true, scheme: 'https', status: 200 });
  });

  test('does not distinguish closed ports from other failures', async () => {
    const probe = await prober();
    const banner = await listening(createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
    const silent = await listening(createServer((socket) => socket.on('error', () => undefined)));
    const closing = createServer();
    const closed = await listening(closing);
    closing.close();
    for (const port of [banner, silent, closed]) expect(await probe({ port })).toEqual(nobody);
    expect(await probe({ address: `${unique('no')}.invalid`, port: 80 })).toEqual(nobody);
  });

  test('respects the outbound policy and a rate limit', async () => {
    const probe = await prober();
    await expect(probe({ address: '10.0.0.1', port: 80 })).toFail('PARAMETER');
    await expect(probe({ address: 'localhost', port: 80 })).toFail('PARAMETER');
    const many = await Promise.allSettled(Array.from({ length: 8 }, () => probe({ address: '10.0.0.1', port: 80 })));
    const refused = many.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
    await expect(refused.at(-1)).toFail('RATE_LIMITED');
  });
});

test('DNS account tests are limited per minute, because each lists all zones', async () => {
  const site = await build.site();
  const credentials = { url: 'https://10.0.0.1', serverID: 'localhost', apiKey: 'a key of no importance' };
  const body = { provider: 'powerDNS' as const, domains: ['example.com'], credentials };
  const tries = Array.from({ length: 9 }, () => as(site.owner).call(siteDns.create, { params: site.params, body }));
  const refused = (await Promise.allSettled(tries)).flatMap((one): unknown[] =>
    one.status === 'rejected' ? [one.reason] : [],
  );
  await expect(refused.at(-1)).toFail('RATE_LIMITED');
});

test('names that would be rejected are reported beforehand', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const here = await build.domain({ site, enabled: false });
  const elsewhere = await build.domain({ site: other });
  const off = await build.domain({ site: other, enabled: false });
  const names = [here.name, elsewhere.name, off.name, `${unique('free')}.example.com`, 'no name'];
  const { data } = await as(site.owner).call(domains.refusals, { params: site.params, body: { names } });
  expect(data).toEqual([
    { name: here.name, code: 101_025 },
    { name: elsewhere.name, code: 401_001 },
  ]);
});
