// A walk for each of several features, from the API call to what visitors of one real node see.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { blacklists, geos } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import {
  cors,
  customHeaders,
  domainModules,
  proxyRewrites,
  redirects,
  tokenAuths,
  urlRedirects,
} from '@edgeloom/contract/modules/modules.endpoints.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { TestAgent } from '../support/services/agent.ts';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { unique, type BuiltSite, type BuiltZone } from '../support/builders/build.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startResponder } from '../support/fakes/ocsp-responder.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { freePorts } from '../support/services/ports.ts';
import { anotherSite, nodeAt } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { statusFrom, visit } from '../support/assertions/visit.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 180_000 });

let plane: ControlPlane;
let agent: TestAgent;
let zone: BuiltZone;
const { onEnd, stopAll } = collectedStops();
const [http = 0, https = 0] = await freePorts(2);
const within = 60_000;

beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  ({ agent } = await nodeAt(plane, zone));
  onEnd(() => agent.stop());
  agent.start();
});
afterAll(stopAll);

async function originOfTest(): Promise<Origin> {
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  return origin;
}

test('modules are created, assigned, changed and removed, and the edge follows each change', async () => {
  const origin = await originOfTest();
  const { call, params, name } = await anotherSite(plane, zone, origin);
  const get = (path: string) => visit(http, name, path);
  await eventually(async () => expect((await get('/')).status).toBe(200), { within: 40_000 });

  const frame = { direction: 'response' as const, action: 'set' as const, name: 'X-Frame-Options', value: 'DENY' };
  const [header] = (await call(customHeaders.create, { params, body: { modules: [{ name: 'h', headers: [frame] }] } }))
    .data;
  const [script] = (await call(cors.create, { params, body: { cors: [{ name: 'c', allowOrigins: ['*'] }] } })).data;
  const [sending] = (await call(urlRedirects.create, { params, body: { modules: [{ name: 'r' }] } })).data;
  const rules = [{ type: 'prefix' as const, source: '/api', target: '/v2' }];
  const [rewriting] = (await call(proxyRewrites.create, { params, body: { modules: [{ name: 'p', rules }] } })).data;
  const assign = (
    kind: 'customHeader' | 'cors' | 'urlRedirect' | 'proxyRewrite' | 'tokenAuth',
    moduleID: string | null,
  ) => call(domainModules.assign, { params: { ...params, kind }, body: { moduleID } });
  await assign('customHeader', header?.id ?? '');
  await assign('cors', script?.id ?? '');
  await assign('urlRedirect', sending?.id ?? '');
  await assign('proxyRewrite', rewriting?.id ?? '');
  await call(redirects.create, {
    params: { ...params, moduleId: sending?.id ?? '' },
    body: { redirects: [{ type: 'exact', source: '/old', target: '/new' }] },
  });

  await eventually(async () => expect((await get('/old')).headers.location).toBe('/new'));
  const reply = await get('/api/users');
  expect([reply.headers['x-frame-options'], reply.headers['access-control-allow-origin']]).toEqual(['DENY', '*']);
  expect(origin.asked('/v2/users')).toHaveLength(1);

  const changed = { id: header?.id ?? '', name: 'h', headers: [{ ...frame, value: 'SAMEORIGIN' }] };
  await call(customHeaders.update, { params, body: { modules: [changed] } });
  await eventually(async () => expect((await get('/')).headers['x-frame-options']).toBe('SAMEORIGIN'));
  await assign('customHeader', null);
  await eventually(async () => expect((await get('/')).headers['x-frame-options']).toBeUndefined());
  await call(customHeaders.remove, { params, body: { ids: [changed.id] } });

  const entry = {
    parts: [{ name: 'auth', format: '{time}-{sign}' }],
    text: '{path}{time}',
    algorithm: 'hmacSha256' as const,
    keys: [{ key: 'a-key-of-the-flow' }],
  };
  const [guard] = (await call(tokenAuths.create, { params, body: { modules: [{ name: 't', auths: [entry] }] } })).data;
  const at = { ...params, moduleId: guard?.id ?? '' };
  const url = `http://${name}:${http}/paid?q=1`;
  const signed = await call(tokenAuths.sign, { params: at, body: { authID: guard?.auths[0]?.id ?? '', url } });
  await assign('tokenAuth', at.moduleId);
  await eventually(async () => expect((await get('/paid?q=1')).status).toBe(403));
  expect((await get(signed.url.slice(`http://${name}:${http}`.length))).status).toBe(200);
  expect(await call(tokenAuths.judge, { params: at, body: { url } })).toMatchObject({ reason: 'missing' });
});

