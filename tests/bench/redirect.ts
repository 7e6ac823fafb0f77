// Cost of redirect rules for other requests: CPU time of a cache hit without a module, with an empty one and with three
// thousand rules; and of a redirected request. One worker on one core, alternating in one run, wrk on another core. CPU
// time is less disturbed by other load than requests per second.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import type { RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import { rule as cacheRule, startEdge } from '../support/services/edge.ts';
import { visit } from '../support/assertions/visit.ts';
import { cpuTicks, workerOf } from './worker-cpu.ts';

const run = promisify(execFile);
const GOAL_MICROSECONDS = 3;
const PATHS = 500;
const {
  rounds,
  seconds,
  scenes: most,
  json,
} = parseArgs({
  options: {
    /** Number of scenes to measure; every scene is requested. */
    scenes: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string', default: '.data/bench/redirect.json' },
  },
}).values;

const redirect = (n: number): RedirectRule => {
  const common = { id: randomUUID(), code: 301 as const, keepQuery: true, keepRest: true, priority: 100 };
  if (n % 30 === 0) return { ...common, type: 'regex', source: `^/p${n}/([0-9]+)$`, target: '/q/$1' };
  if (n % 3 === 0) return { ...common, type: 'prefix', source: `/section/${n}`, target: `/chapter/${n}` };
  return { ...common, type: 'exact', source: `/from/${n}`, target: `/to/${n}` };
};

interface Scene {
  name: string;
  host: string;
  /** `{n}` is replaced by the numbers up to PATHS. */
  path: string;
}

const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
try {
  const worker = await workerOf(await edge.pid());
  await run('taskset', ['-pc', '0', String(worker)]);
  const site = { cacheRules: [cacheRule({ cacheTime: 3600, query: 'none' })] };
  const [none, few] = [
    await edge.site(site),
    moduleDoc({ id: randomUUID(), kind: 'urlRedirect', settings: {}, redirects: [] }),
  ];
  const many = moduleDoc({
    id: randomUUID(),
    kind: 'urlRedirect',
    settings: {},
    redirects: Array.from({ length: 3000 }, (_, n) => redirect(n)),
  });
  await edge.put(few, many);
  const empty = await edge.site(site, { modules: { urlRedirect: few.id } });
  const full = await edge.site(site, { modules: { urlRedirect: many.id } });
  // One path that is memoized, and thousands that are not, so that every request is looked up.
  const scenes: Scene[] = [
    { name: 'no module', host: none.name, path: '/page' },
    { name: 'no rules', host: empty.name, path: '/page' },
    { name: '3,000 rules', host: full.name, path: '/page' },
    { name: 'no module, new lines', host: none.name, path: '/a/b/{n}' },
    { name: 'no rules, new lines', host: empty.name, path: '/a/b/{n}' },
    { name: '3,000 rules, new lines', host: full.name, path: '/a/b/{n}' },
    { name: '3,000 rules, sent on', host: full.name, path: '/from/1' },
  ];
  edge.origin.on('/page', { body: 'x'.repeat(1024) });
  for (const { name, host, path } of scenes) {
    const { status } = await visit(edge.ports.http, host, path.replace('{n}', '1'));
    if (status >= 400) throw new Error(`${name} answers ${status}`);
  }
  const scripts = (await Promise.all(scenes.map(scriptOf))).slice(0, Number(most));
  const samples = scenes.map((): number[] => []);
  for (const script of scripts) await wrk(script, 1);
  for (let round = 0; round < Number(rounds); round += 1)
    for (const [i, script] of scripts.entries()) {
      const before = await cpuTicks(worker);
      const requests = await wrk(script, Number(seconds));
      samples[i]?.push((((await cpuTicks(worker)) - before) * 10_000) / requests);
    }
  const costs = new Map(scenes.map(({ name }, i) => [name, median(samples[i] ?? [])]));
  const cost = (name: string) => costs.get(name) ?? Number.NaN;
  for (const [name, value] of costs) console.log(`${name.padEnd(28)} ${value.toFixed(2)} µs`);
  const remembered = cost('3,000 rules') - cost('no module');
  const anew = cost('3,000 rules, new lines') - cost('no module, new lines');
  console.log(
    `3,000 rules cost ${remembered.toFixed(2)} µs of a line that is remembered, ${anew.toFixed(2)} µs of a new one; goal ${GOAL_MICROSECONDS} µs`,
  );
  await mkdir(dirname(json), { recursive: true });
  const machine = `${cpus()[0]?.model} × ${cpus().length}`;
  await writeFile(
    json,
    `${JSON.stringify({ machine, goal: GOAL_MICROSECONDS, costs: Object.fromEntries(costs), remembered, anew }, null, 2)}\n`,
  );
} finally {
  await edge.stop();
}

/** Request lines differ in a query that the cache key ignores, so that each is a hit. */
async function scriptOf({ host, path }: Scene, i: number): Promise<string> {
  const file = `${edge.dir}/scene${i}.lua`;
  const isNew = path.includes('{n}');
  const target = isNew ? `"${path.replace('{n}', `" .. (n % ${PATHS}) .. "`)}?" .. n` : `"${path}"`;
  await writeFile(
    file,
    `local n = 0\nrequest = function()\n  n = n + 1\n  return wrk.format("GET", ${target}, { Host = "${host}" })\nend\n`,
  );
  return file;
}

async function wrk(script: string, duration: number): Promise<number> {
  const { stdout } = await run('taskset', [
    '-c',
    '1',
    'wrk',
    '-t1',
    '-c16',
    `-d${duration}s`,
    '-s',
    script,
    `http://127.0.0.1:${edge.ports.http}`,
  ]);
  const found = /(\d+) requests in/.exec(stdout);
  if (found === null || /Non-2xx/.test(stdout)) throw new Error(stdout);
  return Number(found[1]);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
