// Kills the agent, two API processes, PostgreSQL and NATS at random under load: each request has exactly one row, and
// counts once. Five minutes in the long run.
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { visit } from '../support/assertions/visit.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { SeededRandom } from '../support/builders/seeded-random.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { ownPostgres, type OwnPostgres } from '../support/services/own-postgres.ts';

const LONG_RUN_MS = 300_000;
const AT_ONCE = 4;
let postgres: OwnPostgres;
let plane: ControlPlane;
let origin: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  postgres = await ownPostgres();
  onEnd(() => postgres.stop());
  plane = await controlPlane({ databaseUrl: postgres.databaseUrl, apis: 2 });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
}, 180_000);
afterAll(stopAll);

/** Requests in a loop until stopped. `sent`: the ids of all requests that the node answered. */
function startLoad(port: number, name: string) {
  const sent = new Set<string>();
  let isGoing = true;
  const request = async () => {
    while (isGoing) {
      // A connection may end with the nginx process that a restarted agent replaces. Its request is not expected.
      const reply = await visit(port, name, `/${sent.size % 50}`).catch(() => null);
      if (reply !== null) sent.add(String(reply.headers['x-request-id']));
    }
  };
  const ended = Promise.all(Array.from({ length: AT_ONCE }, request));
  const more = (count: number) => {
    const wanted = sent.size + count;
    return eventually(() => expect(sent.size).toBeGreaterThanOrEqual(wanted), { within: 60_000 });
  };
  const stop = () => {
    isGoing = false;
    return ended;
  };
  return { sent, more, stop };
}

test('no row is lost and none is stored twice while any part is killed', { timeout: 900_000 }, async () => {
  const { port, zone, site, name } = await servedSite(plane, origin);
  const { agent } = await nodeAt(plane, zone);
  agent.start();
  try {
    await eventually(async () => expect((await visit(port, name)).status).toBe(200), { within: 120_000 });
    const [api, secondApi] = plane.apis;
    if (api === undefined || secondApi === undefined) throw new Error('the test needs two API processes');
    const parts = {
      agent: { kill: () => agent.end('SIGKILL'), start: async () => agent.start() },
      postgres: { kill: () => postgres.kill(), start: () => postgres.start() },
      nats: { kill: () => plane.nats.kill(), start: () => plane.nats.start() },
      api: { kill: () => api.kill(), start: () => api.start() },
      secondApi: { kill: () => secondApi.kill(), start: () => secondApi.start() },
    };
    type Part = keyof typeof parts;
    const random = new SeededRandom(1);
    const load = startLoad(port, name);
    const killAll = async (killed: readonly Part[]) => {
      await load.more(50 + Math.floor(random.next() * 100));
      for (const part of killed) await parts[part].kill();
      await load.more(50 + Math.floor(random.next() * 100));
      // The API becomes healthy only with its database and NATS.
      for (const part of ['postgres', 'nats', 'api', 'secondApi', 'agent'] as const)
        if (killed.includes(part)) await parts[part].start();
    };
    if (isLongRun) {
      const end = performance.now() + LONG_RUN_MS;
      const all: Part[] = ['agent', 'postgres', 'nats', 'api', 'secondApi'];
      while (performance.now() < end) await killAll(random.some(0.4, all));
    } else
      for (const killed of [
        ['agent', 'secondApi'],
        ['postgres', 'api'],
        ['nats', 'agent'],
      ] as Part[][])
        await killAll(killed);
    await load.stop();

    const expected = [...load.sent].toSorted();
    await eventually(
      async () => {
        const { rows } = await plane.installation.pool.query<{ id: string }>(
          `SELECT replace(id::text, '-', '') AS id FROM access_log WHERE site_id = $1`,
          [site.id],
        );
        const stored = rows.map(({ id }) => id).filter((id) => load.sent.has(id));
        expect(stored.toSorted()).toEqual(expected);
        const { data } = await plane.as(site.owner).call(statistics.cards, { body: { timeInterval: 'oneHour' } });
        // The requests before the load have rows as well.
        expect(data.find(({ type }) => type === 4)?.value).toBe(rows.length);
      },
      { within: 120_000 },
    );
  } finally {
    await agent.stop();
  }
});
