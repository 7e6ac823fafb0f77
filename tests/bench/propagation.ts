// Time between the API's response and the change at the edge. Uses a real API process, a durable PostgreSQL, a real
// agent with nginx and 10,000 sites; then the same with 50 more nodes. Measured by polling as a visitor.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { testAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { freePort } from '../support/services/ports.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import type { SimulatedNode } from '../support/fakes/simulated-node.ts';
import { visit } from '../support/assertions/visit.ts';
import type { Visit } from '../support/assertions/visit.ts';

const GOAL_MS = 200;
const options = parseArgs({
  options: {
    sites: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '50' },
    changes: { type: 'string', default: '100' },
    json: { type: 'string', default: '.data/bench/propagation.json' },
  },
}).values;
const [siteCount, nodeCount, changes] = [options.sites, options.nodes, options.changes].map(Number);
if (siteCount === undefined || nodeCount === undefined || changes === undefined) throw new Error('three numbers');
// Every second change enables the domain again.
if (changes % 2 !== 0) throw new Error('--changes is even');

const stops: (() => Promise<void>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};
const TOO_LATE_MS = 30_000;
const rows: Row[] = [];
/** Other load on the machine affects the figures. */
const loadBefore = loadavg()[0];

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl }));
  const origins = [stopping(await startOrigin()), stopping(await startOrigin())] as const;
  for (const [i, origin] of origins.entries())
    origin.on('/', { body: String(i), headers: { 'cache-control': 'no-store' } });
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  await step(`load ${siteCount} sites`, () => loadSites(plane.installation.pool, site, siteCount));

  const agent = stopping(await testAgent(await plane.node(zone)));
  const user = plane.as(site.owner);
  const name = `${unique('www')}.example.com`;
  const upstreams = [{ address: '127.0.0.1', port: origins[0].port }];
  const { ids } = await user.call(domains.create, { params: site.params, body: { domains: [{ name, upstreams }] } });
  const params = { ...site.params, domainId: ids[0] ?? '' };
  await step('one real node fetches everything', async () => {
    agent.start();
    await eventually(async () => mustBe(await visit(port, name), ({ status }) => status === 200), { within: 120_000 });
  });

  const [upstream] = (await user.call(domainUpstreams.list, { params })).data;
  const kinds: Record<string, (turn: number) => Promise<(seen: Visit) => boolean>> = {
    'switch a domain': async (turn) => {
      const enabled = turn % 2 === 1;
      await user.call(domains.status, { params: site.params, body: { ids, enabled } });
      return ({ status }) => status === (enabled ? 200 : 903);
    },
    'change an origin': async (turn) => {
      const target = origins[(turn + 1) % 2] ?? origins[0];
      const moved = [{ address: '127.0.0.1', id: upstream?.id ?? '', port: target.port }];
      await user.call(domainUpstreams.update, { params, body: { upstreams: moved } });
      return ({ body }) => body === String((turn + 1) % 2);
    },
    'purge a site': async () => {
      const content = unique('content');
      for (const origin of origins) origin.on('/kept', { body: content, headers: { 'cache-control': 'max-age=3600' } });
      await user.call(purge.all, { params: site.params });
      return ({ body }) => body === content;
    },
  };

  const measure = async (scene: string, others: readonly SimulatedNode[]) => {
    for (const [kind, change] of Object.entries(kinds)) {
      const edge: number[] = [];
      const everywhere: number[] = [];
      for (let turn = 0; turn < changes; turn += 1) {
        const wait = reaching(others);
        const isDone = await change(turn);
        const answered = performance.now();
        const asked = kind === 'purge a site' ? '/kept' : '/';
        for (let seen = await visit(port, name, asked); !isDone(seen); seen = await visit(port, name, asked)) {
          if (performance.now() - answered > TOO_LATE_MS) throw new Error(`${kind}: still ${seen.status} ${seen.body}`);
        }
        edge.push(performance.now() - answered);
        everywhere.push(Math.max(0, (await wait) - answered));
      }
      rows.push(rowOf(scene, kind, 'a visitor at the real node', edge));
      if (others.length > 0) rows.push(rowOf(scene, kind, `the last of ${others.length} nodes`, everywhere));
    }
  };

  await step('measure with one node', () => measure(`1 node, ${siteCount} sites`, []));
  const others = await step(`${nodeCount} simulated nodes fetch everything`, async () => {
    const joined: SimulatedNode[] = [];
    for (let i = 0; i < nodeCount; i += 1) {
      const node = await joinSimulated(await plane.node(zone));
      node.storesOnlyHashes = true;
      node.connect();
      stops.unshift(() => node.disconnect());
      joined.push(node);
    }
    await eventually(
      () =>
        mustBe(
          joined.filter((node) => node.docs.size <= siteCount * 2),
          (behind) => behind.length === 0,
        ),
      {
        within: 300_000,
      },
    );
    return joined;
  });
  await step('measure with all', () => measure(`${nodeCount + 1} nodes, ${siteCount} sites`, others));
} finally {
  for (const stop of stops) await stop();
}
await report();

