import { randomUUID } from 'node:crypto';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { HeaderRule } from '@edgeloom/contract/modules/custom-headers.ts';
import { HeaderRule as HeaderRuleSchema } from '@edgeloom/contract/modules/custom-headers.ts';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { hostDoc, rule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** A site with these header rules. */
async function withHeaders(...headers: HeaderRule[]) {
  const doc = moduleDoc({ id: randomUUID(), kind: 'customHeader', settings: { headers }, redirects: null });
  await edge.put(doc);
  return { doc, ...(await edge.site({ cacheRules: [rule()] }, { modules: { customHeader: doc.id } })) };
}
const response = (action: HeaderRule['action'], name: string, value = ''): HeaderRule => ({
  direction: 'response',
  action,
  name,
  value,
});
const request = (action: HeaderRule['action'], name: string, value = ''): HeaderRule => ({
  direction: 'request',
  action,
  name,
  value,
});

describe('response headers', () => {
  test('are added, set and removed on misses, hits and bypasses, by every worker', async () => {
    const { name } = await withHeaders(
      response('add', 'Link', '</a.css>; rel=preload'),
      response('set', 'X-Frame-Options', 'DENY'),
      response('remove', 'X-Powered-By'),
      response('add', 'X-Zone', 'b'),
    );
    const headers = { 'x-frame-options': 'ALLOWALL', 'x-powered-by': 'PHP', link: '</b.css>', 'x-zone': ['a', 'z'] };
    edge.origin.on('/page', { headers });
    const states = [];
    for (const method of ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST']) {
      const reply = await edge.get('/page', { host: name, method });
      states.push(reply.cache);
      expect(reply.all('link')).toEqual(['</b.css>', '</a.css>; rel=preload']);
      expect(reply.all('x-frame-options')).toEqual(['DENY']);
      expect(reply.all('x-powered-by')).toEqual([]);
      expect(reply.all('x-zone')).toEqual(['a', 'z', 'b']);
    }
    expect(states).toEqual(['uri-miss', 'hit', 'hit', 'hit', 'hit', 'hit', 'method']);
    const asked = edge.origin.asked('/page');
    expect(asked.map(({ method }) => method)).toEqual(['GET', 'POST']);
  });

  test("are not stored: without the module the same object has the origin's headers", async () => {
    const { name, host } = await withHeaders(response('set', 'X-Mine', '1'), response('remove', 'X-Theirs'));
    edge.origin.on('/kept', { headers: { 'x-theirs': '2' } });
    await edge.get('/kept', { host: name });
    await edge.put({ ...host, modules: {} });
    const reply = await edge.get('/kept', { host: name });
    expect([reply.cache, reply.header('x-mine'), reply.header('x-theirs')]).toEqual(['hit', undefined, '2']);
  });

  test('may change Cache-Control for visitors without changing what is stored', async () => {
    const { name } = await withHeaders(response('set', 'Cache-Control', 'public, max-age=5'));
    edge.origin.on('/told', { headers: { 'cache-control': 'max-age=600' } });
    await edge.get('/told', { host: name });
    const reply = await edge.get('/told', { host: name });
    expect([reply.cache, reply.all('cache-control')]).toEqual(['hit', ['public, max-age=5']]);
  });

  test("adding a cookie keeps the origin's cookies, and removing deletes them", async () => {
    const adding = await withHeaders(response('add', 'Set-Cookie', 'c=3'));
    const removing = await withHeaders(response('remove', 'Set-Cookie'));
    edge.origin.on('/cookies', { headers: { 'set-cookie': ['a=1', 'b=2'] } });
    expect((await edge.get('/cookies', { host: adding.name })).all('set-cookie')).toEqual(['a=1', 'b=2', 'c=3']);
    expect((await edge.get('/cookies', { host: removing.name })).all('set-cookie')).toEqual([]);
  });
});

describe('request headers', () => {
  test('are added, set and removed, with variables of the visitor', async () => {
    const { name } = await withHeaders(
      request('set', 'X-From', '{clientIP} by {scheme} for {host} {other}'),
      request('remove', 'X-Debug'),
      request('add', 'X-Tag', 'edge'),
      request('set', 'X-Trace', '{requestID}'),
    );
    const reply = await edge.get('/in?x', { host: name, headers: { 'x-debug': '1', 'x-tag': 'mine' } });
    const [asked] = edge.origin.asked('/in');
    expect(asked?.headers['x-from']).toBe(`127.0.0.1 by http for ${name} {other}`);
    expect(asked?.headers['x-debug']).toBeUndefined();
    expect(asked?.headers['x-tag']).toBe('mine, edge');
    expect(asked?.headers['x-trace']).toBe(reply.header('x-request-id'));
  });

  test('are added once even if the origin is verified, which repeats the phase', async () => {
    const { name, host } = await withHeaders(request('add', 'X-Once', '1'));
    await edge.put({ ...host, origin: { ...host.origin, verify: true } });
    await edge.get('/once', { host: name });
    expect(edge.origin.asked('/once')[0]?.headers['x-once']).toBe('1');
  });
});

test('a changed module applies to the next request, and a removed one no longer', async () => {
  const { name, doc } = await withHeaders(response('set', 'X-Version', '1'));
  const version = async () => (await edge.get('/v', { host: name })).header('x-version');
  expect(await version()).toBe('1');
  const headers = [response('set', 'X-Version', '2')];
  await edge.put(moduleDoc({ id: doc.id, kind: 'customHeader', settings: { headers }, redirects: null }));
  expect(await version()).toBe('2');
  await edge.remove(`module/${doc.id}`);
  expect(await version()).toBeUndefined();
  await edge.put(doc);
  expect(await version()).toBe('1');
});

test('a module serves its domains, and no others', async () => {
  const { name, site, doc } = await withHeaders(response('set', 'X-Shared', 'yes'));
  const [second, without] = [
    hostDoc(site, edge.origin.port, { modules: { customHeader: doc.id } }),
    hostDoc(site, edge.origin.port),
  ];
  await edge.put(second, without);
  const header = async (host: string) => (await edge.get('/shared', { host })).header('x-shared');
  expect([await header(name), await header(second.name), await header(without.name)]).toEqual([
    'yes',
    'yes',
    undefined,
  ]);
});

test('any text of an owner is one value of one header', async () => {
  const { name, doc } = await withHeaders(response('set', 'X-Text', 'x'), request('set', 'X-Text', 'x'));
  const values = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((value) => {
    const change = { direction: 'response', action: 'set', name: 'X-Text', value };
    return HeaderRuleSchema.safeParse(change).success;
  });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        values,
        fc.string({ unit: fc.constantFrom(...'{}$\\"\'%;: ') }).filter((t) => t.trim() !== ''),
      ),
      async (typed) => {
        const { value } = HeaderRuleSchema.parse({
          direction: 'response',
          action: 'set',
          name: 'X-Text',
          value: typed,
        });
        const headers = [response('set', 'X-Text', value), request('set', 'X-Text', value)];
        await edge.put(moduleDoc({ id: doc.id, kind: 'customHeader', settings: { headers }, redirects: null }));
        const reply = await edge.get('/text', { host: name, method: 'POST' });
        expect(reply.all('x-text')).toEqual([value]);
        expect(edge.origin.asked('/text').at(-1)?.headers['x-text']).toBe(value);
      },
    ),
    { numRuns: 100, seed: 1 },
  );
});
