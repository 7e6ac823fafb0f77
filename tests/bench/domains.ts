// A hundred thousand domains in one site: cost of every list query, and the time until a thousand new names are served.
// Uses a real API process, a durable PostgreSQL and one real agent with nginx. List queries are compared with the API's
// health call.
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { certKey, hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { system } from '@edgeloom/contract/system/system.endpoints.ts';
import { testAgent } from '../support/services/agent.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { freePorts } from '../support/services/ports.ts';
import { visit } from '../support/assertions/visit.ts';

const goals = { listMs: 100, createMs: 3000, servedMs: 5000 };
/** Number of names that are requested from outside. */
const SAMPLE = 1000;
const options = parseArgs({
  options: {
    domains: { type: 'string', default: '100000' },
    names: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '20' },
    /** Number of filters to combine: every subset, in six orders. */
    filters: { type: 'string', default: '8' },
    json: { type: 'string', default: '.data/bench/domains.json' },
  },
}).values;
const [count = 0, names = 0, rounds = 0] = [options.domains, options.names, options.rounds].map(Number);

const stops: (() => Promise<void>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl }));
  const [port = 0, tlsPort = 0] = await freePorts(2);
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [tlsPort] });
  const product = await plane.build.product({ zone });
  const site = await plane.build.site({ product });
  const beside = await Promise.all(Array.from({ length: 50 }, () => plane.build.site({ product })));
  const { pool } = plane.installation;
  await load(pool, [site], count, 'shop');
  await load(pool, beside, count, 'other');
  // Bulk loading wrote each row twice; in production autovacuum reclaims that space.
  await pool.query('VACUUM FULL domains');
  await pool.query('VACUUM ANALYZE');

  const { call } = plane.as(site.owner);
  const ask = (query: object) => call(domains.list, { params: site.params, query });
  const ways: Record<string, () => Promise<unknown>> = {
    'nothing: the health call': () => call(system.health),
    'the first page': () => ask({}),
    'three filters': () => ask({ forceSSL: true, certStatus: ['success'], cnameStatuses: ['active'] }),
    'three filters, by name, late page': () =>
      ask({ forceSSL: true, enabled: true, certStatus: ['success'], sortBy: 'name', page: 500 }),
    'part of a name': () => ask({ keywords: 'shop777' }),
    'part of every name': () => ask({ keywords: 'example' }),
    'part of an origin of few': () => ask({ keywords: '198.51.77.' }),
    'part of an origin of all': () => ask({ keywords: '203.0.113' }),
    'a tag': () => ask({ tags: ['blue'] }),
    'updated in a day, newest first': () =>
      ask({ updatedAtStart: new Date(Date.now() - 86_400_000).toISOString(), sortBy: 'updatedAt', orderBy: 'desc' }),
    'the last page by age': () => ask({ page: Math.floor(count / 25) }),
  };
  const found = new Map(Object.keys(ways).map((way) => [way, [] as number[]]));
  // Alternating, so that other load affects all queries alike.
  for (let round = 0; round < rounds; round += 1)
    for (const [way, run] of Object.entries(ways)) found.get(way)?.push(await took(run));

  const combined = await combinations(ask);
  const lists = printReport(found, combined);

  const agent = stopping(await testAgent(await plane.node(zone)));
  const origin = stopping(await startOrigin());
  agent.start();
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  const first = [`${unique('first')}.example.com`];
  await call(domains.createSimple, { params: site.params, body: { names: first, upstreams } });
  await served(port, first);

  const all = await publishAll(plane, site, origin.port, tlsPort);

  const creations: number[] = [];
  const servings: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const prefix = unique('new');
    const made = Array.from({ length: names }, (_, i) => `${prefix}-${i}.example.com`);
    creations.push(
      await took(() => call(domains.createSimple, { params: site.params, body: { names: made, upstreams } })),
    );
    servings.push(await took(() => served(port, made)));
  }
  await report(lists, creations, servings, all);
} finally {
  for (const stop of stops) await stop();
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Each query runs twice in a row, and the faster one counts. */
async function combinations(ask: (query: object) => Promise<unknown>) {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const filters: [string, object][] = [
    ['keyword of all', { keywords: '203.0.113' }],
    ['tags', { tags: ['blue', 'red'] }],
    ['CNAME', { cnameStatuses: ['active', 'inactive'] }],
    ['certificate', { certStatus: ['success'] }],
    ['force HTTPS', { forceSSL: true }],
    ['on', { enabled: true }],
    ['created', { createdAtStart: ago(100), createdAtEnd: ago(10) }],
    ['updated', { updatedAtStart: ago(50) }],
  ];
  filters.splice(Number(options.filters));
  const orders = ['createdAt', 'name', 'updatedAt'].flatMap((sortBy) =>
    ['asc', 'desc'].map((orderBy) => ({ sortBy, orderBy })),
  );
  const costs: { asked: string; best: number }[] = [];
  for (let chosen = 0; chosen < 2 ** filters.length; chosen += 1) {
    const some = filters.filter((_, i) => (chosen >> i) % 2 === 1);
    const query = Object.assign({}, ...some.map(([, filter]) => filter));
    for (const order of orders) {
      const times: number[] = [];
      for (let turn = 0; turn < 2; turn += 1) times.push(await took(() => ask({ ...query, ...order })));
      const asked = `${some.map(([filter]) => filter).join(' + ') || 'everything'}, ${order.sortBy} ${order.orderBy}`;
      costs.push({ asked, best: at(times, 0) });
    }
  }
  return costs.sort((a, b) => b.best - a.best);
}

/** Publishes all domains of the site. Returns milliseconds until a sample is served over HTTPS. */
async function publishAll(plane: ControlPlane, { id, zoneId }: BuiltSite, originPort: number, tlsPort: number) {
  const { pool } = plane.installation;
  const { rows } = await pool.query<{ id: string; name: string }>(
    `SELECT id, name FROM domains WHERE site_id = $1 AND enabled AND name LIKE 'shop%' ORDER BY id`,
    [id],
  );
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = rows.filter((_, i) => i % step === 0);
  const certificate = await plane.build.certificate({ id }, ['*.example.com']);
  await pool.query('UPDATE domains SET certificate_id = $2 WHERE site_id = $1', [id, certificate.id]);
  await pool.query(`DELETE FROM upstreams WHERE domain_id = ANY($1) AND address LIKE '198.51.%'`, [
    sample.map((row) => row.id),
  ]);
  await pool.query(`UPDATE upstreams SET address = '127.0.0.1', port = $2 WHERE domain_id = ANY($1)`, [
    sample.map((row) => row.id),
    originPort,
  ]);
  const publish = () =>
    pool.query('INSERT INTO outbox (zone_id, key) SELECT $1, unnest($2::text[])', [
      zoneId,
      [siteKey(id), certKey(certificate.id), ...rows.map(({ name }) => hostKey(name))],
    ]);
  const ms = await took(async () => {
    await publish();
    await served(
      tlsPort,
      sample.map(({ name }) => name),
      statusOverTls,
    );
  });
  return { domains: rows.length, asked: sample.length, seconds: Math.round(ms / 100) / 10 };
}

function statusOverTls(port: number, servername: string): Promise<number> {
  return new Promise((done, refuse) => {
    const headers = { host: servername };
    const options = { host: '127.0.0.1', port, servername, headers, rejectUnauthorized: false, agent: false };
    const asked = request({ ...options, timeout: 10_000 }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    });
    asked.on('timeout', () => asked.destroy(new Error('the edge does not answer')));
    // Without its document the edge has no certificate for the name.
    asked.on('error', () => done(0));
    asked.on('close', () => refuse(new Error('closed')));
    asked.end();
  });
}

