// Effect of health check results on origin selection.
import { afterAll, describe, expect, test } from 'vitest';
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import { startEdge, upstream } from '../support/services/edge.ts';
import { startOrigin } from '../support/fakes/origin.ts';

const edge = await startEdge();
const [one, two] = await Promise.all([startOrigin(), startOrigin()]);
for (const [origin, body] of [
  [one, 'one'],
  [two, 'two'],
] as const)
  origin.on('/', { body, headers: { 'cache-control': 'no-store' } });
afterAll(() => Promise.all([edge.stop(), one.stop(), two.stop()]));

const health = {
  path: '/',
  host: 'www.example.com',
  intervalSeconds: 10,
  timeoutSeconds: 3,
  statusFrom: 200,
  statusTo: 399,
  fails: 3,
  passes: 2,
};

async function pair(more: Partial<HostDoc['origin']> = {}) {
  const upstreams = [upstream(one.port), upstream(two.port)];
  const [first, second] = upstreams.map(({ id }) => id);
  const { name } = await edge.site({}, { origin: { upstreams, health, ...more } });
  const ask = async (times: number) => {
    const bodies: string[] = [];
    for (let i = 0; i < times; i += 1) bodies.push((await edge.get(`/?${i}`, { host: name })).body);
    return { one: bodies.filter((body) => body === 'one').length, two: bodies.filter((body) => body === 'two').length };
  };
  return { first: first ?? '', second: second ?? '', ask };
}

describe('an unhealthy origin', () => {
  test('is skipped by all workers until it is healthy', async () => {
    const { first, ask } = await pair();
    await edge.admin.health([first], [], 60);
    expect(await ask(20)).toEqual({ one: 0, two: 20 });
    await edge.admin.health([], [first], 60);
    const after = await ask(20);
    expect(Math.min(after.one, after.two)).toBeGreaterThan(5);
  });

  test('is used if all others are unhealthy, too', async () => {
    const { first, second, ask } = await pair();
    await edge.admin.health([first, second], [], 60);
    const { one: asked, two: other } = await ask(20);
    expect(asked + other).toBe(20);
  });

  test('is skipped only if the domain has health checks', async () => {
    const upstreams = [upstream(one.port)];
    const { name } = await edge.site(
      {},
      { origin: { upstreams: [...upstreams, upstream(two.port, { backup: true })] } },
    );
    await edge.admin.health([upstreams[0]?.id ?? ''], [], 60);
    expect((await edge.get('/', { host: name })).body).toBe('one');
  });

  test('is used again when its status is no longer reported', async () => {
    const { first, ask } = await pair();
    await edge.admin.health([first], [], 0.001);
    await expect.poll(async () => (await ask(4)).one).toBeGreaterThan(0);
  });
});

test.each(['roundRobin', 'uriHash', 'leastConnections'] as const)(
  'a recovered origin starts with few requests with slow start: %s',
  async (method) => {
    const { first, ask } = await pair({ method, slowStartSeconds: 3600 });
    await edge.admin.health([], [first], 60);
    expect((await ask(40)).one).toBeLessThanOrEqual(6);
  },
);
