import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type * as z from 'zod';
import type { FrequencyDoc, LimitReqDoc } from '@edgeloom/contract/edge/documents.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { statusFrom } from '../support/assertions/visit.ts';
import { freePort } from '../support/services/ports.ts';
import { startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
edge.origin.on('/a', { body: 'a' });
edge.origin.on('/b', { body: 'b' });

const common = { urlRegex: '', type: 1, header: '', status: 929, monitor: false } as const;
// A window of an hour, so that no test sees its end.
const frequency = (over: Partial<z.output<typeof FrequencyDoc>> = {}) => ({
  id: randomUUID(),
  ...common,
  seconds: 3600,
  times: 2,
  ...over,
});
const limitReq = (over: Partial<z.output<typeof LimitReqDoc>> = {}) => ({
  id: randomUUID(),
  ...common,
  rate: 1,
  burst: 0,
  queue: false,
  ...over,
});

/** As after many new counters of windows of an hour. */
const fillAt = await freePort();
await appendFile(
  path.join(edge.dir, 'conf/current/admin.conf'),
  `server { listen 127.0.0.1:${fillAt}; location / {
    content_by_lua_block {
      local hour = math.floor(ngx.now() / 3600)
      for i = hour, hour + 1 do
        for _, kind in ipairs({ "chosen", "address" }) do
          ngx.shared.limits_3600:set("new:" .. i .. kind .. ngx.var.arg_site, 1000000, 3600)
        end
      end
      ngx.print("ok")
    } } }`,
);
await edge.reload();
const fillNew = (site: string) => fetch(`http://127.0.0.1:${fillAt}/?site=${site}`).then((reply) => reply.text());

const statusOf = async (host: string, path = '/a', headers: Record<string, string> = {}) =>
  (await edge.get(path, { host, headers })).status;

/** One after another. */
async function statusesOf(count: number, host: string, path?: string, headers?: Record<string, string>) {
  const list: number[] = [];
  for (let i = 0; i < count; i += 1) list.push(await statusOf(host, path, headers));
  return list;
}

test('a frequency allows its number of requests in the window, to each address and site', async () => {
  const { name } = await edge.site({ frequencies: [frequency()] });
  expect(await statusesOf(4, name)).toEqual([200, 200, 929, 929]);
  expect(await statusFrom('127.0.0.9', edge.ports.http, name)).toBe(200);
  const other = await edge.site({ frequencies: [frequency()] });
  expect(await statusOf(other.name)).toBe(200);
});

test('requests are counted by URL, by user agent or by a header where the rule says so', async () => {
  const byURL = await edge.site({ frequencies: [frequency({ type: 2 })] });
  expect(await statusesOf(3, byURL.name)).toEqual([200, 200, 929]);
  expect(await statusOf(byURL.name, '/b')).toBe(200);

  const byAgent = await edge.site({ frequencies: [frequency({ type: 3 })] });
  expect(await statusesOf(3, byAgent.name, '/a', { 'User-Agent': 'one' })).toEqual([200, 200, 929]);
  expect(await statusOf(byAgent.name, '/a', { 'User-Agent': 'two' })).toBe(200);

  const byHeader = await edge.site({ frequencies: [frequency({ type: 4, header: 'X-Api-Key' })] });
  expect(await statusesOf(3, byHeader.name, '/a', { 'X-API-Key': 'one' })).toEqual([200, 200, 929]);
  expect(await statusOf(byHeader.name, '/a', { 'X-API-Key': 'two' })).toBe(200);
  expect(await statusesOf(3, byHeader.name)).toEqual([200, 200, 929]);
});

test('requests are counted by a cookie or a query parameter, and by address without one or with several', async () => {
  const byCookie = await edge.site({ frequencies: [frequency({ type: 4, header: 'cookie:session' })] });
  const session = (value: string) => ({ cookie: `theme=dark; session=${value}` });
  expect(await statusesOf(3, byCookie.name, '/a', session('one'))).toEqual([200, 200, 929]);
  expect(await statusOf(byCookie.name, '/a', session('two'))).toBe(200);
  // Other names of the same letters are not that cookie.
  const unnamed = ['Session=1', 'session=1; session=2', 'session=', 'theme=dark'].map((cookie) => ({ cookie }));
  const statuses: number[] = [];
  for (const headers of unnamed) statuses.push(await statusOf(byCookie.name, '/a', headers));
  expect(statuses).toEqual([200, 200, 929, 929]);

  const byParameter = await edge.site({ frequencies: [frequency({ type: 4, header: 'arg:key' })] });
  expect(await statusesOf(2, byParameter.name, '/a?key=one')).toEqual([200, 200]);
  expect(await statusOf(byParameter.name, '/a?a=1&k%65y=%6Fne')).toBe(929);
  expect(await statusOf(byParameter.name, '/a?key=two')).toBe(200);
  const several = [];
  for (const query of ['key=1&key=2', 'key=3&key=4', 'Key=5', ''])
    several.push(await statusOf(byParameter.name, `/a?${query}`));
  expect(several).toEqual([200, 200, 929, 929]);
});

test('cookies and parameters are parsed once for all limits of a site', async () => {
  const counted = (name: string) =>
    `ngx.header["X-${name}"] = (tonumber(ngx.header["X-${name}"]) or 0) + 1\n        all = `;
  const file = 'edge/acl/fields.lua';
  const own = await startEdge({
    lua: [
      { file, from: 'all = request.args', to: `${counted('Parsed-Args')}request.args` },
      { file, from: 'all = get_headers', to: `${counted('Parsed-Headers')}get_headers` },
    ],
  });
  onTestFinished(() => own.stop());
  const both = ['cookie:session', 'arg:key'].map((header) => frequency({ type: 4, header, times: 100 }));
  const { name } = await own.site({
    frequencies: both,
    limitReqs: both.map(({ header }) => limitReq({ type: 4, header })),
  });
  const reply = await own.get('/a?key=one', { host: name, headers: { cookie: 'session=one' } });
  expect([reply.status, reply.header('x-parsed-args'), reply.header('x-parsed-headers')]).toEqual([200, '1', '1']);
});

test('new counters of a site are bounded, and visitors beyond them count together', async () => {
  const hour = () => Math.floor(Date.now() / 3_600_000);
  for (;;) {
    const began = hour();
    const { name, site } = await edge.site({ frequencies: [frequency({ type: 4, header: 'X-Api-Key', times: 1 })] });
    const known = await statusesOf(2, name, '/a', { 'X-API-Key': 'known' });
    await fillNew(site.id);
    known.push(await statusOf(name, '/a', { 'X-API-Key': 'known' }));
    const unknown = [];
    for (const key of ['new 1', 'new 2']) unknown.push(await statusOf(name, '/a', { 'X-API-Key': key }));
    // In another hour, all counters are new.
    if (hour() !== began) continue;
    expect(known).toEqual([200, 929, 929]);
    expect(unknown).toEqual([200, 929]);
    return;
  }
});

test('requests of a site that wait are bounded', async () => {
  const { name } = await edge.site({ limitReqs: [limitReq({ rate: 50, burst: 1000, queue: true })] });
  const waiting = new AbortController();
  const visit = () =>
    new Promise<number>((resolve) => {
      const options = { port: edge.ports.http, headers: { host: name }, agent: false, signal: waiting.signal };
      const sent = request({ host: '127.0.0.1', ...options }, (reply) => resolve(reply.resume().statusCode ?? 0));
      sent.on('error', () => undefined);
      sent.end();
    });
  // Two workers let 200 wait each. All of these would fit in the burst.
  const refused = Promise.race(
    Array.from({ length: 450 }, () =>
      visit().then((status) => (status === 929 ? status : new Promise<number>(() => undefined))),
    ),
  );
  expect(await refused).toBe(929);
  waiting.abort();
});

test('a rule with a pattern counts matching paths only, and 429 names when to retry', async () => {
  const { name } = await edge.site({ frequencies: [frequency({ urlRegex: '^/a$', status: 429 })] });
  expect(await statusesOf(3, name, '/b')).toEqual([200, 200, 200]);
  expect(await statusesOf(2, name)).toEqual([200, 200]);
  const refused = await edge.get('/a', { host: name });
  expect([refused.status, refused.header('retry-after')]).toEqual([429, '3600']);
});

test('a rule that monitors refuses nothing; the log names the cause and the rule of each refusal', async () => {
  const [watching, refusing] = [frequency({ times: 1, monitor: true }), frequency()];
  const { name } = await edge.site({ frequencies: [watching, refusing] });
  expect(await statusesOf(3, name)).toEqual([200, 200, 929]);
  await eventually(async () => {
    const rows = (await edge.log()).filter(({ host }) => host === name);
    // Each worker writes its own lines.
    expect(rows.map(({ status, cause, rule }) => [status, cause, rule].join(' ')).toSorted()).toEqual([
      '200  ',
      `200 frequency monitor/${watching.id}`,
      `929 frequency ${refusing.id}`,
    ]);
  });
});

test('a rate refuses what comes beyond its burst, and allows more as time passes', async () => {
  const { name } = await edge.site({ limitReqs: [limitReq({ rate: 1, burst: 2 })] });
  const first = await Promise.all(Array.from({ length: 30 }, () => statusOf(name)));
  const allowed = first.filter((status) => status === 200).length;
  expect(allowed).toBeGreaterThanOrEqual(3);
  expect(first).toContain(929);
  await eventually(async () => expect(await statusOf(name)).toBe(200));
});

test('a rate that queues delays the burst instead of refusing it', async () => {
  const { name } = await edge.site({ limitReqs: [limitReq({ rate: 5, burst: 5, queue: true })] });
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 6 }, () => statusOf(name)));
  expect(answers).toEqual(Array.from({ length: 6 }, () => 200));
  // The last of six waits five fifths of a second.
  expect(performance.now() - startedAt).toBeGreaterThan(900);
});

test('the rate over a second holds for many concurrent requests in all workers', async () => {
  const { name } = await edge.site({ limitReqs: [limitReq({ rate: 100, burst: 100 })] });
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 600 }, () => statusOf(name)));
  const seconds = (performance.now() - startedAt) / 1000;
  const allowed = answers.filter((status) => status === 200).length;
  expect(allowed).toBeGreaterThanOrEqual(100);
  // 100 at once and 100 per second. The tolerance for nginx's clock is 5, and 5 % are allowed.
  expect(allowed).toBeLessThanOrEqual(1.05 * (101 + 5 + 100 * seconds));
});
