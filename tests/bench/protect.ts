// Cost of a site's own protection: CPU time of a cache hit with each kind of rule, against the same edge without rules.
// One worker on one core, alternating in one run, wrk on another core. CPU time is less disturbed by other load than
// requests per second. Scripts are left out: the one address of wrk would use up its share of their budget.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { geoDocs, listDoc, listRefDocs, userAgentDocs } from '@edgeloom/api/compile/firewall.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { encodeGeoPack } from '@edgeloom/contract/edge/geo-pack.ts';
import { rule as cacheRule, startEdge } from '../support/services/edge.ts';
import { visit } from '../support/assertions/visit.ts';
import { cpuTicks, workerOf } from './worker-cpu.ts';

const run = promisify(execFile);
/** Hits per CPU second with all rules, by those without rules. */
const GOAL = 0.85;
const {
  rounds,
  seconds,
  lists: listCount,
  json,
} = parseArgs({
  options: {
    lists: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string', default: '.data/bench/protect.json' },
  },
}).values;

const LIST_ENTRIES = 5000;
const ACL_RULES = 100;
const headers = ['User-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', 'Cookie: session=0123456789abcdef'];

const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
try {
  const worker = await workerOf(await edge.pid());
  await run('taskset', ['-pc', '0', String(worker)]);
  const scenes = await prepare();
  for (const { name, host } of scenes)
    for (let i = 0; i < 3; i += 1) {
      const { status } = await visit(edge.ports.http, host, '/page');
      if (status !== 200) throw new Error(`${name} answers ${status}`);
    }
  const samples = scenes.map((): number[] => []);
  for (const { host } of scenes) await wrk(host, 1);
  for (let round = 0; round < Number(rounds); round += 1)
    for (const [i, { host }] of scenes.entries()) {
      const before = await cpuTicks(worker);
      const requests = await wrk(host, Number(seconds));
      samples[i]?.push((((await cpuTicks(worker)) - before) * 10_000) / requests);
    }
  const costs = scenes.map(({ name }, i) => [name, median(samples[i] ?? [])] as const);
  for (const [name, cost] of costs) console.log(`${name.padEnd(24)} ${cost.toFixed(2)} µs`);
  const ratio = (costs[0]?.[1] ?? Number.NaN) / (costs.at(-1)?.[1] ?? Number.NaN);
  console.log(`all rules: ${ratio.toFixed(3)} of the hits without rules; goal ${GOAL}`);
  await mkdir(dirname(json), { recursive: true });
  const machine = `${cpus()[0]?.model} × ${cpus().length}`;
  await writeFile(
    json,
    `${JSON.stringify({ machine, goal: GOAL, costs: Object.fromEntries(costs), ratio }, null, 2)}\n`,
  );
} finally {
  await edge.stop();
}

/** The first scene has no rules, and the last one has all of them. */
async function prepare() {
  edge.origin.on('/page', { body: 'x'.repeat(1024) });
  const reaction = { urlRegex: '.*', blockType: 0, monitor: false };
  const limit = { id: randomUUID(), urlRegex: '', type: 1, header: '', status: 929, monitor: false } as const;
  const rules = {
    lists: await putLists(),
    regions: geoDocs([{ id: randomUUID(), ...reaction, isBlack: true, value: ['country-KP'] }]),
    'user agents': userAgentDocs(
      ['^curl/', 'sqlmap', '^python-requests/'].map((agent) => ({ id: randomUUID(), ...reaction, value: [agent] })),
    ),
    limits: {
      frequencies: [{ ...limit, seconds: 3600, times: 1e9 }],
      limitReqs: [{ ...limit, id: randomUUID(), rate: 1e6, burst: 1000, queue: false }],
      limitConns: [{ ...limit, id: randomUUID(), max: 60_000 }],
    },
  } satisfies Record<string, Partial<SiteDoc>>;
  await putGeoPack();
  const modules = await putModules();
  const site = async (name: string, over: Partial<SiteDoc>, assigned = {}) => {
    const usual = { cacheRules: [cacheRule({ cacheTime: 3600 })] };
    return { name, host: (await edge.site({ ...usual, ...over }, { modules: assigned })).name };
  };
  const scenes = [await site('no rules', {})];
  for (const [name, over] of Object.entries(rules)) scenes.push(await site(name, over));
  scenes.push(await site('access rules', {}, modules));
  scenes.push(await site('all', Object.assign({}, ...Object.values(rules)), modules));
  return scenes;
}

async function putLists(): Promise<Partial<SiteDoc>> {
  const docs = Array.from({ length: Number(listCount) }, (_, n) =>
    listDoc({
      id: randomUUID(),
      value: Array.from({ length: LIST_ENTRIES }, (_none, i) => `10.${n}.${i >> 8}.${i & 255}`),
      expires: [],
    }),
  );
  for (const doc of docs) await edge.put(doc);
  return listRefDocs(docs.map(({ id }) => ({ id, isBlack: true, urls: [], methods: [], monitor: false })));
}

async function putGeoPack() {
  const none = { high: [], low: [], index: [] };
  const file = encodeGeoPack({
    places: [
      { country: '', continent: '', province: '' },
      { country: 'TW', continent: 'AS', province: '' },
    ],
    networks: [{ asn: 0, isp: '' }],
    place: { 4: { high: [0, 0x7f00_0000], low: [], index: [0, 1] }, 6: none },
    network: { 4: none, 6: none },
  });
  const version = randomUUID();
  await edge.put({ kind: 'pack', id: 'geo.0', version, data: file.toString('base64') });
  await edge.put({ kind: 'pack', id: 'geo', version, parts: 1 });
}

async function putModules() {
  const fields = ['path', 'userAgent', 'cookie:session', 'args', 'country'];
  const aclRules = Array.from({ length: ACL_RULES }, (_, n) =>
    settled(
      AclRuleInput.parse({
        name: `Rule ${n}`,
        conditions: [
          n % 10 === 0
            ? { field: 'userAgent', operator: 'matches', value: `bot${n}|crawl(er|ing)` }
            : { field: fields[n % fields.length], operator: 'equal', value: `/value-${n}` },
          { field: 'ip', operator: 'in', value: ['10.0.0.0/8', '192.0.2.0/24'] },
        ],
        action: 'deny',
      }),
    ),
  );
  const acl = moduleDoc({ id: randomUUID(), kind: 'acl', settings: { rules: aclRules }, redirects: null });
  await edge.put(acl);
  return { acl: acl.id };
}

async function wrk(host: string, duration: number): Promise<number> {
  const url = `http://127.0.0.1:${edge.ports.http}/page`;
  const sent = [`Host: ${host}`, ...headers].flatMap((header) => ['-H', header]);
  const { stdout } = await run('taskset', ['-c', '1', 'wrk', '-t1', '-c16', `-d${duration}s`, ...sent, url]);
  const found = /(\d+) requests in/.exec(stdout);
  if (found === null || /Non-2xx/.test(stdout)) throw new Error(stdout);
  return Number(found[1]);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
