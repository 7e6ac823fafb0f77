// Time between the API's response to a purge and its effect: until a visitor at a real node gets a miss, and until the
// last of fifty simulated nodes was notified. One API process, a durable PostgreSQL, a real agent with nginx.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { testAgent } from '../support/services/agent.ts';
import { unique } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { freePort } from '../support/services/ports.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import type { SimulatedNode } from '../support/fakes/simulated-node.ts';
import { visit } from '../support/assertions/visit.ts';

const GOAL_MS = 150;
const options = parseArgs({
  options: {
    nodes: { type: 'string', default: '50' },
    purges: { type: 'string', default: '50' },
    json: { type: 'string', default: '.data/bench/purge.json' },
  },
}).values;
const loadBefore = loadavg()[0];
const rows: object[] = [];
const stops: (() => Promise<void>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl }));
  const origin = stopping(await startOrigin());
  origin.on('/img/kept', { headers: { 'cache-tag': 'kept' }, body: 'kept' });
  const port = await freePort();
  const zone = await plane.build.zone({ ports: [port], tlsPorts: [] });
  const site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const agent = stopping(await testAgent(await plane.node(zone)));
  const { call } = plane.as(site.owner);
  const { params } = site;
  const name = `${unique('www')}.example.com`;
  const upstreams = [{ address: '127.0.0.1', port: origin.port }];
  await call(domains.create, { params, body: { domains: [{ name, upstreams }] } });
  const rule = { type: 'prefix' as const, value: ['/'], cacheTime: 86_400 };
  await call(cacheRules.create, { params, body: { rules: [rule] } });
  agent.start();
  const nodes: SimulatedNode[] = [];
  for (let i = 0; i < Number(options.nodes); i += 1) {
    const node = await joinSimulated(await plane.node(zone));
    node.connect();
    stops.unshift(() => node.disconnect());
    nodes.push(node);
  }
  const warm = () =>
    eventually(
      async () => {
        if ((await visit(port, name, '/img/kept')).cache !== 'hit') throw new Error('not stored');
      },
      { within: 60_000 },
    );
  await eventually(() => {
    if (!nodes.every((node) => node.doc(`host/${name}`))) throw new Error('a node is behind');
  });

  const url = `http://${name}/img/kept`;
  const kinds: Record<string, { type: 1 | 2 | 3 | 4; urls: string[]; soft?: boolean }> = {
    URL: { type: 1, urls: [url] },
    prefix: { type: 2, urls: [`http://${name}/img/`] },
    host: { type: 3, urls: [name] },
    tag: { type: 4, urls: ['kept'] },
    'tag, soft': { type: 4, urls: ['kept'], soft: true },
  };
  for (const [kind, body] of Object.entries(kinds)) {
    const missed: number[] = [];
    const everywhere: number[] = [];
    for (let turn = 0; turn < Number(options.purges); turn += 1) {
      await warm();
      const received = lastOf(nodes);
      await call(purge.urls, { params, body });
      const answered = performance.now();
      while ((await visit(port, name, '/img/kept')).cache === 'hit');
      missed.push(performance.now() - answered);
      everywhere.push(Math.max(0, (await received) - answered));
    }
    rows.push(rowOf(kind, 'a visitor at the real node', missed));
    rows.push(rowOf(kind, `the last of ${nodes.length} nodes`, everywhere));
  }
} finally {
  for (const stop of stops) await stop();
}
console.table(rows);
console.log(`Milliseconds after the API's answer. Goal: p99 at most ${GOAL_MS}.`);
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memory: totalmem(), node: process.version, loadBefore };
await mkdir(path.dirname(options.json), { recursive: true });
const result = { at: new Date().toISOString(), goalMs: GOAL_MS, machine, rows };
await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);

/** Resolves when the last node has received the next purge, by document or by command. */
function lastOf(all: readonly SimulatedNode[]): Promise<number> {
  return new Promise((resolve) => {
    let left = all.length;
    const one = (node: SimulatedNode) => () => {
      node.onApplied = () => undefined;
      node.beforePurge = () => Promise.resolve();
      left -= 1;
      if (left === 0) resolve(performance.now());
      return Promise.resolve();
    };
    for (const node of all) {
      const done = one(node);
      node.onApplied = () => void done();
      node.beforePurge = done;
    }
  });
}

function rowOf(kind: string, seenBy: string, milliseconds: number[]) {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Number((sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN).toFixed(1));
  return { purge: kind, seenBy, p50: at(0.5), p99: at(0.99), max: at(1) };
}
