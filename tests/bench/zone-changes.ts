// Do zone changes fail requests? A real API process, a durable PostgreSQL, NATS and two real agents with nginx, one
// zone change per second through the API, and clients of every protocol. Counts failed requests and retries. Use
// --firewall off when other nodes run on this machine, because they share its kernel.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zonePorts, zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { findNginx } from '@edgeloom/agent/nginx/processes.ts';
import type { TestAgent } from '../support/services/agent.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { freePorts } from '../support/services/ports.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { startVisitors } from '../support/assertions/continuous-visitors.ts';
import { visit } from '../support/assertions/visit.ts';

const options = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    firewall: { type: 'string', default: 'on' },
    json: { type: 'string', default: '.data/bench/zone-changes.json' },
  },
}).values;
const seconds = Math.round(Number(options.minutes) * 60);
if (!(seconds > 0)) throw new Error('--minutes is a number');
const EVERY_MS = 1000;

const stops: (() => Promise<void>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};
/** Other load on the machine affects the figures. */
const loadBefore = loadavg()[0];

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl }));
  const origin = stopping(await startOrigin());
  const { port: http, https, zone, name } = await servedSite(plane, origin);
  const spare = await freePorts(6);
  const { call } = plane.as(zone.client);
  const params = { zoneId: zone.id };
  const agents: { agent: TestAgent; address: string }[] = [];
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const { agent } = await nodeAt(plane, zone, address);
    stopping(agent).start();
    await eventually(
      async () => {
        if ((await visit(http, name, '/', address)).status !== 200) throw new Error('it does not serve yet');
      },
      { within: 60_000 },
    );
    agents.push({ agent, address });
  }
  const { resource } = await call(zoneSettings.set, { params, body: { soakSeconds: 0, reason: 'bench' } });

  let made = 0;
  /** Run in turn, each time with other values. The clients' ports stay. */
  const changes: Record<string, () => Promise<unknown>> = {
    'switch compression': () =>
      call(zoneSettings.setSwitch, {
        params,
        body: { name: 'compression', off: (made / kinds.length) % 2 < 1, reason: 'bench' },
      }),
    'open a port': async () => {
      const port = spare[Math.floor(made / kinds.length) % spare.length] ?? 0;
      await call(zonePorts.create, { params, body: { port, tls: made % 2 === 0, reason: 'bench' } });
    },
    'HTTP/2': async () => {
      const { http2 } = await call(zoneSettings.get, { params });
      return call(zoneSettings.http2, { params, body: { enable: !http2, reason: 'bench' } });
    },
    'redirect code': () =>
      call(zones.forceSSLRedirectCode, {
        params,
        body: { code: Math.floor(made / kinds.length) % 2 === 0 ? 307 : 301, reason: 'bench' },
      }),
    snippet: () =>
      call(zoneSettings.nginx, {
        params,
        body: {
          enable: true,
          http: `add_header X-Turn ${made};`,
          custom: `gzip_comp_level ${1 + (made % 9)};`,
          worker: `worker_priority ${made % 5};`,
          reason: 'bench',
        },
      }),
    'close a port': async () => {
      const { ports } = await call(zoneSettings.get, { params });
      const ids = ports.filter(({ port }) => spare.includes(port)).map(({ id }) => id);
      if (ids.length > 0) await call(zonePorts.remove, { params, body: { ids, reason: 'bench' } });
    },
    resource: () =>
      call(zoneSettings.setResource, {
        params,
        body: {
          ...resource,
          workerProcesses: 1 + (Math.floor(made / kinds.length) % 3),
          bodyBytes: 1e9 + made,
          cacheKeyBytes: (64 + (made % 2)) * 2 ** 20,
          reason: 'bench',
        },
      }),
    ...(options.firewall === 'on' && {
      firewall: () =>
        call(zoneSettings.setFirewall, {
          params,
          body: {
            whitelist: ['198.51.100.0/24'],
            blacklist: Array.from({ length: 1 + (made % 50) }, (_, i) => `192.0.2.${i}`),
            level: 0,
            synProtection: false,
            reason: 'bench',
          },
        }),
    }),
  };
  const kinds = Object.keys(changes);

  const places = agents.map(({ address }) => ({ http, https, address, name }));
  const load = startVisitors({ origin, places, pauseMs: 40, longMs: 15_000 });
  const refused: Record<string, number> = {};
  const peak = { processes: 0, leaving: 0, memoryMiB: 0 };
  const served = agents.map(() => new Set<string>());
  const count: Record<string, number> = {};
  const began = performance.now();
  for (let turn = 0; performance.now() - began < seconds * 1000; turn += 1) {
    const kind = kinds[turn % kinds.length] ?? '';
    made = turn;
    await changes[kind]?.().then(
      () => (count[kind] = (count[kind] ?? 0) + 1),
      (error: unknown) => {
        const why = `${kind}: ${String(error)}`;
        refused[why] = (refused[why] ?? 0) + 1;
      },
    );
    await look();
    if (turn % 30 === 29) console.log(`${turn + 1} changes: ${JSON.stringify(peak)}`);
    // Every full second; a slow machine makes fewer changes.
    await setTimeout(EVERY_MS - ((performance.now() - began) % EVERY_MS));
  }
  const report = await load.stop();
  const versions = await call(zoneSettings.versions, { params, query: { pageSize: 1 } });
  const reloads = agents.map(
    ({ agent }) => agent.log.filter(({ message, msg }) => [message, msg].includes('nginx serves a new tree')).length,
  );
  const refusedByNodes = agents.map(({ agent }) =>
    agent.log.flatMap((line) => (line['message'] === 'a document is refused' ? [String(line['error'])] : [])),
  );

  console.table(
    Object.entries(report).map(([sort, { failed, ...rest }]) => ({
      sort,
      ...rest,
      longestMs: Math.round(rest.longestMs),
      failed: Object.values(failed).reduce((a, b) => a + b, 0),
    })),
  );
  for (const [sort, { failed }] of Object.entries(report))
    for (const [why, times] of Object.entries(failed)) console.log(`${sort}: ${times} × ${why}`);
  const result = {
    at: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model, cores: cpus().length, memory: totalmem(), node: process.version, loadBefore },
    seconds,
    changes: count,
    refused,
    versions: versions.total,
    reloads,
    refusedByNodes,
    trees: served.map((seen) => seen.size),
    peak,
    report,
  };
  console.log(JSON.stringify({ ...result, report: undefined, machine: undefined }, null, 2));
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);

  /** Number and memory of nginx processes on both nodes. */
  async function look() {
    const found = (await Promise.all(agents.map(({ agent }) => findNginx(layoutOf(agent.dir).dir)))).flat();
    const leaving = found.filter(({ title }) => title.includes('shutting down')).length;
    const bytes = await Promise.all(found.map(({ pid }) => ownMemory(pid)));
    peak.processes = Math.max(peak.processes, found.length);
    peak.leaving = Math.max(peak.leaving, leaving);
    peak.memoryMiB = Math.max(peak.memoryMiB, Math.round(bytes.reduce((a, b) => a + b, 0) / 1024));
    for (const [i, { address }] of agents.entries()) {
      const turn = await visit(http, name, '/page', address).then(
        ({ headers }) => String(headers['x-turn']),
        () => '',
      );
      served[i]?.add(turn);
    }
  }
} finally {
  for (const stop of stops) await stop();
}

/** Proportional set size: shared pages count once. */
async function ownMemory(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
}
