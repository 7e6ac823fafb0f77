// Each setting of a domain, from the API call to what visitors and origins see on a real node.
import { connect } from 'node:tls';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { testAgent, type TestAgent } from '../support/services/agent.ts';
import { unique, type BuiltSite, type BuiltDomain } from '../support/builders/build.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { gate, startOrigin, type Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let agent: TestAgent;
let site: BuiltSite;
let plain: Origin;
let secure: Origin;
const [http = 0, https = 0] = await freePorts(2);

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plain = await startOrigin();
  onEnd(() => plain.stop());
  secure = await startOrigin({ tls: selfSigned('origin.example.com') });
  onEnd(() => secure.stop());
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  site = await plane.build.site({ product: await plane.build.product({ zone }) });
  agent = await testAgent(await plane.node(zone));
  onEnd(() => agent.stop());
  agent.start();
}, 120_000);
afterAll(stopAll);

const user = () => plane.as(site.owner);
/** A domain with origins on these ports. */
async function domain(...ports: number[]): Promise<BuiltDomain> {
  const upstreams = ports.map((port) => ({ address: '127.0.0.1', port }));
  const name = `${unique('set')}.example.com`;
  const { ids } = await user().call(domains.createSimple, { params: site.params, body: { names: [name], upstreams } });
  const row = await plane.installation.db.domain.findUniqueOrThrow({ where: { id: ids[0] ?? '' } });
  await eventually(async () => expect((await visit(http, name)).status).toBe(200), { within: 60_000 });
  return { ...row, site, params: { siteId: site.id, domainId: row.id } };
}

interface Seen {
  status: number;
  hsts: string | undefined;
}
const overTls = (host: string, path = '/'): Promise<Seen> =>
  new Promise((done, refuse) => {
    const options = { host: '127.0.0.1', port: https, path, servername: host, headers: { host }, agent: false };
    const asked = request({ ...options, rejectUnauthorized: false }, (answer) => {
      answer.resume();
      done({ status: answer.statusCode ?? 0, hsts: answer.headers['strict-transport-security'] });
    });
    asked.on('error', refuse);
    asked.end();
  });
const handshake = (servername: string, version: 'TLSv1.2' | 'TLSv1.3'): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({
      host: '127.0.0.1',
      port: https,
      servername,
      rejectUnauthorized: false,
      minVersion: version,
      maxVersion: version,
    });
    socket.on('secureConnect', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });

