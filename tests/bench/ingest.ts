// Rows of access logs a second into PostgreSQL: LogStore (rows, sums and top values, which are merged once a round)
// beside a bare COPY of the same rows into a table with two indexes, in turns.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { openGeoip } from '@edgeloom/api/geoip/geoip.ts';
import { LogStore } from '@edgeloom/api/statistics/log-store.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { logBatch, logLine, retention } from '../support/builders/traffic.ts';
import { startApp } from '../support/services/running-app.ts';
import { cloneDatabase, startServices } from '../support/services/start-services.ts';

const { rounds, batches, sites, json } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    batches: { type: 'string', default: '60' },
    sites: { type: 'string', default: '20' },
    json: { type: 'string', default: '.data/bench/ingest.json' },
  },
}).values;
const LINES = 800;

interface Figures {
  rowsPerSecond: number;
  /** This process's CPU time for a million rows. */
  cpuSecondsPerMillion: number;
}

async function measure(pool: pg.Pool, nodeID: string, siteIDs: readonly string[]) {
  const silent = { info: () => undefined, error: () => undefined };
  const store = new LogStore(pool, await openGeoip({}, silent), retention);
  await pool.query('CREATE TABLE bare (LIKE access_log)');
  await pool.query('CREATE INDEX ON bare (site_id, at, id)');
  await pool.query('CREATE INDEX ON bare (id)');
  const ours: Figures[] = [];
  const bare: Figures[] = [];
  for (let round = 0; round < Number(rounds); round += 1) {
    const { rows, texts } = linesOf(siteIDs, round);
    const [size] = [rows.length * LINES];
    const prepared: LogBatch[] = texts.map((text, i) => logBatch(text, 0, `${round}-${i}`));
    ours.push(
      await timed(size, async () => {
        for (const batch of prepared) await store.store(nodeID, { ...batch, sentAt: Date.now() }, new Date());
        await store.mergeTops(new Date());
      }),
    );
    bare.push(
      await timed(size, async () => {
        for (const batch of rows) await copy(pool, batch);
      }),
    );
  }
  const { rows: stored } = await pool.query<{
    requests: string;
    methods: string;
    lines: string;
    bytes: string;
    topBytes: string;
  }>(
    `SELECT (SELECT sum(requests) FROM traffic WHERE step = 300) AS requests,
       (SELECT sum(requests) FROM top_values WHERE type = 22) AS methods, (SELECT count(*) FROM access_log) AS lines,
       (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'access_log'::regclass) AS bytes,
       (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'top_values'::regclass) AS "topBytes"`,
  );
  const expected = Number(rounds) * Number(batches) * LINES;
  const [counts] = stored;
  if (!counts || [counts.requests, counts.lines, counts.methods].some((count) => Number(count) !== expected))
    throw new Error(`stored ${JSON.stringify(counts)} of ${expected} lines`);
  return {
    ours: median(ours),
    bare: median(bare),
    bytesPerRow: Number(counts.bytes) / expected,
    topBytesPerRow: Number(counts.topBytes) / expected,
  };
}

/** Lines as an edge writes them, and the same as rows of COPY. */
function linesOf(siteIDs: readonly string[], round: number): { texts: string[]; rows: string[] } {
  const texts: string[] = [];
  const rows: string[] = [];
  for (let b = 0; b < Number(batches); b += 1) {
    const lines: string[] = [];
    for (let i = 0; i < LINES; i += 1) {
      const n = (round * Number(batches) + b) * LINES + i;
      lines.push(
        logLine(siteIDs[n % siteIDs.length] ?? '', {
          host: 'shop.example.com',
          // A twentieth of all addresses and URLs is new.
          address: `100.${(n % 20 === 0 ? n >> 16 : 64) & 127}.${(n * 7) & 63}.${n & 31}`,
          uri: n % 20 === 0 ? `/item/${n}` : `/static/${n % 400}.js`,
          cache: n % 5 === 0 ? 'MISS' : 'HIT',
          userAgent:
            'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
          referer: `https://shop.example.com/category/${n % 50}`,
        }),
      );
    }
    texts.push(lines.join(''));
    rows.push(lines.map((line) => rowOf(line)).join('\n'));
  }
  return { texts, rows };
}

function rowOf(line: string): string {
  const {
    time,
    id,
    site,
    status,
    port,
    bytes,
    requestBytes,
    address,
    host,
    method,
    scheme,
    httpVersion,
    uri,
    args,
    cache,
    userAgent,
    referer,
  } = JSON.parse(line);
  return [
    new Date(time * 1000).toISOString(),
    id,
    site,
    site,
    site,
    status,
    port,
    bytes,
    requestBytes,
    12,
    '\\N',
    address,
    'TW',
    '',
    '',
    host,
    method,
    scheme,
    httpVersion,
    uri,
    args,
    '',
    cache,
    userAgent,
    referer,
    '',
    '',
    '',
    1,
  ].join('\t');
}

async function copy(pool: pg.Pool, rows: string): Promise<void> {
  const client = await pool.connect();
  try {
    await pipeline(Readable.from([`${rows}\n`]), client.query(copyFrom('COPY bare FROM STDIN')));
  } finally {
    client.release();
  }
}

async function timed(rows: number, task: () => Promise<void>): Promise<Figures> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await task();
  const { user, system } = process.cpuUsage(cpu);
  return { rowsPerSecond: rows / ((performance.now() - start) / 1000), cpuSecondsPerMillion: (user + system) / rows };
}

const median = (all: readonly Figures[]): Figures =>
  all.toSorted((a, b) => a.rowsPerSecond - b.rowsPerSecond)[Math.floor(all.length / 2)] ?? {
    rowsPerSecond: 0,
    cpuSecondsPerMillion: 0,
  };

async function report(result: Awaited<ReturnType<typeof measure>>): Promise<void> {
  const { ours, bare, bytesPerRow, topBytesPerRow } = result;
  const line = (name: string, { rowsPerSecond, cpuSecondsPerMillion }: Figures) =>
    console.log(
      `${name.padEnd(44)} ${Math.round(rowsPerSecond).toLocaleString('en').padStart(9)} rows/s  ${cpuSecondsPerMillion.toFixed(1).padStart(6)} s CPU of Node per million`,
    );
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores; medians of ${rounds} rounds of ${Number(batches) * LINES} rows`,
  );
  line('bare COPY, two indexes', bare);
  line('rows, sums and top values', ours);
  console.log(`ratio ${(ours.rowsPerSecond / bare.rowsPerSecond).toFixed(2)} (goal at least 0.5)`);
  console.log(`${bytesPerRow.toFixed(0)} bytes a row with indexes, and ${topBytesPerRow.toFixed(0)} of top values`);
  await mkdir(path.dirname(json), { recursive: true });
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
}

const services = await startServices();
try {
  const databaseUrl = await cloneDatabase(services);
  const app = await startApp(services, databaseUrl, { LOG_REQUESTS: 'false' });
  const pool = new pg.Pool({ connectionString: databaseUrl });
  try {
    const first = await app.build.site();
    const all = [first];
    while (all.length < Number(sites)) all.push(await app.build.site({ product: first.product }));
    const { id } = await app.build.node({ zone: first.zone });
    await report(
      await measure(
        pool,
        id,
        all.map((site) => site.id),
      ),
    );
  } finally {
    await pool.end();
    await app.close();
  }
} finally {
  await services.stop();
}
