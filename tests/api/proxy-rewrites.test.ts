import { afterAll, expect, test } from 'vitest';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { proxyRewrites } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const api = { type: 'prefix' as const, source: '/api', target: '/v2' };

test('rewrites are created, replaced as a list, renamed and removed, and each change is published', async () => {
  const { owner, params, zoneId } = await build.site();
  const { call } = as(owner);
  const { data } = await call(proxyRewrites.create, { params, body: { modules: [{ name: 'Backend' }] } });
  const [id = ''] = data.map((one) => one.id);
  const at = { ...params, moduleId: id };
  const items = [api, { type: 'regex' as const, source: '^/(.*)$', target: '/x/$1', host: 'x.internal' }];
  await call(proxyRewrites.setRules, { params: at, body: { items } });
  expect(await call(proxyRewrites.rules, { params: at })).toMatchObject({
    data: [{ ...api, keepRest: true, keepQuery: true, host: null, enabled: true }, { host: 'x.internal' }],
  });
  const renamed = { modules: [{ id, name: 'Other', rules: [api] }] };
  expect(await call(proxyRewrites.update, { params, body: renamed })).toMatchObject({
    data: [{ name: 'Other', rules: [api] }],
  });
  await call(proxyRewrites.remove, { params, body: { ids: [id] } });
  expect(await outboxKeys(installation, zoneId)).toEqual(Array.from({ length: 4 }, () => moduleKey(id)));
});

test.each([
  [{ ...api, source: '/a?b=1' }, 'source'],
  [{ ...api, source: 'www.example.com/a' }, 'source'],
  [{ type: 'regex' as const, source: '^/(a+)+$', target: '/b' }, 'source'],
  [{ ...api, target: 'https://elsewhere.example/' }, 'target'],
  [{ ...api, target: '//elsewhere.example/' }, 'target'],
  [{ ...api, target: '/a#b' }, 'target'],
  [{ ...api, target: '/a%0d%0ab' }, 'target'],
  // Half of a surrogate pair cannot be stored in a document.
  [{ ...api, target: '/a?b=\ud800' }, 'target'],
  [{ type: 'regex' as const, source: '^/(.*)$', target: '/$2' }, 'target'],
  [{ ...api, host: 'a b' }, 'host'],
])('an invalid rewrite, or one that changes the origin, is rejected at its field: %j', async (bad, field) => {
  const { owner, params } = await build.site();
  const body = { modules: [{ name: 'x', rules: [bad] }] };
  await expect(as(owner).call(proxyRewrites.create, { params, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: `modules.0.rules.0.${field}` })],
  });
});
