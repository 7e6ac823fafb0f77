// Overhead of the API: its list and read calls against a bare HTTP server that runs the same prepared queries with pg
// and returns the rows. Both alternate in one run, with wrk and the same number of database connections. The figures
// are CPU time of this process and PostgreSQL, which other load disturbs less than requests per second. The bare server
// has no routing, sessions, permissions, scope, audit or validation.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { pathAt, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites, clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { startApp, type TestApp } from '../support/services/running-app.ts';
import { cloneDatabase, startServices } from '../support/services/start-services.ts';

const run = promisify(execFile);
const GOAL = 0.7;
const CONNECTIONS = 16;
/** /proc counts in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;
/** Newer fields of the API's responses, which the bare server omits; they cost the API nothing. */
const leftOut = new Set<string>();
const {
  rounds,
  seconds,
  scenes: most,
  json,
} = parseArgs({
  options: {
    /** Number of scenes to measure; all are compared. */
    scenes: { type: 'string', default: '6' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string', default: '.data/bench/api.json' },
  },
}).values;

interface Scene {
  name: string;
  endpoint: Endpoint;
  params: Record<string, string>;
  /** The same rows by a plain query. */
  bare: (pool: pg.Pool) => Promise<unknown>;
}

const services = await startServices();
try {
  const databaseUrl = await cloneDatabase(services);
  const app = await startApp(services, databaseUrl, { DATABASE_POOL: String(CONNECTIONS), LOG_REQUESTS: 'false' });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
  try {
    pool.on('error', () => undefined);
    const { token, scenes } = await prepare(app);
    await pool.query('VACUUM ANALYZE');
    await report(await measure(app, pool, token, scenes));
  } finally {
    await app.close();
    await pool.end();
  }
} finally {
  await services.stop();
}

async function prepare({ build, installation }: TestApp): Promise<{ token: string; scenes: Scene[] }> {
  const { db } = installation;
  for (let i = 0; i < 20; i += 1) await build.site();
  const product = await build.product();
  const [zone, site] = [product.zone, await build.site({ product })];
  for (let i = 0; i < 20; i += 1) await build.zone({ tenant: product });
  for (let i = 0; i < 40; i += 1) await build.site({ product });
  const domain = await build.domain({ site });
  const rows = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}.example.com`, siteId: site.id, enabled: true }));
  const made = await db.domain.createManyAndReturn({ data: rows, select: { id: true } });
  await db.upstream.createMany({
    data: made.flatMap(({ id }) =>
      ['192.0.2.1', '192.0.2.2'].map((address) => ({ domainId: id, siteId: site.id, address, port: 80 })),
    ),
  });
  for (let i = 0; i < 25; i += 1) await build.cacheRule(site);

  const total = async (pool: pg.Pool, name: string, text: string, values: string[]) =>
    Number((await pool.query<{ n: string }>({ name, text, values })).rows[0]?.n);
  const upstreams = `coalesce((SELECT json_agg(json_build_object('id', u.id, 'address', u.address, 'port', u.port, 'weight', u.weight,
    'backup', u.backup, 'enabled', u.enabled) ORDER BY u.id) FROM upstreams u WHERE u.domain_id = d.id), '[]') AS upstreams`;
  const columns = `d.id, d.site_id AS "siteID", d.name, d.enabled::int AS status, d.tags, d.cname_status AS "cnameStatus", d.cert_status AS "certStatus",
    d.force_ssl AS "forceSSL", d.scheme, d.port_map AS "portMap", d.hash_type AS "hashType", d.host_replace AS "hostReplace", d.sni,
    d.max_fails AS "maxFails", d.fail_timeout_seconds AS "failTimeoutSeconds", d.connect_timeout_seconds AS "connectTimeoutSeconds",
    d.read_timeout_seconds AS "readTimeoutSeconds", d.created_at AS "createdAt", d.updated_at AS "updatedAt"`;
  const client = [product.clientId];
  const inSite = [site.id, product.clientId];
  const params = { siteId: site.id, domainId: domain.id };
  return {
    token: product.client.token,
    scenes: [
      {
        name: 'list 25 of 1,001 domains with their origins',
        endpoint: domains.list,
        params,
        bare: async (pool) => {
          const [data, n] = await Promise.all([
            pool.query({
              name: 'domains',
              text: `SELECT ${columns}, ${upstreams} FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.site_id = $1 AND s.client_id = $2 ORDER BY d.created_at, d.id LIMIT 25`,
              values: inSite,
            }),
            total(
              pool,
              'domains-n',
              'SELECT count(*) AS n FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.site_id = $1 AND s.client_id = $2',
              inSite,
            ),
          ]);
          return { data: data.rows, total: n };
        },
      },
      {
        name: 'read one domain with its origins',
        endpoint: domains.get,
        params,
        bare: async (pool) =>
          (
            await pool.query({
              name: 'domain',
              text: `SELECT ${columns}, ${upstreams} FROM domains d JOIN sites s ON s.id = d.site_id WHERE d.id = $1 AND d.site_id = $2 AND s.client_id = $3`,
              values: [domain.id, ...inSite],
            })
          ).rows[0],
      },
      {
        name: 'list 25 of 41 sites',
        endpoint: clientSites.list,
        params: {},
        bare: async (pool) => {
          const [data, n] = await Promise.all([
            pool.query({
              name: 'sites',
              text: `SELECT s.id, s.name, s.status, s.tags, s.product_id AS "productID", p.name AS "productName", s.zone_id AS "zoneID", z.name AS "zoneName", s.owner_id AS "userID",
              o.name AS "userName", (SELECT count(*)::int FROM domains d WHERE d.site_id = s.id) AS "domainCount", p.domain_limit AS "domainLimit", s.expires_at AS expiry, s.created_at AS "createdAt", s.updated_at AS "updatedAt"
              FROM sites s JOIN products p ON p.id = s.product_id JOIN zones z ON z.id = s.zone_id LEFT JOIN accounts o ON o.id = s.owner_id WHERE s.client_id = $1 ORDER BY s.created_at, s.id LIMIT 25`,
              values: client,
            }),
            total(pool, 'sites-n', 'SELECT count(*) AS n FROM sites WHERE client_id = $1', client),
          ]);
          return { data: data.rows, total: n };
        },
      },
      {
        name: 'read one site',
        endpoint: sites.get,
        params,
        bare: async (pool) => {
          const [row, ports, enabled, rules] = await Promise.all([
            pool.query({
              name: 'site',
              text: `SELECT s.id, s.name, s.status, s.tags, s.product_id AS "productID", p.name AS "productName", (SELECT count(*)::int FROM domains d WHERE d.site_id = s.id) AS "domainCount",
              p.domain_limit AS "domainLimit", s.expires_at AS expiry, s.created_at AS "createdAt", s.updated_at AS "updatedAt", s.cache_version AS "cacheVersion"
              FROM sites s JOIN products p ON p.id = s.product_id WHERE s.id = $1 AND s.client_id = $2`,
              values: inSite,
            }),
            pool.query({
              name: 'ports',
              text: 'SELECT port, tls FROM zone_ports WHERE zone_id = $1 ORDER BY port',
              values: [zone.id],
            }),
            total(pool, 'enabled-n', 'SELECT count(*) AS n FROM domains WHERE site_id = $1 AND enabled', [site.id]),
            total(pool, 'rules-n', 'SELECT count(*) AS n FROM cache_rules WHERE site_id = $1', [site.id]),
          ]);
          return { ...row.rows[0], ports: ports.rows, enabledDomainCount: enabled, cacheRuleCount: rules };
        },
      },
      {
        name: 'list 10 of 21 zones',
        endpoint: zones.list,
        params: {},
        bare: async (pool) => {
          const [data, n] = await Promise.all([
            pool.query({
              name: 'zones',
              text: `SELECT z.id, z.name, z.memo, z.revision AS serial, z.created_at AS "createdAt", z.updated_at AS "updatedAt", (SELECT count(*)::int FROM nodes n WHERE n.zone_id = z.id) AS "nodeCount",
              (SELECT count(*)::int FROM sites s WHERE s.zone_id = z.id) AS "siteCount", (SELECT json_agg(json_build_object('port', p.port, 'tls', p.tls) ORDER BY p.port) FROM zone_ports p WHERE p.zone_id = z.id) AS ports
              FROM zones z WHERE z.client_id = $1 ORDER BY z.created_at, z.id LIMIT 10`,
              values: client,
            }),
            total(pool, 'zones-n', 'SELECT count(*) AS n FROM zones WHERE client_id = $1', client),
          ]);
          return { data: data.rows, total: n };
        },
      },
      {
        name: 'list 25 cache rules',
        endpoint: cacheRules.list,
        params,
        bare: async (pool) => {
          const [data, n] = await Promise.all([
            pool.query({
              name: 'rules',
              text: `SELECT r.id, r.type, r.value, r.cache_time AS "cacheTime", r.honour_origin AS "honourOrigin", r.query, r.query_names AS "queryNames", r.priority, r.enabled, r.created_at AS "createdAt", r.updated_at AS "updatedAt"
              FROM cache_rules r JOIN sites s ON s.id = r.site_id WHERE r.site_id = $1 AND s.client_id = $2 ORDER BY r.priority, r.id LIMIT 25`,
              values: inSite,
            }),
            total(
              pool,
              'rules-all',
              'SELECT count(*) AS n FROM cache_rules r JOIN sites s ON s.id = r.site_id WHERE r.site_id = $1 AND s.client_id = $2',
              inSite,
            ),
          ]);
          return { data: data.rows, total: n };
        },
      },
    ],
  };
}

interface Sample {
  perSecond: number;
  /** CPU time per request, in this process and in PostgreSQL. */
  microseconds: number;
}
interface Figure {
  name: string;
  api: Sample[];
  bare: Sample[];
}

async function measure({ url }: TestApp, pool: pg.Pool, token: string, scenes: Scene[]): Promise<Figure[]> {
  const plain = createServer((request, response) => {
    const scene = scenes[Number(request.url?.slice(1))];
    scene?.bare(pool).then(
      (rows) => response.setHeader('content-type', 'application/json').end(JSON.stringify(rows)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const address = plain.address();
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const figures: Figure[] = scenes.slice(0, Number(most)).map(({ name }) => ({ name, api: [], bare: [] }));
  try {
    for (let round = -1; round < Number(rounds); round += 1) {
      for (const [i, { endpoint, params }] of scenes.entries()) {
        const call = `${url}/api/v1/${pathAt('client', endpoint).replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')}`;
        if (round < 0) await compare(call, `${base}/${i}`, token);
        if (i >= Number(most)) continue;
        const [api, bare] = [await ask(pool, call, token), await ask(pool, `${base}/${i}`, token)];
        // The first round is a warm-up.
        if (round >= 0) figures[i]?.api.push(api);
        if (round >= 0) figures[i]?.bare.push(bare);
      }
    }
  } finally {
    plain.close();
    plain.closeAllConnections();
  }
  return figures;
}

