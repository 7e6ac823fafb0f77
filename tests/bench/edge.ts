// Cost of a cache hit: CPU time of this edge's worker against three plain nginx with proxy_cache and the same object.
// The goals are against the one that caches open files and writes our access log, as this edge does. The others write
// the combined log, or do not cache open files. One worker each on the same core, alternating in one run, wrk on
// another core. CPU time is less disturbed by other load than requests per second.
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { findWorkers } from '@edgeloom/agent/host.ts';
import { layoutOf, prepareLayout } from '@edgeloom/agent/layout.ts';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { logConf } from '@edgeloom/agent/render/log-conf.ts';
import { errorPageDocs } from '@edgeloom/api/compile/error-pages.ts';
import { antiHeaderDocs, antiRefererDocs } from '@edgeloom/api/compile/hotlink.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { AntiHeaderInput, AntiRefererInput } from '@edgeloom/contract/hotlink/hotlink.ts';
import { CorsInput, CorsSettings } from '@edgeloom/contract/modules/cors.ts';
import { CustomHeaderInput } from '@edgeloom/contract/modules/custom-headers.ts';
import { ProxyRewriteInput } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import type { RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { TokenAuthInput } from '@edgeloom/contract/modules/token-auths.ts';
import { RateInput } from '@edgeloom/contract/rates/rates.ts';
import { rule, startEdge, zoneDoc } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePorts } from '../support/services/ports.ts';
import { visit } from '../support/assertions/visit.ts';
import { cpuTicks, workerOf } from './worker-cpu.ts';

const run = promisify(execFile);
/** Shares of BASE's speed. */
const GOAL = 0.85;
/** For a site with every module. */
const GOAL_WITH_ALL = 0.8;
const ALL = 'edge, with every module';
const BASE = 'nginx, open files, our log';
const SHORT_LOG = 'nginx, open files, combined log';
const REOPENING = 'nginx, our log';
const {
  rounds,
  seconds,
  scenes: most,
  json,
} = parseArgs({
  options: {
    /** Number of scenes to measure; every scene is requested. */
    scenes: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'string', default: '.data/bench/edge.json' },
  },
}).values;

const object = {
  headers: { 'cache-control': 'max-age=86400', etag: '"one"', 'content-type': 'text/plain', 'content-length': 1024 },
  body: 'x'.repeat(1024),
};
const zoneKey = randomBytes(32);
const edge = await startEdge({ zoneKey, zone: { worker: { processes: 1, connections: 1024 } } });
const OPEN_FILES = 'open_file_cache max=4096 inactive=30s; open_file_cache_min_uses 2;';
const base = await startPlain(OPEN_FILES, 'ours');
const shortLog = await startPlain(OPEN_FILES, 'combined');
const reopening = await startPlain('', 'ours');
try {
  const scenes = (await prepare()).slice(0, Number(most));
  const samples = new Map<string, number[]>(scenes.map((scene) => [scene.name, []]));
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const scene of scenes) samples.get(scene.name)?.push(await microseconds(scene));
  }
  await report(samples);
} finally {
  await base.stop();
  await shortLog.stop();
  await reopening.stop();
  await edge.stop();
}

type Scene = { name: string; url: string; host: string; headers: string[]; worker: number };

async function prepare(): Promise<Scene[]> {
  // Default of compiled sites: a stored response may replace a failing origin's.
  const usual = { staleIfError: 3600 };
  const { name: followed } = await edge.site(usual);
  const { name: ruled } = await edge.site({
    ...usual,
    cacheRules: [rule({ type: 'fileType', value: ['css', 'js'], cacheTime: 3600 }), rule({ cacheTime: 3600 })],
  });
  edge.origin.on('/1k', object);
  edge.origin.on('/varied', { ...object, headers: { ...object.headers, vary: 'accept-encoding' } });
  const worker = await workerOf(await edge.pid());
  const port = edge.ports.http;
  const scenes = [
    { name: BASE, url: `http://127.0.0.1:${base.port}/1k`, host: ruled, headers: [], worker: base.worker },
    { name: SHORT_LOG, url: `http://127.0.0.1:${shortLog.port}/1k`, host: ruled, headers: [], worker: shortLog.worker },
    {
      name: REOPENING,
      url: `http://127.0.0.1:${reopening.port}/1k`,
      host: ruled,
      headers: [],
      worker: reopening.worker,
    },
    { name: 'edge, as the origin says', url: `http://127.0.0.1:${port}/1k`, host: followed, headers: [], worker },
    { name: 'edge, by a rule', url: `http://127.0.0.1:${port}/1k`, host: ruled, headers: [], worker },
    {
      name: 'edge, variants by encoding',
      url: `http://127.0.0.1:${port}/varied`,
      host: followed,
      headers: ['accept-encoding: gzip'],
      worker,
    },
    await withEverything(port, worker),
  ];
  for (const scene of scenes) {
    await run('taskset', ['-pc', '0', String(scene.worker)]);
    // Repeat until the response is a hit.
    for (let i = 0; i < 3; i += 1) {
      const { status } = await visit(Number(new URL(scene.url).port), scene.host, new URL(scene.url).pathname);
      if (status !== 200) throw new Error(`${scene.name} answers ${status}`);
    }
  }
  for (const scene of scenes.slice(0, Number(most))) await wrk(scene, 1);
  return scenes;
}

