// A zone with a hundred thousand domains on one edge: time of a cold start, memory, and time until a change of one
// domain is visible.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { encodeDocFile } from '@edgeloom/agent/store/files.ts';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { hostDoc, siteDoc, startEdge } from '../support/services/edge.ts';
import type { Edge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';

const run = promisify(execFile);
const goals = { firstRequestMs: 2000, memoryBytes: 300 << 20, changeMs: 200 };
const {
  domains,
  visited,
  changes,
  json,
  'drop-caches': dropCaches,
} = parseArgs({
  options: {
    domains: { type: 'string', default: '100000' },
    visited: { type: 'string', default: '20000' },
    changes: { type: 'string', default: '200' },
    /** Drops the page cache first, as after a reboot. Needs root and slows down the machine. */
    'drop-caches': { type: 'boolean', default: false },
    json: { type: 'string', default: '.data/bench/scale-edge.json' },
  },
}).values;

const nameOf = (i: number) => `d${i}.scale.example.com`;
const edge = await startEdge();
try {
  await report(await measure(edge));
} finally {
  await edge.stop();
}

async function measure(subject: Edge) {
  await fill(subject, Number(domains));
  await subject.halt();
  if (dropCaches) await dropFileCache();
  const started = performance.now();
  await subject.start();
  await ask(subject, Number(domains) - 1);
  const firstRequestMs = performance.now() - started;
  const memoryAtStart = await memory(await subject.pid());
  for (let i = 0; i < Number(visited); i += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, k) => ask(subject, (i + k) * 4)));
  }
  const memoryBytes = await memory(await subject.pid());
  return { firstRequestMs, memoryAtStart, memoryBytes, changesMs: await change(subject, Number(changes)) };
}

/** One site with all domains. */
async function fill(subject: Edge, count: number): Promise<void> {
  const site = siteDoc();
  await subject.write(site);
  const folders = new Set<string>();
  for (let i = 0; i < count; i += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, count - i) }, async (_, k) => {
        const doc = hostDoc(site, subject.origin.port, { name: nameOf(i + k) });
        const path = subject.pathOf(`host/${doc.name}`);
        const folder = dirname(path);
        if (!folders.has(folder)) await mkdir(folder, { recursive: true });
        folders.add(folder);
        await writeFile(path, encodeDocFile(1, JSON.stringify(doc)));
      }),
    );
  }
}

async function dropFileCache(): Promise<void> {
  await run('sync', []);
  await writeFile('/proc/sys/vm/drop_caches', '3');
}

async function ask(subject: Edge, i: number): Promise<void> {
  const { status } = await subject.get('/', { host: nameOf(i % Number(domains)) });
  if (status !== 200) throw new Error(`${nameOf(i)} is answered ${status}`);
}

/** Memory of master and workers; shared pages count once. */
async function memory(master: number): Promise<number> {
  const children = (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ');
  const sizes = await Promise.all(
    [String(master), ...children].map(async (pid) => {
      const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
      return Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Time from writing the file until a visitor sees the change. */
async function change(subject: Edge, count: number): Promise<number[]> {
  const site = siteDoc();
  await subject.put(site);
  const took = [];
  for (let i = 0; i < count; i += 1) {
    const doc = hostDoc(site, subject.origin.port, { name: nameOf(i), origin: { host: randomUUID() } });
    const path = `/change/${i}`;
    const started = performance.now();
    await subject.put(doc);
    await eventually(async () => {
      await subject.get(path, { host: doc.name });
      if (subject.origin.asked(path).at(-1)?.headers.host !== doc.origin.host) throw new Error('not seen yet');
    });
    took.push(performance.now() - started);
  }
  return took.sort((a, b) => a - b);
}

async function report(found: Awaited<ReturnType<typeof measure>>): Promise<void> {
  const at = (share: number) =>
    found.changesMs[Math.min(found.changesMs.length - 1, Math.floor(found.changesMs.length * share))] ?? 0;
  const mib = (bytes: number) => `${Math.round(bytes / (1 << 20))} MiB`;
  const rows = {
    'first request after a cold start': [`${Math.round(found.firstRequestMs)} ms`, `${goals.firstRequestMs} ms`],
    'memory after it': [mib(found.memoryAtStart), mib(goals.memoryBytes)],
    [`memory after visits to ${visited} domains`]: [mib(found.memoryBytes), mib(goals.memoryBytes)],
    'change to effect, median': [`${at(0.5).toFixed(1)} ms`, `${goals.changeMs} ms`],
    'change to effect, 99th percentile': [`${at(0.99).toFixed(1)} ms`, `${goals.changeMs} ms`],
  };
  console.table(Object.fromEntries(Object.entries(rows).map(([name, [value, goal]]) => [name, { value, goal }])));
  const { version } = await detectCapabilities('nginx');
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory: totalmem(),
    nginx: version,
    node: process.version,
  };
  const { changesMs, ...figures } = found;
  const result = {
    at: new Date().toISOString(),
    domains: Number(domains),
    machine,
    goals,
    ...figures,
    changeMs: { p50: at(0.5), p99: at(0.99), max: changesMs.at(-1) },
  };
  await mkdir(dirname(json), { recursive: true });
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
}
