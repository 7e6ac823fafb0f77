// Active health checks of origins: single checks, and the effect of a domain's settings on visitors and customers.
import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createLookUp, createResolver } from '@edgeloom/agent/origins/addresses.ts';
import { check, type OriginCheck } from '@edgeloom/agent/health/check.ts';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { testAgent } from '../support/services/agent.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

const dns = await startNameServer();
const trusted = selfSigned('origin.example.com');
const [plain, secure] = await Promise.all([startOrigin(), startOrigin({ tls: trusted })]);
const open: Server[] = [];
afterAll(async () => {
  for (const server of open) server.close();
  await Promise.all([plain.stop(), secure.stop(), dns.stop()]);
});

const policy = { deny: ['192.168.0.0/16', '127.0.0.0/8'], allow: ['127.0.0.1', '::1'] };
const resolve = createResolver(createLookUp([dns.address]), () => policy);
const look = (over: Partial<OriginCheck>): OriginCheck => ({
  address: '127.0.0.1',
  port: plain.port,
  tls: null,
  host: 'www.example.com',
  path: '/health',
  timeoutSeconds: 10,
  statusFrom: 200,
  statusTo: 399,
  ...over,
});
const ours = selfSigned('edge.example.com');
const pairOf = (certID: string) =>
  certID === 'ours' ? Promise.resolve(ours) : Promise.reject(new Error('the certificate is missing'));
const find = async (over: Partial<OriginCheck>) =>
  (await check(look(over), { resolve, authorities: trusted.cert, pairOf })).reason;

/** A server that accepts connections and calls the handler. */
async function socketServer(
  then: (socket: { destroy: () => void; resetAndDestroy: () => void }) => void,
  host = '127.0.0.1',
) {
  const server = createServer({ pauseOnConnect: false }, (socket) => {
    socket.on('error', () => undefined);
    then(socket);
  }).listen(0, host);
  open.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('a health check', () => {
  test('requests the configured path with the configured host', async () => {
    expect(await find({})).toBeNull();
    expect(plain.asked('/health').at(-1)).toMatchObject({
      method: 'GET',
      headers: { host: 'www.example.com', 'user-agent': 'Edgeloom-Health' },
    });
  });

  test('fails by status, refused or reset connection, and timeout', async () => {
    plain.on('/broken', { status: 503 });
    expect(await find({ path: '/broken' })).toBe('status 503');
    expect(await find({ path: '/broken', statusFrom: 503, statusTo: 503 })).toBeNull();
    expect(await find({ port: await freePort() })).toMatch(/ECONNREFUSED/);
    expect(await find({ port: await socketServer((socket) => socket.resetAndDestroy()) })).toMatch(
      /ECONNRESET|hang up/,
    );
    // Accepts the connection and sends nothing.
    expect(await find({ port: await socketServer(() => undefined), timeoutSeconds: 1 })).toBe('no response within 1 s');
  });

  test('accepts any certificate unless verification is enabled', async () => {
    const tls = { name: 'origin.example.com', verify: true };
    expect(await find({ port: secure.port, tls })).toBeNull();
    expect(secure.requests.at(-1)?.serverName).toBe('origin.example.com');
    expect(await find({ port: secure.port, tls: { ...tls, name: 'other.example.com' } })).toMatch(/altnames|Hostname/i);
    expect(await find({ port: secure.port, tls: { name: 'other.example.com', verify: false } })).toBeNull();
  });

  test("presents the domain's client certificate", async () => {
    const server = createSecureServer({ ...trusted, requestCert: true, ca: ours.cert }, (_, response) => {
      response.end();
    }).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const tls = { name: 'origin.example.com', verify: true };
    expect(await find({ port, tls: { ...tls, certID: 'ours' } })).toBeNull();
    expect(await find({ port, tls })).not.toBeNull();
    expect(await find({ port, tls: { ...tls, certID: 'gone' } })).toBe('the certificate is missing');
  });

  test('follows DNS, including IPv6, and respects the outbound policy', async () => {
    const six = await startOrigin({ host: '::1' });
    const name = 'moving.example.com';
    expect(await find({ address: name })).toBe('the name cannot be resolved');
    dns.records.set(name, { a: ['127.0.0.1'] });
    expect(await find({ address: name })).toBeNull();
    dns.records.set(name, { aaaa: ['0:0:0:0:0:0:0:1'] });
    expect(await find({ address: name, port: six.port })).toBeNull();
    for (const a of ['192.168.1.1', '127.0.0.2']) {
      dns.records.set(name, { a: [a] });
      expect(await find({ address: name })).toBe('no permitted address');
    }
    expect(await find({ address: '127.0.0.2' })).toBe('no permitted address');
    await six.stop();
  });
});

test('an origin that fails is skipped before visitors notice, is shown to its owner, and returns', async () => {
  const plane = await controlPlane({ databaseUrl: await testDatabase() });
  const [port, first] = [await freePort(), await freePort()];
  const other = await startOrigin();
  other.on('/', { body: 'other', headers: { 'cache-control': 'no-store' } });
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const agent = await testAgent(await plane.node(zone));
  const { call } = plane.as(site.owner);
  try {
    const name = 'checked.example.com';
    const upstreams = [
      { address: '127.0.0.1', port: first },
      { address: '127.0.0.1', port: other.port, backup: true },
    ];
    const { ids } = await call(domains.create, { params: site.params, body: { domains: [{ name, upstreams }] } });
    const params = { ...site.params, domainId: ids[0] ?? '' };
    const healthCheck = {
      path: '/alive',
      host: null,
      intervalSeconds: 5,
      timeoutSeconds: 5,
      statusFrom: 200,
      statusTo: 299,
      fails: 1,
      passes: 1,
    };
    expect(await call(domains.update, { params, body: { healthCheck } })).toMatchObject({ healthCheck });
    agent.start();
    const health = async () => (await call(domainUpstreams.health, { params })).data;
    // The main origin is down, the backup responds, and no visitor's request goes to the main origin.
    await eventually(
      async () =>
        expect(await health()).toMatchObject([
          { up: 0, down: 1 },
          { up: 1, down: 0 },
        ]),
      {
        within: 120_000,
      },
    );
    expect((await health())[0]?.reason).toMatch(/ECONNREFUSED/);
    expect((await visit(port, name)).body).toBe('other');

    const main = await startOrigin({ port: first });
    main.on('/', { body: 'main', headers: { 'cache-control': 'no-store' } });
    await eventually(async () => expect((await visit(port, name)).body).toBe('main'), { within: 60_000 });
    await eventually(async () => expect(await health()).toMatchObject([{ up: 1, down: 0, reason: null }, { up: 1 }]), {
      within: 60_000,
    });
    expect(main.asked('/alive')[0]?.headers).toMatchObject({ host: name, 'user-agent': 'Edgeloom-Health' });
    // Other customers do not see it.
    const stranger = await plane.build.site();
    await expect(plane.as(stranger.owner).call(domainUpstreams.health, { params })).rejects.toMatchObject({
      status: 404,
    });

    await call(domains.update, { params, body: { healthCheck: null } });
    expect(await health()).toEqual([]);
    await main.stop();
  } finally {
    await agent.stop();
    await other.stop();
    await plane.stop();
  }
}, 300_000);