/** Both must return the same data, or the ratio would be meaningless. */
async function compare(api: string, bare: string, token: string) {
  const [one, other] = await Promise.all(
    [api, bare].map(async (url): Promise<unknown> =>
      (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json(),
    ),
  );
  const difference = differenceOf(one, other, '');
  if (difference !== null) throw new Error(`${api} and its peer differ at ${difference}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function differenceOf(api: unknown, bare: unknown, at: string): string | null {
  if (Array.isArray(api) && Array.isArray(bare)) {
    if (api.length !== bare.length) return `${at}.length`;
    return first(api.map((value, i) => differenceOf(value, bare[i], `${at}.${i}`)));
  }
  if (isRecord(api) && isRecord(bare)) {
    for (const key of Object.keys(api)) if (!(key in bare)) leftOut.add(key);
    return first(Object.entries(bare).map(([key, value]) => differenceOf(api[key], value, `${at}.${key}`)));
  }
  return Object.is(api, bare) ? null : `${at}: ${JSON.stringify(api)} and ${JSON.stringify(bare)}`;
}

function first(found: (string | null)[]): string | null {
  return found.find((one) => one !== null) ?? null;
}

async function ask(pool: pg.Pool, url: string, token: string): Promise<Sample> {
  const before = await cpuMicroseconds(pool);
  const { stdout } = await run('wrk', [
    '-t1',
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    '-H',
    `authorization: Bearer ${token}`,
    url,
  ]);
  const after = await cpuMicroseconds(pool);
  const [, requests, perSecond] = /(\d+) requests in [^]*Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? [];
  if (stdout.includes('Non-2xx') || !requests) throw new Error(`${url} refused:\n${stdout}`);
  return { perSecond: Number(perSecond), microseconds: (after - before) / Number(requests) };
}

async function cpuMicroseconds(pool: pg.Pool): Promise<number> {
  const { user, system } = process.cpuUsage();
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`,
  );
  const ticks = await Promise.all(
    rows.map(async ({ pid }) => {
      const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
      return Number(fields[11]) + Number(fields[12]);
    }),
  );
  return user + system + ticks.reduce((sum, value) => sum + value, 0) * TICK_MICROSECONDS;
}

async function report(figures: Figure[]) {
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  const scenes = figures.map(({ name, api, bare }) => ({
    name,
    api: {
      perSecond: Math.round(middle(api.map(({ perSecond }) => perSecond))),
      microseconds: Math.round(middle(api.map(({ microseconds }) => microseconds))),
    },
    bare: {
      perSecond: Math.round(middle(bare.map(({ perSecond }) => perSecond))),
      microseconds: Math.round(middle(bare.map(({ microseconds }) => microseconds))),
    },
    ratio: Number(
      middle(bare.map(({ microseconds }, i) => microseconds / (api[i]?.microseconds ?? Number.NaN))).toFixed(2),
    ),
  }));
  console.log(
    `CPU time of a request (this process and PostgreSQL), the middle of ${rounds} rounds; requests/s at ${CONNECTIONS} connections\n`,
  );
  const row = (...cells: string[]) =>
    console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(44) : cell.padStart(10))).join(' '));
  row('call', 'API µs', 'bare µs', 'ratio', 'API /s', 'bare /s');
  for (const { name, api, bare, ratio } of scenes)
    row(
      name,
      String(api.microseconds),
      String(bare.microseconds),
      ratio.toFixed(2),
      String(api.perSecond),
      String(bare.perSecond),
    );
  if (leftOut.size > 0) console.log(`\nthe bare server leaves out: ${[...leftOut].toSorted().join(', ')}`);
  const below = scenes.filter(({ ratio }) => ratio < GOAL);
  console.log(
    below.length === 0 ? `\nall at ${GOAL} or above` : `\nbelow ${GOAL}: ${below.map(({ name }) => name).join('; ')}`,
  );
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memory: totalmem(), node: process.version };
  await mkdir(path.dirname(json), { recursive: true });
  await writeFile(
    json,
    `${JSON.stringify({ goal: GOAL, connections: CONNECTIONS, rounds: Number(rounds), scenes, machine }, null, 2)}\n`,
  );
}
