import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import type { Ask } from '../support/services/edge.ts';
import { rule, startEdge, zoneDoc } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const edge = await startEdge();
afterAll(() => edge.stop());

/** Loops over a cached GET, an uncacheable GET and a POST. Returns the statuses. */
function visitors(host: string, count: number) {
  let running = true;
  const seen = new Map<string, number>();
  const asks = [
    { path: '/stored', method: 'GET' },
    { path: '/fresh', method: 'GET' },
    { path: '/form', method: 'POST', body: 'x'.repeat(2000) },
  ];
  const loops = Array.from({ length: count }, async (_, k) => {
    for (let i = k; running; i += 1) {
      const { path, ...ask } = asks[i % asks.length] ?? { path: '/' };
      const outcome = await edge.get(path, { host, ...ask }).then(
        (reply) => `${path} ${reply.status}`,
        (error: unknown) => `${path} ${String(error)}`,
      );
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
  });
  return async () => {
    running = false;
    await Promise.all(loops);
    return [...seen.keys()].sort();
  };
}

test('a reload is not noticed by visitors, and repeats no request at an origin', async () => {
  const { name } = await edge.site({ cacheRules: [rule({ value: ['/stored'] })] });
  const finish = visitors(name, 6);
  const zone = zoneDoc(edge.ports);
  for (let i = 0; i < 5; i += 1) {
    await edge.render({ ...zone, worker: { ...zone.worker, processes: 1 + (i % 3) } });
    await edge.reload();
  }
  expect(await finish()).toEqual(['/form 200', '/fresh 200', '/stored 200']);
  await eventually(async () => {
    const rows = (await edge.log()).filter((row) => row['uri'] === '/form');
    expect(rows).toHaveLength(edge.origin.asked('/form').length);
  });
});

test('cached and purged objects survive a reload', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  for (const path of ['/kept', '/purged']) await edge.get(path, { host: name });
  await edge.purge(`http://${name}/purged`);
  await edge.render(zoneDoc(edge.ports));
  await edge.reload();
  expect((await edge.get('/kept', { host: name })).cache).toBe('hit');
  expect((await edge.get('/purged', { host: name })).cache).toBe('uri-miss');
});

test('a killed worker is replaced without loss of state', async () => {
  const { name } = await edge.site({ cacheRules: [rule()] });
  await edge.get('/survives', { host: name });
  const master = await edge.pid();
  const children = async () =>
    (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ').map(Number);
  for (const child of await children()) {
    const title = await readFile(`/proc/${child}/cmdline`, 'utf8');
    if (title.includes('worker process')) process.kill(child, 'SIGKILL');
  }
  await eventually(async () => expect((await edge.get('/survives', { host: name })).cache).toBe('hit'));
  expect((await edge.get('/new', { host: name })).status).toBe(200);
});

test('a keep-alive connection is served by the new workers', async () => {
  const { name } = await edge.site();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: edge.ports.http, path: '/k', headers: { host: name }, agent });
      call.on('response', (reply) => {
        reply.resume();
        reply.on('end', () => resolve(reply.statusCode));
      });
      call.on('error', reject);
      call.end();
    });
  expect(await ask()).toBe(200);
  await edge.render(zoneDoc(edge.ports));
  await edge.reload();
  // nginx closes idle connections of old workers; browsers retry such requests.
  await eventually(async () => expect(await ask()).toBe(200));
  agent.destroy();
});

test('shortly before a reload each response closes its connection, and is otherwise unchanged', async () => {
  const { name } = await edge.site({ cacheRules: [rule({ value: ['/stored'] })] });
  const asks: [path: string, ask: Ask][] = [
    ['/stored?x', { host: name }],
    ['/fresh', { host: name }],
    ['/a%2Fb//c/..;d?e=%20f&g', { host: name }],
    ['/form', { host: name, method: 'POST', body: 'x'.repeat(200_000) }],
    ['/', { host: 'unknown.example.com' }],
  ];
  const askAll = async () => {
    const from = edge.origin.requests.length;
    const replies = [];
    for (const [path, ask] of asks) {
      const reply = await edge.get(path, { ...ask, headers: { connection: 'keep-alive' } });
      replies.push({ status: reply.status, connection: reply.header('connection'), isHit: reply.cache === 'hit' });
    }
    const toOrigin = edge.origin.requests.slice(from).map(({ method, url, body }) => ({ method, url, body }));
    return { replies, toOrigin };
  };
  await edge.get('/stored?x', { host: name });
  const before = await askAll();
  expect(before.replies.map(({ connection }) => connection)).toEqual(asks.map(() => 'keep-alive'));
  await edge.admin.closeConnections(60, 10_000);
  expect(await askAll()).toEqual({
    replies: before.replies.map((reply) => ({ ...reply, connection: 'close' })),
    toOrigin: before.toOrigin,
  });
  // The next workers keep connections alive.
  await edge.render(zoneDoc(edge.ports));
  await edge.reload();
  expect(await askAll()).toEqual(before);
});
