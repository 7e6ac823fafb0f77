// How fast dashboards and searches respond: 24 hours of 100 million requests by their roll-ups, and a search among ten
// million rows, in PostgreSQL and, copied by `logs:copy`, in ClickHouse. Rows are generated in the database. Goals: the
// dashboard 200 ms, a search 300 ms.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ClickHouse } from '@edgeloom/api/access-log/clickhouse-client.ts';
import { clickHouseOf } from '@edgeloom/api/access-log/open.ts';
import { copyRequests } from '@edgeloom/api/access-log/copy-requests.ts';
import { DistinctCount } from '@edgeloom/api/statistics/hyperloglog.ts';
import { searchTypes } from '@edgeloom/api/statistics/top-values.ts';
import { Partitions } from '@edgeloom/api/statistics/partitions.ts';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import type pg from 'pg';
import { startClickHouse } from '../support/services/clickhouse.ts';
import { startApp, type TestApp } from '../support/services/running-app.ts';
import { retention } from '../support/builders/traffic.ts';
import { cloneDatabase, startServices } from '../support/services/start-services.ts';

const { rounds, sites, domains, nodes, values, rows, json } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    sites: { type: 'string', default: '50' },
    /** Per site. */
    domains: { type: 'string', default: '4' },
    nodes: { type: 'string', default: '5' },
    /** URLs and addresses of each of the ten largest sites in an hour; others have a tenth. */
    values: { type: 'string', default: '2000' },
    rows: { type: 'string', default: '10000000' },
    json: { type: 'string', default: '.data/bench/query.json' },
  },
}).values;
const REQUESTS_A_DAY = 100_000_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const places = `SELECT md5('domain' || s.id || d)::uuid AS domain_id, s.id AS site_id, s.zone_id, s.i
  FROM (SELECT id, zone_id, row_number() OVER (ORDER BY id) AS i FROM sites) s, generate_series(1, ${Number(domains)}) d`;
const times = (step: number, ms: number) =>
  `generate_series(date_bin('${step} s', now(), 'epoch') - interval '${ms / 1000} s', now(), interval '${step} s')`;

async function addStatistics(pool: pg.Pool): Promise<void> {
  const perSecond = REQUESTS_A_DAY / 86_400 / (Number(sites) * Number(domains) * Number(nodes));
  for (const step of [300, 3600, 86_400])
    await pool.query(
      `INSERT INTO traffic (step, at, site_id, domain_id, node_id, requests, bytes, request_bytes, hits, to_upstream, ipv6,
         s2, s3, s4, s5, s9)
       SELECT ${step}, at, site_id, domain_id, md5('node' || node)::uuid, n, n * 24000, n * 400, n * 0.8, n * 0.2, n * 0.3,
         n * 0.9, n * 0.05, n * 0.03, n * 0.01, 0
       FROM (
         SELECT at, site_id, domain_id, node, ${perSecond * step}::float8 AS n FROM (${places}) p, generate_series(1, ${Number(nodes)}) node,
           ${times(step, 2 * DAY_MS)} at
         UNION ALL
         SELECT at, z.id, '00000000-0000-0000-0000-000000000000', node, 0 FROM zones z, generate_series(1, ${Number(nodes)}) node,
           ${times(step, 2 * DAY_MS)} at
       ) rows`,
    );
  const each = (type: number, count: string, value: string) =>
    `SELECT at, site_id, ${type}, domain_id, ${value}, 1 + (100000 / n)::int, 24000 * n
     FROM (${places}) p, ${times(3600, DAY_MS)} at, generate_series(1, ${count}) n`;
  const size = `greatest(1, (CASE WHEN i <= 10 THEN 1 ELSE 0.1 END * ${Number(values) / Number(domains)})::int)`;
  await pool.query(`INSERT INTO top_values (at, site_id, type, domain_id, value, requests, bytes)
    ${each(topTypes.url, size, `'shop.example.com/static/' || n || '/of/' || i`)} UNION ALL
    ${each(topTypes.address, size, `'100.' || i || '.' || n / 256 || '.' || n % 256`)} UNION ALL
    ${each(topTypes.country, '40', `chr(65 + n % 26) || chr(65 + n % 7)`)}`);
  const sketchOf = (count: number, from: number) => {
    const all = new DistinctCount();
    for (let n = 0; n < count; n += 1) all.add(`100.${from % 128}.${n >> 8}.${n & 255}`);
    return all.toBytes();
  };
  for (let i = 1; i <= Number(sites); i += 1)
    for (const [step, ms] of [
      [3600, 2 * DAY_MS],
      [86_400, 2 * DAY_MS],
    ] as const)
      await pool.query(
        `INSERT INTO address_sketches (step, at, site_id, domain_id, sketch)
         SELECT ${step}, at, site_id, domain_id, $1 FROM (${places}) p, ${times(step, ms)} at WHERE i = ${i}`,
        [sketchOf(i <= 10 ? 20_000 : 200, i)],
      );
  await pool.query('ANALYZE traffic, top_values, address_sketches');
}

