// Cost of a TLS handshake: CPU time of this edge's worker with ten thousand certificates as documents, against nginx
// with one certificate file. One worker each on the same core, alternating in one run; clients on another core. Full
// handshakes, TLS 1.3, ECDSA P-256.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { parseArgs, promisify } from 'node:util';
import { findWorkers } from '@edgeloom/agent/host.ts';
import { layoutOf, prepareLayout } from '@edgeloom/agent/layout.ts';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { certKey } from '@edgeloom/contract/edge/documents.ts';
import { hostDoc, siteDoc, startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePorts } from '../support/services/ports.ts';
import { workerOf } from './worker-cpu.ts';

const run = promisify(execFile);
const GOAL = 0.95;
const { rounds, handshakes, certificates, json } = parseArgs({
  options: {
    // Many short rounds, so that other load affects all scenes alike.
    rounds: { type: 'string', default: '50' },
    handshakes: { type: 'string', default: '200' },
    certificates: { type: 'string', default: '10000' },
    json: { type: 'string', default: '.data/bench/tls.json' },
  },
}).values;

interface Scene {
  name: string;
  port: number;
  worker: number;
  /** SNI of the nth client. */
  asks: (visitor: number) => string;
}

const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
const plain = await startPlain();
try {
  const names = await fill(Number(certificates));
  const worker = await workerOf(await edge.pid());
  const scenes: Scene[] = [
    { name: 'nginx, one certificate in its files', ...plain, asks: () => 'static.example.com' },
    { name: 'edge, always the same of its certificates', port: edge.ports.https, worker, asks: () => names[0] ?? '' },
    {
      name: 'edge, any of its certificates',
      port: edge.ports.https,
      worker,
      asks: (visitor) => names[(visitor * 7919) % names.length] ?? '',
    },
  ];
  await run('taskset', ['-pc', '1', String(process.pid)]);
  for (const scene of scenes) await run('taskset', ['-pc', '0', String(scene.worker)]);
  const [, , any] = scenes;
  // Every certificate once, to measure its first use.
  const first = any ? await microseconds(any, 0, names.length) : Number.NaN;
  const samples = new Map<string, number[]>(scenes.map(({ name }) => [name, []]));
  const each = Number(handshakes);
  for (let round = 0; round < Number(rounds); round += 1)
    for (const scene of scenes) samples.get(scene.name)?.push(await microseconds(scene, round * each, each));
  await report(samples, first);
} finally {
  await plain.stop();
  await edge.stop();
}

async function fill(count: number): Promise<string[]> {
  const site = siteDoc({});
  await edge.write(site);
  const names = Array.from({ length: count }, (_, i) => `n${i}.example.com`);
  for (const [i, name] of names.entries()) {
    const id = `0195f1f0-0000-7000-8000-${String(i).padStart(12, '0')}`;
    const { cert, key } = selfSigned(name);
    const notAfter = new Date(new X509Certificate(cert).validTo).toISOString();
    const pairs = [{ chainPem: cert, key: edge.seal(key, certKey(id)) }];
    await edge.write({ kind: 'cert', id, names: [name], notAfter, pairs });
    await edge.write(hostDoc(site, edge.origin.port, { name, certID: id }));
  }
  await edge.admin.bump([`site/${site.id}`, ...names.map((name) => `host/${name}`)]);
  return names;
}

async function microseconds({ port, worker, asks }: Scene, from: number, count: number): Promise<number> {
  const before = await cpuMicroseconds(worker);
  let next = from;
  const visitor = async () => {
    while (next < from + count) {
      const socket = connect({ host: '127.0.0.1', port, servername: asks((next += 1)), rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: 8 }, visitor));
  return ((await cpuMicroseconds(worker)) - before) / count;
}

/** CPU time from the scheduler: a tick of 10 ms would be a fifth of a round. */
async function cpuMicroseconds(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1000;
}

async function startPlain() {
  const dir = await mkdtemp(join(tmpdir(), 'plain-'));
  const [port = 0] = await freePorts(1);
  const workers = await findWorkers();
  await prepareLayout(layoutOf(dir), workers);
  const { cert, key } = selfSigned('static.example.com');
  await writeFile(join(dir, 'cert.pem'), cert);
  await writeFile(join(dir, 'key.pem'), key);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/tmp/${name};`,
  );
  await writeFile(
    join(dir, 'conf/nginx.conf'),
    `${workers === null ? '' : `user ${workers.user};`} worker_processes 1; pid ${dir}/run/nginx.pid; events { worker_connections 1024; }
http {
  ${temporary.join(' ')}
  access_log off;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:32m; ssl_session_timeout 1d; ssl_session_tickets off;
    ssl_certificate ${dir}/cert.pem; ssl_certificate_key ${dir}/key.pem;
    return 204;
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

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The ratio is computed per round, since the machine's speed varies between rounds. */
async function report(samples: Map<string, number[]>, first: number): Promise<void> {
  const [base = []] = samples.values();
  const rows = [...samples].map(([name, values]) => ({
    scene: name,
    'µs CPU a handshake': Number(median(values).toFixed(1)),
    'of plain': Number(median(values.map((value, round) => (base[round] ?? Number.NaN) / value)).toFixed(3)),
  }));
  console.table(rows);
  console.log(`a certificate that is met for the first time: ${first.toFixed(1)} µs; goal: at least ${GOAL} of plain`);
  await mkdir(dirname(json), { recursive: true });
  const { version } = await detectCapabilities('nginx');
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, nginx: version, node: process.version };
  const result = {
    at: new Date().toISOString(),
    goal: GOAL,
    machine,
    certificates,
    first,
    rows,
    samples: [...samples],
  };
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
}