interface Row {
  scene: string;
  change: string;
  seenBy: string;
  p50: number;
  p99: number;
  max: number;
}

function rowOf(scene: string, change: string, seenBy: string, milliseconds: number[]): Row {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number) =>
    Number((sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN).toFixed(1));
  return { scene, change, seenBy, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** Resolves when the last of these nodes has applied the next document. */
function reaching(nodes: readonly SimulatedNode[]): Promise<number> {
  if (nodes.length === 0) return Promise.resolve(0);
  return new Promise((resolve) => {
    let left = nodes.length;
    for (const node of nodes) {
      node.onApplied = () => {
        node.onApplied = () => undefined;
        left -= 1;
        if (left === 0) resolve(performance.now());
      };
    }
  });
}

/** Inserts sites with a name and an origin by SQL, since the API is not measured here. */
async function loadSites(pool: Pool, like: BuiltSite, count: number) {
  await pool.query(
    `WITH made AS (
       INSERT INTO sites (id, client_id, product_id, zone_id, owner_id, name, updated_at)
       SELECT gen_random_uuid(), client_id, product_id, zone_id, owner_id, 'load ' || i, now()
       FROM sites, generate_series(1, $2::int) i WHERE id = $1
       RETURNING id, zone_id, name
     ), named AS (
       INSERT INTO domains (id, site_id, name, enabled, enabled_name, updated_at)
       SELECT gen_random_uuid(), id, replace(name, ' ', '-') || '.example.org', true, replace(name, ' ', '-') || '.example.org', now()
       FROM made RETURNING id, site_id, name
     ), origins AS (
       INSERT INTO upstreams (id, domain_id, site_id, address, port)
       SELECT gen_random_uuid(), id, site_id, '192.0.2.1', 80 FROM named
     ), sites_told AS (
       INSERT INTO outbox (zone_id, key) SELECT zone_id, 'site/' || id FROM made
     )
     INSERT INTO outbox (zone_id, key) SELECT $3::uuid, 'host/' || name FROM named`,
    [like.id, count, like.zoneId],
  );
  await eventually(
    async () => {
      const { rows } = await pool.query<{ waiting: number }>('SELECT count(*)::int AS waiting FROM outbox');
      mustBe(rows[0]?.waiting, (waiting) => waiting === 0);
    },
    { within: 120_000 },
  );
}

function mustBe<T>(value: T, holds: (value: T) => boolean): void {
  if (!holds(value)) throw new Error(`not yet: ${JSON.stringify(value)?.slice(0, 200)}`);
}

async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return result;
}

async function report() {
  console.table(rows);
  console.log(`Milliseconds after the API's answer. Goal: p99 at most ${GOAL_MS}.`);
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory: totalmem(),
    node: process.version,
    loadBefore,
  };
  await mkdir(path.dirname(options.json), { recursive: true });
  const result = { at: new Date().toISOString(), goalMs: GOAL_MS, machine, rows };
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
}
