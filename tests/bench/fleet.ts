// A control plane with a thousand agents: cost at rest and during changes, and the time until all have converged after
// a restart of nats-server or the API. One API process, a durable PostgreSQL, nats-server, and the agents in their own
// process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect, jwtAuthenticator } from 'nats';
import * as z from 'zod';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';

const GOALS = { agentsPerCore: 1000, convergedSeconds: 30, cutOffMs: 1000 };
const options = parseArgs({
  options: {
    agents: { type: 'string', default: '1000' },
    domains: { type: 'string', default: '50' },
    changes: { type: 'string', default: '50' },
    rest: { type: 'string', default: '60' },
    json: { type: 'string', default: '.data/bench/fleet.json' },
    // Runs only the first connection and the removal of nodes.
    'cut-off-only': { type: 'boolean', default: false },
  },
}).values;
const [count, names, changes, restSeconds] = [options.agents, options.domains, options.changes, options.rest].map(
  (text) => z.coerce.number().int().positive().parse(text),
);
if (count === undefined || names === undefined || changes === undefined || restSeconds === undefined) throw new Error();

const stops: (() => Promise<unknown>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};
const rows: Record<string, string | number>[] = [];
const loadBefore = loadavg()[0];

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl }));
  const { pool } = plane.installation;
  const zone = await plane.build.zone({ ports: [80], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const { call } = plane.as(site.owner);
  const operator = plane.as(zone.client);
  const add = async (amount = 1) => {
    const upstreams = [{ address: '192.0.2.1', port: 80 }];
    const made = Array.from({ length: amount }, () => ({ name: `${unique('www')}.example.com`, upstreams }));
    const { ids } = await call(domains.create, { params: site.params, body: { domains: made } });
    return ids;
  };
  for (let left = names; left > 0; left -= 100) await add(Math.min(left, 100));
  const revision = async () => {
    await eventually(async () => {
      const { rows } = await pool.query<{ n: number }>('SELECT count(*)::int AS n FROM outbox');
      if (rows[0]?.n !== 0) throw new Error('not published yet');
    });
    const { rows } = await pool.query<{ revision: number }>('SELECT revision FROM zones WHERE id = $1', [zone.id]);
    return rows[0]?.revision ?? 0;
  };
  /** Waits until the control plane has recorded this revision for the nodes. */
  const agreed = async (least: number) => {
    await eventually(
      async () => {
        const { rows } = await pool.query<{ n: number }>(
          'SELECT count(*)::int AS n FROM node_states WHERE revision >= $1 AND digest_agrees AND connected_at IS NOT NULL',
          [least],
        );
        if ((rows[0]?.n ?? 0) < count) throw new Error(`${rows[0]?.n} of ${count}`);
      },
      { within: 300_000 },
    );
  };

  const identities = await scene('join, one after the other', async () => {
    const all = [];
    for (let i = 0; i < count; i += 1) all.push((await joinSimulated(await plane.node(zone))).identity);
    return all;
  });
  const agents = fork(path.join(import.meta.dirname, 'fleet-agents.ts'), { stdio: 'inherit' });
  stops.unshift(async () => {
    agents.disconnect();
    await once(agents, 'exit');
  });
  const reached = async (least: number): Promise<number[]> => {
    agents.send({ reach: least });
    const [answer] = await once(agents, 'message');
    return z.object({ took: z.array(z.number()) }).parse(answer).took;
  };

  await scene('all connect for the first time and fetch everything', async () => {
    const least = await revision();
    const seeds = identities.map(({ seed, ...rest }) => ({ ...rest, seed: Buffer.from(seed).toString('base64') }));
    agents.send({ connect: seeds });
    await reached(least);
    await agreed(least);
  });
  await setTimeout(5000);
  if (!options['cut-off-only']) await atRestAndUnderChange(restSeconds, changes);

  const gone = identities.slice(0, 20);
  await operator.call(nodes.status, { body: { ids: gone.map(({ nodeID }) => nodeID), enabled: false } });
  const cut: number[] = [];
  await scene('20 nodes are removed, one after the other', async () => {
    for (const { nodeID, natsServers, jwt, seed } of gone) {
      const authenticator = jwtAuthenticator(jwt, seed);
      const line = await connect({ servers: natsServers, authenticator, reconnect: false });
      const began = performance.now();
      const ended = line.closed().then(() => cut.push(performance.now() - began));
      await operator.call(nodes.remove, { body: { ids: [nodeID] } });
      await ended;
    }
  });
  cut.sort((a, b) => a - b);
  note('from the call that removes a node until its line is closed, ms', { p50: cut[9] ?? 0, max: cut.at(-1) ?? 0 });

  async function atRestAndUnderChange(restSeconds: number, changes: number) {
    await scene('at rest, with heartbeats', () => setTimeout(restSeconds * 1000));
    await scene(`${changes} changes in a row, each to all`, async () => {
      const ids = await add();
      for (let turn = 0; turn < changes; turn += 1)
        await call(domains.status, { params: site.params, body: { ids, enabled: turn % 2 === 0 } });
      await reached(await revision());
      await agreed(await revision());
    });
    const single: number[] = [];
    await scene('20 changes, each waited for at the last agent', async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        const before = await revision();
        const waiting = reached(before + 1);
        const began = performance.now();
        await add();
        await waiting;
        single.push(performance.now() - began);
      }
    });
    single.sort((a, b) => a - b);
    note('from a call until the last agent has it, ms', { p50: single[9] ?? 0, max: single.at(-1) ?? 0 });

    await scene('nats-server is killed and started, with a change meanwhile', async () => {
      await plane.nats.kill();
      await add();
      const least = await revision();
      await setTimeout(2000);
      const began = performance.now();
      await plane.nats.start();
      const took = await reached(least);
      await agreed(least);
      note('  of these, until the agents had converged, s', { seconds: Math.max(...took) / 1000 });
      note('  until the control plane knew it, s', { seconds: (performance.now() - began) / 1000 });
    });
    await setTimeout(5000);
    await scene('the api is killed and started, with a change right after', async () => {
      await plane.api.kill();
      await setTimeout(2000);
      const began = performance.now();
      await plane.api.start();
      note('  of these, until it answered, s', { seconds: (performance.now() - began) / 1000 });
      await add();
      const least = await revision();
      await reached(least);
      await agreed(least);
      note('  until all had converged, s', { seconds: (performance.now() - began) / 1000 });
    });
  }

  async function scene<T>(what: string, work: () => Promise<T>): Promise<T> {
    const parts = await pidsOf();
    const [began, before] = [performance.now(), await usage(parts)];
    const result = await work();
    const seconds = (performance.now() - began) / 1000;
    const now = await pidsOf();
    const after = await usage(now);
    const row: Record<string, string | number> = { scene: what, seconds: round(seconds) };
    for (const name of Object.keys(after)) {
      // A restarted process counts from zero.
      const base = now[name]?.join() === parts[name]?.join() || name === 'postgres' ? (before[name]?.cpu ?? 0) : 0;
      row[`${name} CPU s`] = round((after[name]?.cpu ?? 0) - base);
      row[`${name} MB`] = Math.round((after[name]?.bytes ?? 0) / 1e6);
    }
    rows.push(row);
    console.log(JSON.stringify(row));
    return result;
  }
  async function pidsOf(): Promise<Record<string, number[]>> {
    const found: Record<string, number[]> = { postgres: [] };
    const run = path.join(plane.dir, 'run');
    for (const file of await readdir(run)) {
      const { pid } = z.object({ pid: z.int() }).parse(JSON.parse(await readFile(path.join(run, file), 'utf8')));
      found[file.startsWith('api') ? 'api' : 'nats'] = [pid];
    }
    const { rows } = await pool.query<{ text: string }>(`SELECT pg_read_file('postmaster.pid') AS text`);
    const master = Number(rows[0]?.text.split('\n')[0]);
    const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
    found['postgres'] = [master, ...children.split(' ').filter(Boolean).map(Number)];
    return found;
  }
} finally {
  for (const stop of stops) await stop();
}
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, loadBefore };
console.table(rows);
console.log(`Goals: ${JSON.stringify(GOALS)}. Load of the machine before: ${loadBefore}.`);
await mkdir(path.dirname(options.json), { recursive: true });
await writeFile(
  options.json,
  `${JSON.stringify({ at: new Date().toISOString(), goals: GOALS, machine, rows }, null, 2)}\n`,
);

function note(scene: string, figures: Record<string, number>) {
  rows.push({ scene, ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)])) });
  console.log(scene, figures);
}

function round(value: number) {
  return Math.round(value * 100) / 100;
}

/** CPU seconds including exited children, and resident bytes. */
async function usage(parts: Record<string, number[]>): Promise<Record<string, { cpu: number; bytes: number }>> {
  const all: Record<string, { cpu: number; bytes: number }> = {};
  for (const [name, pids] of Object.entries(parts)) {
    const sum = { cpu: 0, bytes: 0 };
    for (const pid of pids) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
      if (stat === null) continue;
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
      sum.cpu += (user + system + childUser + childSystem) / 100;
      // Shared buffers are counted once, with the postmaster.
      const smaps = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      sum.bytes += Number(/^Pss:\s+(\d+)/m.exec(smaps)?.[1] ?? 0) * 1024;
    }
    all[name] = sum;
  }
  return all;
}
