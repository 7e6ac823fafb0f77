import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const zone = { worker: { processes: 1, connections: 1024 } };
const edge = await startEdge({ zone });
const broken = await startEdge({
  zone,
  lua: ['note_whole', 'release'].map((name) => ({
    file: 'edge/cache/leaders.lua',
    from: `function _M.${name}()`,
    to: `function _M.${name}()\n    error("${name} fails")`,
  })),
});
afterAll(() => Promise.all([edge.stop(), broken.stop()]));

/** Documents are validated, so only a bug in our code could produce this value. */
const unreadable = [{ id: randomUUID(), type: 'nobodyKnows', value: [], referers: [] }];
const headers = [{ direction: 'response', action: 'set', name: 'X-Mine', value: '1' }];
const failures = async () => (await edge.counters())['pluginFailed'] ?? 0;

test('a failing plugin is counted, and the others work, with and without modules', async () => {
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

test('a failing access plugin fails closed', async () => {
  const { name, host } = await edge.site();
  const before = await failures();
  await edge.putBody(`host/${name}`, { ...host, antiReferers: unreadable });
  expect((await edge.get('/', { host: name })).status).toBe(503);
  expect(edge.origin.asked('/').filter(({ headers: { host: asked } }) => asked === name)).toEqual([]);
  expect(await failures()).toBe(before + 1);
});

test('several plugins may fail in one request', async () => {
  const { name, site, host } = await edge.site({ cacheRules: [rule()] });
  await edge.putBody(`site/${site.id}`, { ...site, rates: unreadable });
  await edge.putBody(`host/${name}`, { ...host, https: 1 });
  const before = await failures();
  expect(await edge.get('/', { host: name })).toMatchObject({ status: 200, cache: 'uri-miss' });
  expect(await failures()).toBe(before + 2);
});

describe('a response that a plugin cannot process', () => {
  const good = rule({ honourOrigin: true });
  /** Read only by hop B, when the response's lifetime is known. */
  const bad = { ...good, minTime: {} };

  test('is not stored, whatever its Cache-Control', async () => {
    const { name, site } = await edge.site();
    await edge.putBody(`site/${site.id}`, { ...site, cacheRules: [bad] });
    let visitors = 0;
    edge.origin.on('/personal', () => {
      visitors += 1;
      return { headers: { 'cache-control': 'max-age=60', 'set-cookie': `visitor=${visitors}` } };
    });
    const before = await failures();
    const replies = [await edge.get('/personal', { host: name }), await edge.get('/personal', { host: name })];
    expect(replies.map((reply) => [reply.status, reply.header('set-cookie')])).toEqual([
      [200, 'visitor=1'],
      [200, 'visitor=2'],
    ]);
    expect(await failures()).toBe(before + 2);
  });

  test('does not refresh the stored object', async () => {
    const { name, site } = await edge.site({ cacheRules: [good] });
    edge.origin.on('/renewed', ({ headers }) => ({
      status: headers['if-none-match'] === '"v"' ? 304 : 200,
      headers: { 'cache-control': 'max-age=60', etag: '"v"' },
    }));
    await edge.get('/renewed', { host: name });
    await edge.admin.purge({ urls: [`http://${name}/renewed`], soft: true }, 60_000);
    await edge.putBody(`site/${site.id}`, { ...site, cacheRules: [bad] });
    const replies = [await edge.get('/renewed', { host: name }), await edge.get('/renewed', { host: name })];
    expect(replies.map((reply) => [reply.status, reply.cache])).toEqual([
      [200, 'stale'],
      [200, 'stale'],
    ]);
    expect(edge.origin.asked('/renewed').map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"v"',
      '"v"',
    ]);
  });
});

test('an error at the end of a request is counted, and the response is complete', async () => {
  const { name } = await broken.site({ cacheRules: [rule()] });
  broken.origin.on('/whole', { body: 'whole' });
  expect(await broken.get('/whole', { host: name })).toMatchObject({ status: 200, body: 'whole' });
  await eventually(async () => expect((await broken.counters())['pluginFailed']).toBe(2));
});