/** Resolves once the origin has answered a request for each name. */
async function served(
  port: number,
  list: readonly string[],
  statusOf = async (of: number, name: string) => (await visit(of, name)).status,
): Promise<void> {
  let left = [...list];
  await eventually(
    async () => {
      const later: string[] = [];
      for (let from = 0; from < left.length; from += 50) {
        const some = left.slice(from, from + 50);
        const statuses = await Promise.all(some.map((name) => statusOf(port, name)));
        later.push(...some.filter((_, i) => statuses[i] !== 200));
      }
      left = later;
      if (left.length > 0) throw new Error(`${left.length} of ${list.length} are not served`);
    },
    { within: 300_000 },
  );
}

async function load(pool: Pool, into: readonly BuiltSite[], rows: number, name: string): Promise<void> {
  const ids = into.map(({ id }) => id);
  await pool.query(
    `INSERT INTO domains (id, site_id, name, enabled, tags, cname_status, cert_status, force_ssl, created_at, updated_at)
     SELECT gen_random_uuid(), ($1::uuid[])[1 + n % $2], $3 || n || '.customer' || n % 977 || '.example.com', n % 10 <> 0,
       CASE WHEN n % 7 = 0 THEN ARRAY['blue'] WHEN n % 11 = 0 THEN ARRAY['red', 'big'] ELSE '{}' END,
       (ARRAY['pendingCheck', 'active', 'active', 'inactive'])[1 + n % 4],
       (ARRAY['none', 'success', 'success', 'fail'])[1 + n % 4], n % 3 = 0,
       now() - n * interval '2 minutes', now() - n * interval '1 minute'
     FROM generate_series(1, $4) n`,
    [ids, ids.length, name, rows],
  );
  // One tag per domain, and one common tag.
  await pool.query(
    `INSERT INTO upstreams (id, domain_id, site_id, address, port)
     SELECT gen_random_uuid(), d.id, d.site_id, u.address, 80
     FROM (SELECT *, row_number() OVER () AS n FROM domains WHERE site_id = ANY($1::uuid[])) d,
       LATERAL (VALUES ('198.51.' || d.n % 250 || '.' || d.n / 250 % 250), ('203.0.113.' || d.n % 250)) u (address)`,
    [ids],
  );
}

