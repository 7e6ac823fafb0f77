import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { afterAll, expect, test } from 'vitest';
import { rule, startEdge } from '../support/edge.ts';

const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
afterAll(() => edge.stop());

/** No plugin can read it: documents are checked before they are written, so nothing but a fault of ours brings one here. */
const unreadable = [{ id: randomUUID(), type: 'nobodyKnows', values: [], hosts: [] }];
const headers = [{ direction: 'response', action: 'set', name: 'X-Mine', value: '1' }];
const failures = async () => (await edge.counters())['pluginFailed'] ?? 0;

test('a plugin that fails is counted, and those before and behind it do their work, with modules and without', async () => {
  const module = moduleDoc({ id: randomUUID(), kind: 'customHeader', settings: { headers }, redirects: null });
  await edge.put(module);
  for (const modules of [{}, { customHeader: module.id }]) {
    const { name, site } = await edge.site({ cacheRules: [rule()] }, { modules });
    await edge.putBody(`site/${site.id}`, { ...site, rates: unreadable });
    const before = await failures();
    const replies = [await edge.get('/', { host: name }), await edge.get('/', { host: name })];
    expect(replies.map((reply) => [reply.status, reply.cache])).toEqual([
      [200, 'uri-miss'],
      [200, 'hit'],
    ]);
    expect(replies.map((reply) => reply.header('x-mine'))).toEqual(
      'customHeader' in modules ? ['1', '1'] : [undefined, undefined],
    );
    expect(await failures()).toBe(before + 2);

    await edge.putBody(`site/${site.id}`, { ...site, rates: unreadable, status: 'paused' });
    expect((await edge.get('/', { host: name })).status).toBe(904);
  }
});

test('one that guards something closes when it fails', async () => {
  const { name, host } = await edge.site();
  const before = await failures();
  await edge.putBody(`host/${name}`, { ...host, antiReferers: unreadable });
  expect((await edge.get('/', { host: name })).status).toBe(503);
  expect(edge.origin.asked('/').filter(({ headers: { host: asked } }) => asked === name)).toEqual([]);
  expect(await failures()).toBe(before + 1);
});

test('several may fail in one request', async () => {
  const { name, site, host } = await edge.site({ cacheRules: [rule()] });
  await edge.putBody(`site/${site.id}`, { ...site, rates: unreadable });
  await edge.putBody(`host/${name}`, { ...host, https: 1 });
  const before = await failures();
  expect(await edge.get('/', { host: name })).toMatchObject({ status: 200, cache: 'uri-miss' });
  expect(await failures()).toBe(before + 2);
});