/** Every option of a site is enabled; a normal request passes all of them. */
async function withEverything(port: number, worker: number): Promise<Scene> {
  const module = (kind: string, settings: unknown, redirects: RedirectRule[] | null = null) =>
    moduleDoc({ id: randomUUID(), kind, settings, redirects }, () => ({
      zoneKey: { id: 'first', key: zoneKey },
      open: () => 'secret-of-six',
    }));
  const redirects = Array.from({ length: 3000 }, (_, i) => ({
    ...RedirectInput.parse({ type: i % 2 === 0 ? 'exact' : 'prefix', source: `/old/${i}`, target: `/new/${i}` }),
    id: randomUUID(),
  }));
  const { headers } = CustomHeaderInput.parse({
    name: 'headers',
    headers: [
      { direction: 'request', action: 'set', name: 'X-Edge', value: '{clientIP}' },
      { direction: 'response', action: 'set', name: 'X-Frame-Options', value: 'DENY' },
      { direction: 'response', action: 'add', name: 'X-Served', value: '{requestID}' },
      { direction: 'response', action: 'remove', name: 'X-Powered-By' },
    ],
  });
  const cors = CorsSettings.parse(CorsInput.parse({ name: 'cors', allowOrigins: ['https://app.example.com'] }));
  const { rules } = ProxyRewriteInput.parse({ name: 'r', rules: [{ type: 'prefix', source: '/api', target: '/v2' }] });
  const { auths } = TokenAuthInput.parse({
    name: 'tokens',
    auths: [
      {
        type: 'prefix',
        value: ['/paid'],
        parts: [{ name: 'sign', format: '{time}-{sign}' }],
        text: '{path}-{time}-{key}',
        algorithm: 'md5',
        keys: [{ id: randomUUID() }],
      },
    ],
  });
  const stored = auths.map((auth) => ({
    ...auth,
    id: randomUUID(),
    keys: [{ id: randomUUID(), createdAt: new Date().toISOString() }],
  }));
  const modules = [
    module('customHeader', { headers }),
    module('cors', cors),
    module('urlRedirect', {}, redirects),
    module('proxyRewrite', { rules }),
    module('tokenAuth', { auths: stored }),
  ];
  await edge.put(...modules);
  const image = AntiRefererInput.parse({
    type: 'fileType',
    value: ['jpg'],
    isBlack: true,
    referers: ['**.example.net'],
  });
  const any = AntiRefererInput.parse({ isBlack: true, referers: ['**.example.net'] });
  const robot = AntiHeaderInput.parse({ name: 'User-Agent', operator: 'contains', value: 'BadBot' });
  const page = ErrorPageInput.parse({ code: 502, type: 'content', value: '<h1>later</h1>' });
  const slow = RateInput.parse({ rate: 1_048_576 });
  const { name } = await edge.site(
    {
      staleIfError: 3600,
      cacheRules: [rule({ type: 'fileType', value: ['css', 'js'], cacheTime: 3600 }), rule({ cacheTime: 3600 })],
      compression: { gzip: true, brotli: true, types: ['text/plain'], minBytes: 2000 },
      ports: [port],
      rates: [{ id: randomUUID(), ...slow }],
      ...errorPageDocs([page]),
      ...antiHeaderDocs([{ id: randomUUID(), ...robot }]),
    },
    {
      https: { force: false, hsts: 'max-age=600', minTLS: 'TLSv1.2' },
      modules: Object.fromEntries(modules.map((one) => [one.module, one.id])),
      ...antiRefererDocs([image, any].map((one) => ({ id: randomUUID(), ...one }))),
    },
  );
  const fields = ['origin: https://app.example.com', `referer: https://${name}/`, 'accept-encoding: gzip, deflate, br'];
  return { name: ALL, url: `http://127.0.0.1:${port}/1k`, host: name, headers: fields, worker };
}

async function microseconds(scene: Scene): Promise<number> {
  const before = await cpuTicks(scene.worker);
  const requests = await wrk(scene, Number(seconds));
  return (((await cpuTicks(scene.worker)) - before) * 10_000) / requests;
}

