// Modules by API, and their effect on a real edge.
import {
  cors,
  customHeaders,
  domainModules,
  proxyRewrites,
  redirects,
  tokenAuths,
  urlRedirects,
} from '@edgeloom/contract/modules/modules.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let origin: Origin;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  origin = await startOrigin();
});
afterAll(async () => {
  await origin.stop();
  await plane.stop();
});

test('modules are created, assigned, changed and removed, and the edge follows each change', async () => {
  const { port: http, zone, call, params, name } = await servedSite(plane, origin);
  const { agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
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
