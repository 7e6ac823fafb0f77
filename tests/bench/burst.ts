// Concurrent requests for one cold URL: response times and origin requests, then memory and CPU time of 1,000 waiters.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { request, Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { startEdge, upstream, siteDoc, hostDoc } from '../support/services/edge.ts';

const KINDS: Record<string, { headers: Record<string, string>; seconds: number }> = {
  'max-age=60': { headers: { 'cache-control': 'max-age=60' }, seconds: 1 },
  Vary: { headers: { 'cache-control': 'max-age=60', vary: 'accept-language' }, seconds: 1 },
  compressed: { headers: { 'cache-control': 'max-age=60', 'content-type': 'text/html' }, seconds: 1 },
  'no-store': { headers: { 'cache-control': 'no-store' }, seconds: 1 },
  private: { headers: { 'cache-control': 'private' }, seconds: 1 },
  'Set-Cookie': { headers: { 'cache-control': 'max-age=60', 'set-cookie': 'a=b' }, seconds: 1 },
  '7 s': { headers: { 'cache-control': 'max-age=60' }, seconds: 7 },
};

const options = parseArgs({
  options: {
    kinds: { type: 'string', default: '7' },
    waiters: { type: 'string', default: '1000' },
    json: { type: 'string', default: '.data/bench/burst.json' },
  },
}).values;
const [kindCount, waiters] = [Number(options.kinds), Number(options.waiters)];

const asked: string[] = [];
const origin = createServer((call: IncomingMessage, reply: ServerResponse) => {
  const url = new URL(call.url ?? '/', 'http://origin');
  asked.push(url.pathname);
  const [, , kind = '', age] = url.pathname.split('/').map(decodeURIComponent);
  const { headers, seconds } = KINDS[kind] ?? { headers: { 'cache-control': 'max-age=60' }, seconds: 3 };
  setTimeout(() => {
    if (age !== undefined) reply.setHeader('cache-control', `max-age=${age}`);
    else for (const [name, value] of Object.entries(headers)) reply.setHeader(name, value);
    reply.end('x'.repeat(2000));
  }, seconds * 1000);
});
origin.listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const port = address !== null && typeof address === 'object' ? address.port : 0;

const edge = await startEdge({ zone: { worker: { processes: 2, connections: 8192 } } });
const site = siteDoc({
  compression: { gzip: true, brotli: true, minBytes: 100, types: ['text/html'] },
});
const host = hostDoc(site, port, { origin: { upstreams: [upstream(port)] } });
await edge.put(site, host);

const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
const ask = (path: string) =>
  new Promise<number>((resolve, reject) => {
    const begun = performance.now();
    const call = request(
      {
        host: '127.0.0.1',
        port: edge.ports.http,
        path,
        agent,
        headers: { host: host.name, 'accept-encoding': 'gzip' },
      },
      (answer) => answer.resume().on('end', () => resolve((performance.now() - begun) / 1000)),
    );
    call.on('error', reject);
    call.end();
  });
const rows: { name: string; fetches: number; seconds: number[] }[] = [];
const show = (name: string, times: number[], fetches: number) => {
  rows.push({ name, fetches, seconds: times });
  console.log(
    `${name.padEnd(28)} fetches ${String(fetches).padStart(4)}   ${times
      .toSorted((a, b) => a - b)
      .map((t) => t.toFixed(2))
      .join(' ')}`,
  );
};

const burst = async (name: string, path: string, visitors: number) => {
  const before = asked.filter((one) => one === path).length;
  const times = await Promise.all(Array.from({ length: visitors }, () => ask(path)));
  show(name, times, asked.filter((one) => one === path).length - before);
};
let n = 0;
try {
  for (const kind of Object.keys(KINDS).slice(0, kindCount)) {
    n += 1;
    const path = `/${n}/${encodeURIComponent(kind)}`;
    await burst(`${kind}, cold`, path, kind === '7 s' ? 5 : 8);
    if (kind !== '7 s') await burst(`${kind}, again`, path, 8);
  }
  await ask('/e/max-age=60/3');
  await sleep(4500);
  await burst('expired, 4 visitors', '/e/max-age=60/3', 4);

  const pids = await workers();
  const cpu = async () => (await Promise.all(pids.map(ticks))).reduce((sum, one) => sum + one, 0);
  const memory = async () => (await Promise.all(pids.map(kilobytes))).reduce((sum, one) => sum + one, 0);
  const [beforeCpu, beforeMemory] = [await cpu(), await memory()];
  const begun = performance.now();
  const all = Promise.all(Array.from({ length: waiters }, () => ask('/m/many')));
  await sleep(2000);
  const [midCpu, midMemory] = [await cpu(), await memory()];
  await sleep(700);
  const idle = (await cpu()) - midCpu;
  const times = await all;
  console.log(
    `${waiters} waiters of 3 s: fetches ${asked.filter((one) => one === '/m/many').length}, last after ${Math.max(...times).toFixed(2)} s of ${((performance.now() - begun) / 1000).toFixed(2)}; ` +
      `${(midMemory - beforeMemory).toFixed(0)} kB more while they wait; CPU ${(midCpu - beforeCpu) * 10} ms to begin, ${idle * 10} ms for 0.7 s of waiting, ${((await cpu()) - beforeCpu) * 10} ms in all`,
  );
  await mkdir(dirname(options.json), { recursive: true });
  await writeFile(options.json, JSON.stringify({ rows, waiters, waitersKilobytes: midMemory - beforeMemory }, null, 2));
} finally {
  origin.closeAllConnections();
  origin.close();
  await edge.stop();
}

async function workers(): Promise<number[]> {
  const pid = await edge.pid();
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
}
async function ticks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
async function kilobytes(pid: number): Promise<number> {
  const found = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? 0);
}
