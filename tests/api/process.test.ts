// Start and stop of the API process.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants, open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFailed, test } from 'vitest';
import { minimalEnv } from '../support/services/minimal-env.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePorts } from '../support/services/ports.ts';
import { restartableNats } from '../support/services/restartable-nats.ts';
import { services, testDatabase } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';

const main = fileURLToPath(new URL('../../apps/api/src/main.ts', import.meta.url));

function start(env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [main], { env: { ...minimalEnv, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  onTestFailed(async () => {
    // Null: it runs. Each thread with what it waits for.
    const threads = child.exitCode === null ? await threadsOf(child.pid ?? 0) : [];
    console.error(`exit code ${child.exitCode}, signal ${child.signalCode}\n${threads.join('\n')}\n${output}`);
  });
  // `close` fires after all output has been read.
  return { child, ended: once(child, 'close'), output: () => output };
}

async function threadsOf(pid: number): Promise<string[]> {
  const dir = `/proc/${pid}/task`;
  const ids = await readdir(dir).catch(() => []);
  const read = (id: string, file: string) => readFile(path.join(dir, id, file), 'utf8').catch(() => '?');
  return Promise.all(ids.map(async (id) => `${(await read(id, 'comm')).trim()}: ${await read(id, 'syscall')}`));
}

/** On the run's nats-server, the process would respond to nodes of other tests. */
async function ownNats(): Promise<string> {
  const { url, start: startServer } = await restartableNats();
  await startServer();
  return url;
}

test('SIGTERM finishes running calls, and the exit is clean', async () => {
  const natsUrl = await ownNats();
  const { secretsDir } = services();
  const [port = 0, adminPort = 0] = await freePorts(2);
  const { child, ended, output } = start({
    DATABASE_URL: await testDatabase(),
    NATS_URL: natsUrl,
    SECRETS_DIR: secretsDir,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  });
  try {
    const base = `http://127.0.0.1:${port}/api/v1`;
    await eventually(async () => expect((await fetch(`${base}/health`)).status).toBe(200), { within: 60_000 });
    // Password hashing keeps this request in flight.
    const call = fetch(`${base}/client/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'not to be logged' }),
    });
    await eventually(async () => {
      const metrics = await fetch(`${base}/metrics`);
      expect(metrics.status).toBe(401);
    });
    child.kill('SIGTERM');
    expect((await call).status).toBe(401);
    expect(await ended).toEqual([0, null]);
    await expect(fetch(`${base}/health`)).rejects.toThrow();
    expect(output()).toContain('"path":"/api/v1/client/login","status":401');
    expect(output()).not.toContain('not to be logged');
  } finally {
    child.kill('SIGKILL');
  }
});

// Regression: until the start was complete, a signal ended the process at once.
test('SIGTERM during the start finishes running calls', async () => {
  const natsUrl = await ownNats();
  const { secretsDir } = services();
  const [port = 0, adminPort = 0] = await freePorts(2);
  // Reading this file ends when the test closes it, so the start is incomplete until then.
  const dir = await testDir();
  const countries = path.join(dir, 'countries.mmdb');
  execFileSync('mkfifo', [countries]);
  const writer = await open(countries, constants.O_RDWR);
  const { child, ended, output } = start({
    DATABASE_URL: await testDatabase(),
    NATS_URL: natsUrl,
    SECRETS_DIR: secretsDir,
    GEOIP_COUNTRY_FILE: countries,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  });
  try {
    const base = `http://127.0.0.1:${port}/api/v1`;
    await eventually(async () => expect((await fetch(`${base}/health`)).status).toBe(200), { within: 60_000 });
    const call = fetch(`${base}/client/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'nobody@example.com', password: 'wrong' }),
    });
    child.kill('SIGTERM');
    expect((await call).status).toBe(401);
    // A later look at the file must not wait for another writer.
    await rm(countries);
    await writer.close();
    expect(await ended).toEqual([0, null]);
    expect(output()).toContain('"msg":"stopped"');
  } finally {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true });
  }
});

test('an invalid environment prevents the start, with each error by name', async () => {
  const { ended, output } = start({ DATABASE_URL: 'nonsense', PORT: 'http' });
  expect((await ended)[0]).toBe(1);
  expect(output()).toMatch(/DATABASE_URL:[^]*SECRETS_DIR:[^]*PORT:/);
});
