// Runs the edge's cache conformance cases against a plain nginx proxy_cache, and lists forbidden hits and needless
// misses.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { uncacheable, cacheable, type Case } from '../support/builders/cache-cases.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { freePort } from '../support/services/ports.ts';

const run = promisify(execFile);
const origin = await startOrigin();
const port = await freePort();
const dir = await mkdtemp(path.join(tmpdir(), 'plain-'));
await writeFile(
  path.join(dir, 'nginx.conf'),
  `daemon off; user root; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy; fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi; scgi_temp_path ${dir}/scgi;
  proxy_cache_path ${dir}/cache levels=1:2 keys_zone=plain:1m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_cache plain; proxy_cache_revalidate on; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_pass http://127.0.0.1:${origin.port};
    }
  }
}
`,
);
const nginx = run('nginx', ['-p', dir, '-e', path.join(dir, 'error.log'), '-c', path.join(dir, 'nginx.conf')]);
try {
  await eventually(() => get('/up'));
  const notShared = await failing(cacheable, 1);
  const notAsked = await failing(uncacheable, 2);
  const result = { cases: cacheable.length + uncacheable.length, fetchedAgain: notShared, answeredWrongly: notAsked };
  console.log(JSON.stringify(result, null, 2));
  await mkdir('.data/bench', { recursive: true });
  await writeFile('.data/bench/cache-conformance.json', `${JSON.stringify(result, null, 2)}\n`);
} finally {
  nginx.child.kill('SIGTERM');
  await nginx.catch(() => null);
  await origin.stop();
  await rm(dir, { recursive: true, force: true });
}

/** Names of the cases in which the origin got another number of requests. */
async function failing(cases: Case[], times: number): Promise<string[]> {
  const found: string[] = [];
  for (const [i, [sentence, headers, status = 200, ask = {}]] of cases.entries()) {
    const url = `/${times}-${i}`;
    origin.on(url, { status, headers, body: 'kept' });
    for (let turn = 0; turn < 2; turn += 1) await get(url, ask.headers);
    if (origin.asked(url).length !== times) found.push(sentence);
  }
  return found;
}

function get(url: string, headers: Record<string, unknown> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const call = request({ host: '127.0.0.1', port, path: url, headers: fields, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', resolve);
      answer.on('error', reject);
    });
    call.on('error', reject);
    call.end();
  });
}