/** A day of requests. One in a million has a rare user agent and a rare referer, and another one a rare status. */
async function addRows(pool: pg.Pool): Promise<void> {
  const count = Number(rows);
  await pool.query(
    `WITH places AS MATERIALIZED (SELECT array_agg(site_id) AS sites, array_agg(domain_id) AS domains FROM (${places}) p)
     INSERT INTO access_log (at, id, site_id, domain_id, node_id, status, port, bytes, request_bytes, request_time, address, country,
       province, isp, host, method, scheme, http_version, uri, args, upstream, cache, user_agent, referer, cause, rule)
     SELECT now() - interval '1 day' * (1 - n::float8 / ${count}), gen_random_uuid(), sites[1 + n % cardinality(sites)],
       domains[1 + n % cardinality(sites)], md5('node' || n % ${Number(nodes)})::uuid, CASE WHEN n % 1000000 = 778 THEN 929 WHEN n % 100 = 0 THEN 502 ELSE 200 END, 443,
       24000, 400, 12, ('100.64.' || n / 256 % 256 || '.' || n % 256)::inet, 'TW', '', '', 'shop.example.com', 'GET', 'https', 'HTTP/2.0',
       '/static/' || n % 5000 || '.js', '', '', 'HIT',
       CASE WHEN n % 1000000 = 777 THEN 'rare-agent/1.0' ELSE
         'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/' || 100 + n % 40 || '.0 Safari/537.36' END,
       CASE WHEN n % 1000000 = 777 THEN 'https://rare.example/' ELSE 'https://shop.example.com/category/' || n % 50 END, '', ''
     FROM places, generate_series(1, ${count}) n`,
  );
  for (const [name, type] of [
    ['user_agent', searchTypes.userAgent],
    ['referer', searchTypes.referer],
  ] as const)
    await pool.query(
      `INSERT INTO top_values (at, site_id, type, domain_id, value, requests, bytes)
       SELECT date_bin('1 hour', at, 'epoch'), site_id, ${type}, domain_id, ${name}, count(*), sum(bytes)
       FROM access_log GROUP BY 1, 2, 4, 5`,
    );
  await pool.query(
    `INSERT INTO top_groups (at, site_id, type, size) SELECT at, site_id, type, count(*) FROM top_values WHERE type > 100 GROUP BY 1, 2, 3`,
  );
  await pool.query(
    `UPDATE traffic t SET s9 = 1 FROM (SELECT DISTINCT site_id, date_bin('5 minutes', at, 'epoch') AS step_at FROM access_log WHERE status = 929) a
     WHERE t.step = 300 AND t.site_id = a.site_id AND t.at = a.step_at`,
  );
  await pool.query('ANALYZE access_log, top_values, top_groups, traffic');
}

type Account = ReturnType<TestApp['as']>;

function questions(account: Account): Record<string, () => Promise<unknown>> {
  const chart = () => account.call(charts.get, { params: { metric: 'requests' }, query: { range: '24h' } });
  const cards = () => account.call(statistics.cards, { body: {} });
  const top = (type: 'url' | 'address' | 'country') => () =>
    account.call(statistics.top, { body: { type: topTypes[type] } });
  return {
    'cards with those of the day before': cards,
    'chart of requests': chart,
    'top URLs': top('url'),
    'top addresses': top('address'),
    'top countries': top('country'),
    'dashboard: all of these at once': () =>
      Promise.all([cards(), chart(), top('url')(), top('address')(), top('country')()]),
  };
}