describe('settings for the origin', () => {
  test('set Host, protocol and SNI', async () => {
    const { name, params } = await domain(plain.port);
    await user().call(domains.update, { params, body: { hostReplace: 'inner.example.com' } });
    await eventually(async () => {
      await visit(http, name, `/${Math.random()}`);
      expect(plain.requests.at(-1)?.headers.host).toBe('inner.example.com');
    });
    const { data } = await user().call(domainUpstreams.list, { params });
    const upstreams = data.map(({ id }) => ({ id, address: '127.0.0.1', port: secure.port }));
    await user().call(domainUpstreams.update, { params, body: { upstreams } });
    await user().call(domains.https, { params, body: { scheme: 'https', portMap: [] } });
    await user().call(domains.update, { params, body: { sni: 'sni.example.com' } });
    await eventually(async () => {
      await visit(http, name, `/${Math.random()}`);
      expect(secure.requests.at(-1)).toMatchObject({
        serverName: 'sni.example.com',
        headers: { host: 'inner.example.com' },
      });
    });
    await user().call(domains.https, { params, body: { scheme: 'https', portMap: [], originVerify: true } });
    await eventually(async () => expect((await visit(http, name, `/${Math.random()}`)).status).toBe(502));
  });

  test('map HTTP and HTTPS visitors to the configured origin ports', async () => {
    const { name, params } = await domain(plain.port);
    const portMap = [
      { from: http, to: plain.port },
      { from: https, to: secure.port },
    ];
    await user().call(domains.https, { params, body: { scheme: 'follow', portMap } });
    await eventually(async () => {
      const path = `/${Math.random()}`;
      expect((await overTls(name, path)).status).toBe(200);
      expect(secure.asked(path)).toHaveLength(1);
    });
    expect((await visit(http, name, '/by-http')).status).toBe(200);
    expect(plain.asked('/by-http')).toHaveLength(1);
  });

  test('set balancing, timeouts and rest time', async () => {
    const { name, params } = await domain(plain.port);
    const { opened, open } = gate();
    plain.on('/silent', { after: opened });
    const spare = await startOrigin();
    const backup = { address: '127.0.0.1', port: spare.port, backup: true };
    await user().call(domainUpstreams.create, { params, body: { upstreams: [backup] } });
    const body = { readTimeoutSeconds: 4, connectTimeoutSeconds: 4, maxFails: 1, failTimeoutSeconds: 3600 };
    // The Host header shows that the node has applied the change.
    await user().call(domains.update, {
      params,
      body: { ...body, hashType: 'uriHash', hostReplace: 'told.example.com' },
    });
    await eventually(async () => {
      await visit(http, name, `/${Math.random()}`);
      expect(plain.requests.at(-1)?.headers.host).toBe('told.example.com');
    });
    expect((await visit(http, name, '/silent')).status).toBe(200);
    expect(spare.asked('/silent')).toHaveLength(1);
    // One failed attempt is enough.
    expect((await visit(http, name, '/after')).status).toBe(200);
    expect([plain.asked('/after').length, spare.asked('/after').length]).toEqual([0, 1]);
    await spare.stop();
    open();
  });
});

describe('settings for visitors', () => {
  test('force HTTPS, set HSTS and a minimum TLS version', async () => {
    const { name, params } = await domain(plain.port);
    const { id } = await plane.build.certificate(site, [name]);
    const assigning = { params: { ...site.params, certId: id }, body: { domainIDs: [params.domainId] } };
    await user().call(certificates.assign, assigning);
    expect(await handshake(name, 'TLSv1.2')).toBe(true);
    const hsts = { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: true };
    const body = { scheme: 'http' as const, portMap: [], forceSSL: true, hsts, minTLS: 'TLSv1.3' as const };
    await user().call(domains.https, { params, body });
    await eventually(async () =>
      expect(await visit(http, name, '/page?q=1')).toMatchObject({
        status: 301,
        headers: { location: `https://${name}:${https}/page?q=1` },
      }),
    );
    expect(await overTls(name)).toEqual({ status: 200, hsts: 'max-age=31536000; includeSubDomains; preload' });
    expect([await handshake(name, 'TLSv1.2'), await handshake(name, 'TLSv1.3')]).toEqual([false, true]);
    await user().call(domains.https, {
      params,
      body: { ...body, hsts: { ...hsts, includeSubdomains: false, preload: false } },
    });
    await eventually(async () => expect((await overTls(name)).hsts).toBe('max-age=31536000'));
    await user().call(certificates.assign, { ...assigning, body: { ...assigning.body, assigned: false } });
    await eventually(async () => expect((await visit(http, name)).status).toBe(200));
    expect((await overTls(name)).hsts).toBeUndefined();
    await user().call(certificates.assign, assigning);
    await eventually(async () => expect((await visit(http, name)).status).toBe(301));
    await user().call(domains.https, { params, body: { ...body, forceSSL: false, hsts: null } });
    await eventually(async () => expect((await visit(http, name)).status).toBe(200));
    expect((await overTls(name)).hsts).toBeUndefined();
  });

  test('answer 903 for a disabled name, and serve it again when enabled', async () => {
    const { name, id } = await domain(plain.port);
    await user().call(domains.status, { params: site.params, body: { ids: [id], enabled: false } });
    await eventually(async () => expect((await visit(http, name)).status).toBe(903));
    await user().call(domains.status, { params: site.params, body: { ids: [id], enabled: true } });
    await eventually(async () => expect((await visit(http, name)).status).toBe(200));
  });
});