async function wrk({ url, host, headers }: Scene, duration: number): Promise<number> {
  const fields = [`Host: ${host}`, ...headers].flatMap((field) => ['-H', field]);
  const { stdout } = await run('taskset', ['-c', '1', 'wrk', '-t1', '-c16', `-d${duration}s`, ...fields, url]);
  const found = /(\d+) requests in/.exec(stdout);
  if (found === null || /Non-2xx/.test(stdout)) throw new Error(stdout);
  return Number(found[1]);
}

/** A typical hand-written configuration for caching one origin. */
async function startPlain(extra: string, written: 'combined' | 'ours') {
  const dir = await mkdtemp(join(tmpdir(), 'plain-'));
  const [port = 0] = await freePorts(1);
  const workers = await findWorkers();
  await prepareLayout(layoutOf(dir), workers);
  const host = {
    dir,
    luaDir: '',
    listen: [],
    user: null,
    capabilities: await detectCapabilities('nginx'),
    resolvers: [],
    caBundle: null,
  };
  const ours = logConf({
    zone: zoneDoc({ http: 1, https: 2 }),
    node: null,
    generation: 1,
    host,
    snippets: new Map(),
  }).text;
  const log = written === 'ours' ? ours : `access_log ${dir}/logs/access.log combined buffer=64k flush=1s;`;
  const user = workers === null ? '' : `user ${workers.user};`;
  await writeFile(
    join(dir, 'conf/nginx.conf'),
    `${user} worker_processes 1; pid ${dir}/run/nginx.pid; events { worker_connections 1024; }
http {
  sendfile on; tcp_nopush on; ${extra} keepalive_requests 10000; server_tokens off;
  client_body_temp_path ${dir}/tmp/body; proxy_temp_path ${dir}/tmp/proxy; fastcgi_temp_path ${dir}/tmp/fastcgi;
  uwsgi_temp_path ${dir}/tmp/uwsgi; scgi_temp_path ${dir}/tmp/scgi;
  map "" $e_site { default "0195f1f0-0000-7000-8000-000000000000"; }
  map "" $e_cause { default ""; }
  map "" $e_trail { default ""; }
  map "" $e_waf { default ""; }
  map "" $e_mask { default ""; }
  map "" $e_rule { default ""; }
  map "" $e_domain { default "0195f1f0-0000-7000-8000-000000000000"; }
  ${log}
  proxy_cache_path ${dir}/cache levels=1:2 keys_zone=plain:4m max_size=256m inactive=1h use_temp_path=off;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_cache plain; proxy_cache_lock on; proxy_cache_revalidate on;
      proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_pass http://127.0.0.1:${edge.origin.port};
    }
  }
}
`,
  );
  await run('nginx', ['-p', dir, '-e', `${dir}/logs/error.log`, '-c', `${dir}/conf/nginx.conf`]);
  const master = Number(await eventually(() => readFile(`${dir}/run/nginx.pid`, 'utf8')));
  return {
    port,
    worker: await workerOf(master),
    stop: async () => {
      process.kill(master, 'SIGTERM');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function share(base: number[], values: number[]): number {
  return Number(median(values.map((value, round) => (base[round] ?? Number.NaN) / value)).toFixed(3));
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function goalLine({ name, ofBase, ofReopening }: { name: string; ofBase: number; ofReopening: number }) {
  const goal = name === ALL ? GOAL_WITH_ALL : GOAL;
  const verdict = ofBase < goal ? 'below the goal' : 'reaches the goal';
  return `${name}: ${ofBase} of "${BASE}", ${verdict} of ${goal} (${ofReopening} of "${REOPENING}")`;
}

/** The ratio is computed per round, since the machine's speed varies between rounds. */
async function report(samples: Map<string, number[]>): Promise<void> {
  const rows = [...samples].map(([name, values]) => ({
    name,
    microseconds: Number(median(values).toFixed(2)),
    ofBase: share(samples.get(BASE) ?? [], values),
    ofShortLog: share(samples.get(SHORT_LOG) ?? [], values),
    ofReopening: share(samples.get(REOPENING) ?? [], values),
    samples: values.map((value) => Number(value.toFixed(2))),
  }));
  console.table(
    rows.map(({ name, microseconds: us, ofBase, ofShortLog }) => ({
      scene: name,
      'µs CPU a hit': us,
      'of open files, our log': ofBase,
      'of open files, combined log': ofShortLog,
    })),
  );
  for (const row of rows.filter(({ name }) => name.startsWith('edge'))) console.log(goalLine(row));
  await mkdir(dirname(json), { recursive: true });
  const { version } = await detectCapabilities('nginx');
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory: totalmem(),
    nginx: version,
    node: process.version,
  };
  const goals = { goal: GOAL, goalWithAll: GOAL_WITH_ALL };
  const result = { at: new Date().toISOString(), ...goals, machine, rows };
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
}