function printReport(found: ReadonlyMap<string, number[]>, combined: readonly { asked: string; best: number }[]) {
  const [nothing = [1]] = [...found.values()];
  const base = at(nothing, 0.5);
  const ways = [...found].map(([asked, ms]) => ({
    asked,
    best: at(ms, 0),
    p50: at(ms, 0.5),
    p90: at(ms, 0.9),
    ratio: Number((at(ms, 0.5) / base).toFixed(1)),
    within: at(ms, 0) <= goals.listMs,
  }));
  console.table(ways);
  const over = combined.filter(({ best }) => best > goals.listMs).length;
  console.log(
    `${combined.length} combinations of eight filters and six orders, ${over} of them over ${goals.listMs} ms`,
  );
  console.table(combined.slice(0, 8));
  return { ways, combinations: combined.length, over, dearest: combined.slice(0, 50) };
}

async function report(
  lists: ReturnType<typeof printReport>,
  creations: number[],
  servings: number[],
  all: { domains: number; asked: number; seconds: number },
): Promise<void> {
  const writes = [
    {
      what: `${names} names made`,
      best: at(creations, 0),
      p50: at(creations, 0.5),
      max: at(creations, 1),
      goal: goals.createMs,
    },
    {
      what: `all ${names} served after the answer`,
      best: at(servings, 0),
      p50: at(servings, 0.5),
      max: at(servings, 1),
      goal: goals.servedMs,
    },
  ];
  console.table(writes);
  console.log(
    `${all.domains} domains published to one node: ${all.asked} of them asked over HTTPS, all served after ${all.seconds} s`,
  );
  const machine = { cpus: cpus().length, memoryBytes: totalmem(), load: loadavg()[0] };
  console.log(
    'Milliseconds. The best of each says what it costs where nobody else works; within: it is at most the goal.',
  );
  console.log(`${count} domains in the site, ${count} beside it; load ${machine.load?.toFixed(2)}`);
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, JSON.stringify({ machine, count, goals, lists, writes, all }, null, 2));
}

function at(list: readonly number[], share: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  return Number((sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN).toFixed(1));
}