/** Answered by the access log. */
function searches(account: Account): Record<string, () => Promise<unknown>> {
  const day = () => ({
    startTime: new Date(Date.now() - DAY_MS + HOUR_MS).toISOString(),
    endTime: new Date(Date.now() + 60_000).toISOString(),
  });
  const search = (body: object) => () => account.call(logs.access, { body: { ...day(), ...body } });
  /** As the console continues a search that ended early. */
  const searchToEnd = (filters: object) => async () => {
    const body = { ...day(), ...filters };
    for (let until: string | undefined; ;) {
      const { reached } = await account.call(logs.access, { body: { ...body, until } });
      if (!reached) return;
      until = reached;
    }
  };
  return {
    'filtered: chart of 5xx': () =>
      account.call(statistics.timeSeries, { body: { types: [12], filters: { status: ['5xx'] } } }),
    'search: newest': search({}),
    'search: 5xx': search({ status: ['5xx'] }),
    'search: a rare status': search({ status: ['929'] }),
    'search: a host': search({ host: ['shop.example.com'] }),
    'search: an address': search({ remoteIP: ['100.64.7.7'] }),
    'search: a part of the URL': search({ uri: ['/static/4711'] }),
    'search: a rare user agent': search({ userAgent: ['rare-agent'] }),
    'search: a rare referer': search({ referer: ['rare.example'] }),
    'search: nothing matches': search({ userAgent: [randomBytes(8).toString('hex')] }),
    'search: no such URL': search({ uri: [randomBytes(8).toString('hex')] }),
    'to the end: a rare status': searchToEnd({ status: ['929'] }),
    'to the end: an address': searchToEnd({ remoteIP: ['100.64.7.7'] }),
    'to the end: no such URL': searchToEnd({ uri: [randomBytes(8).toString('hex')] }),
  };
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await task();
  return performance.now() - start;
}

async function measure(app: TestApp) {
  const { pool } = app.installation;
  const first = await app.build.site();
  for (let i = 1; i < Number(sites); i += 1) await app.build.site({ product: first.product, owner: first.owner });
  const now = Date.now();
  await new Partitions(pool, retention).ensure([now - 2 * DAY_MS, now - DAY_MS, now], now);
  await addStatistics(pool);
  await addRows(pool);
  const account = app.as(first.owner);
  const requests = searches(account);
  const result = await timesOf({ ...questions(account), ...requests });
  const server = await startClickHouse();
  const clickHouse = new ClickHouse(server.url, { cluster: undefined, days: 8 });
  try {
    const took = await timed(() => Array.fromAsync(copyRequests(pool, clickHouse)));
    app.installation.env = { ...app.installation.env, CLICKHOUSE_URL: server.url };
    return { postgres: result, copyMs: took, clickHouse: await timesOf(requests) };
  } finally {
    await clickHouse.close();
    await clickHouseOf(app.installation)?.close();
    await server.stop();
  }
}

type Durations = Record<string, { first: number; median: number }>;

async function timesOf(tasks: Record<string, () => Promise<unknown>>): Promise<Durations> {
  const result: Durations = {};
  for (const [name, ask] of Object.entries(tasks)) {
    const all: number[] = [];
    for (let round = 0; round <= Number(rounds); round += 1) all.push(await timed(ask));
    const [cold = 0, ...warm] = all;
    result[name] = { first: cold, median: warm.toSorted((a, b) => a - b)[Math.floor(warm.length / 2)] ?? cold };
  }
  return result;
}

const services = await startServices();
try {
  const app = await startApp(services, await cloneDatabase(services), { LOG_REQUESTS: 'false', LOG_SEARCH_MS: '250' });
  try {
    const result = await measure(app);
    console.log(
      `${cpus()[0]?.model}, ${cpus().length} cores; ${sites} sites of ${domains} domains on ${nodes} nodes; ${rows} rows to search`,
    );
    const head = ['first, ms', `median of ${rounds}`, 'ClickHouse: first', 'median'];
    console.log(`${''.padEnd(40)} ${head.map((text) => text.padStart(18)).join('')}`);
    for (const [name, { first, median }] of Object.entries(result.postgres)) {
      const beside = result.clickHouse[name];
      const figures = [first, median, ...(beside ? [beside.first, beside.median] : [])];
      console.log(`${name.padEnd(40)} ${figures.map((ms) => ms.toFixed(0).padStart(18)).join('')}`);
    }
    console.log(`copied to ClickHouse in ${(result.copyMs / 1000).toFixed(1)} s`);
    await mkdir(path.dirname(json), { recursive: true });
    await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await app.close();
  }
} finally {
  await services.stop();
}