test('a list and a region rule reach a node, and a removed list lets visitors in again', async () => {
  const { call, params, name } = await anotherSite(plane, zone, await originOfTest());
  const visitFrom = (address: string) => statusFrom(address, http, name);
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(200), { within });

  const list = await call(blacklists.create, { params, body: { ips: ['127.0.5.0-127.0.5.9'] } });
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(403), { within });
  expect(await visitFrom('127.0.5.10')).toBe(200);

  await call(geos.create, { params, body: { geoIDs: ['country-TW'], blockType: 0 } });
  // The bundled database knows this network.
  await eventually(
    async () => {
      const { steps } = await call(simulate.run, {
        params,
        body: { url: `http://${name}:${http}/`, ip: '168.95.1.1' },
      });
      expect(steps.find(({ step }) => step === 'geo')).toMatchObject({ decision: 'refused' });
    },
    { within },
  );

  await call(blacklists.remove, { params, body: { ids: [list.id] } });
  await eventually(async () => expect(await visitFrom('127.0.5.1')).toBe(200), { within });
});

async function add(site: BuiltSite, name: string, origin: Origin) {
  const { call } = plane.as(site.owner);
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  const { ids } = await call(domains.createSimple, { params: site.params, body: { names: [name], upstreams } });
  return {
    turn: (enabled: boolean) => call(domains.status, { params: site.params, body: { ids, enabled } }),
    remove: () => call(domains.remove, { params: site.params, body: { ids } }),
  };
}

// The wildcard belongs to another customer.
test('a disabled name below a wildcard gets 903, and is served by the wildcard once its row is deleted', async () => {
  const parent = `${unique('covered')}.example`;
  const [shop, free] = [`shop.${parent}`, `free.${parent}`];
  const product = await plane.build.product({ zone });
  const [owner, other] = [await plane.build.site({ product }), await plane.build.site({ product })];
  const [first, second] = [await originOfTest(), await originOfTest()];
  const mine = await add(owner, shop, first);
  first.on('/', { body: 'the shop' });
  second.on('/', { body: 'the wildcard' });
  // Marks the name as verified.
  const { installation } = plane;
  await installation.db.nameProof.create({
    data: { holderId: other.owner.id, name: parent, provenAt: new Date() },
  });
  const wildcard = await add(other, `*.${parent}`, second);
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the shop' }), { within });
  await eventually(async () => expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' }), { within });

  await mine.turn(false);
  await eventually(async () => expect((await visit(http, shop)).status).toBe(903), { within });
  expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' });
  const document = await installation.db.edgeDocument.findFirst({ where: { key: hostKey(shop) } });
  for (const secret of [owner.id, owner.owner.id, String(first.port)]) expect(document?.body).not.toContain(secret);

  // The wildcard is enabled again after the name was disabled.
  await wildcard.turn(false);
  await eventually(async () => expect((await visit(http, free)).status).toBe(903), { within });
  await wildcard.turn(true);
  await eventually(async () => expect(await visit(http, free)).toMatchObject({ body: 'the wildcard' }), { within });
  expect((await visit(http, shop)).status).toBe(903);

  await mine.turn(true);
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the shop' }), { within });
  await mine.turn(false);
  await mine.remove();
  await eventually(async () => expect(await visit(http, shop)).toMatchObject({ body: 'the wildcard' }), { within });
});

async function readStapledStatus(name: string): Promise<string> {
  const flags = ['-connect', `127.0.0.1:${https}`, '-servername', name, '-status'];
  const client = promisify(execFile)('openssl', ['s_client', ...flags]);
  client.child.stdin?.end();
  const { stdout } = await client.catch((error: { stdout: string }) => error);
  return `${/subject=(.*)/.exec(stdout)?.[1]}, ${/Cert Status: (\w+)/.exec(stdout)?.[1] ?? 'nothing'}`;
}

test('the node fetches and staples OCSP for an uploaded certificate, also after an agent restart', async () => {
  const ca = await createAuthority();
  const [port = 0] = await freePorts(1);
  const name = `${unique('www')}.example.com`;
  const bought = await ca.issue([name], { responder: `http://127.0.0.1:${port}/` });
  const responder = await startResponder(port, { authority: ca.signer, good: [bought.chainPem] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const user = plane.as(site.owner);
  const { id } = await plane.build.domain({ site, name });
  const { id: certId } = await user.call(certificates.create, {
    params: site.params,
    body: { source: 'pem', sslName: name, ...bought },
  });
  await user.call(certificates.assign, { params: { ...site.params, certId }, body: { domainIDs: [id] } });
  const good = `CN = ${name}, good`;
  await eventually(async () => expect(await readStapledStatus(name)).toBe(good), { within });

  // nginx keeps stapling without responder and agent, and so does a restarted agent.
  await responder.stop();
  await agent.end('SIGKILL');
  expect(await readStapledStatus(name)).toBe(good);
  agent.start();
  await eventually(() => expect(agent.running).toBe(true));
  expect(await readStapledStatus(name)).toBe(good);
});
