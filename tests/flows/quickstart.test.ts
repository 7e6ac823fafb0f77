import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import path from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { buildAll } from '../../deploy/build.ts';
import { Summary } from '../../deploy/quickstart/demo.ts';
import { eventually } from '../support/eventually.ts';
import { processesOf } from '../support/leftovers.ts';
import { freePorts } from '../support/ports.ts';
import { testDir } from '../support/test-dir.ts';

const root = path.join(import.meta.dirname, '../..');
const undo: (() => Promise<unknown>)[] = [];

// npm start builds before it hands over.
beforeAll(() => buildAll({ ifChanged: true }), 300_000);
afterEach(async () => {
  for (const task of undo.splice(0).reverse()) await task();
});

test('the quick start comes up, survives Ctrl-C, kill -9 of itself and of a part, and loses nothing', async () => {
  const machine = await newMachine();

  const first = await machine.start();
  const summary = Summary.strict().parse(JSON.parse(await readFile(machine.summaryFile, 'utf8')));
  expect((await stat(machine.summaryFile)).mode & 0o777).toBe(0o600);
  expect(first.output()).toContain(summary.accounts.client.password);
  const { edge, demo, console: home, adminConsole, origin } = summary;
  expect(await statusOf(edge.http, demo.domain)).toBe(200);
  expect(await statusOf(edge.http, 'nobody.example.com')).toBe(903);
  expect(await statusOf(`${home}/user/`)).toBe(200);
  expect(await statusOf(`${home}/admin/`)).toBe(404);
  expect(await statusOf(`${adminConsole}/admin/`)).toBe(200);
  expect(await statusOf(origin)).toBe(200);

  await first.end('SIGINT');
  expect(first.child.exitCode).toBe(0);
  expect(await machine.processes()).toEqual([]);

  const second = await machine.start();
  expect(second.output()).not.toContain(summary.accounts.client.password);
  expect(JSON.parse(await readFile(machine.summaryFile, 'utf8'))).toEqual(summary);
  expect(await statusOf(edge.http, demo.domain)).toBe(200);

  for (const part of ['api', 'agent', 'nats', 'postgres', 'origin']) {
    const { pid } = JSON.parse(await readFile(path.join(machine.data, `run/${part}.pid`), 'utf8'));
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(second.output()).toContain(`${part} ended (SIGKILL); starting it again`));
  }
  // The page lies in the edge's cache by now.
  expect(await statusOf(edge.http, demo.domain)).toBe(200);
  const isHealthy = async () => expect(await statusOf(`${summary.api}/api/v1/health`)).toBe(200);
  await eventually(isHealthy, { within: 60_000 });

  await second.end('SIGKILL');
  expect(await machine.processes()).not.toEqual([]);

  const third = await machine.start();
  expect(third.output()).toContain('Stopped what a killed run had left:');
  expect(await statusOf(edge.http, demo.domain)).toBe(200);
  const fourth = await machine.run();
  expect(fourth.output()).toContain(`Already running on this data, as process ${third.child.pid}`);

  await third.end('SIGTERM');
  expect(await machine.processes()).toEqual([]);
}, 600_000);

test('a port that is taken is named with who holds it and which variable changes it', async () => {
  const machine = await newMachine();
  const other = createServer().listen(Number(machine.ports.EDGE_HTTP_PORT), '127.0.0.1');
  undo.push(async () => other.close());
  const start = await machine.run();
  expect(start.child.exitCode).toBe(1);
  expect(start.output()).toContain(`Port ${machine.ports.EDGE_HTTP_PORT}, for the edge (HTTP), is taken by`);
  expect(start.output()).toContain(`(pid ${process.pid}:`);
  expect(start.output()).toMatch(/choose another port: EDGE_HTTP_PORT=\d+ npm start/);
  expect(await machine.processes()).toEqual([]);
}, 120_000);

test('a setting that makes no sense is refused by its name', async () => {
  const machine = await newMachine();
  const start = await machine.run({ PORT: 'eighty' });
  expect(start.child.exitCode).toBe(1);
  expect(start.output()).toContain('PORT:');
}, 120_000);

async function newMachine() {
  const data = await testDir();
  const numbers = await freePorts(7);
  const next = () => String(numbers.pop());
  const ports = {
    PORT: next(),
    ADMIN_PORT: next(),
    EDGE_HTTP_PORT: next(),
    EDGE_HTTPS_PORT: next(),
    ORIGIN_PORT: next(),
    POSTGRES_PORT: next(),
    NATS_PORT: next(),
  };
  undo.push(async () => {
    for (const pid of await processesOf(data)) process.kill(pid, 'SIGKILL');
    await eventually(async () => expect(await processesOf(data)).toEqual([]));
    await rm(data, { recursive: true, force: true });
  });

  const run = async (settings: Record<string, string> = {}) => {
    const started = launch({ EDGELOOM_DATA: data, ...ports, ...settings });
    await started.ended;
    return started;
  };
  const start = async () => {
    const started = launch({ EDGELOOM_DATA: data, ...ports });
    undo.push(() => started.end('SIGKILL'));
    const isUp = () => {
      if (started.child.exitCode !== null) return;
      expect(started.output()).toContain('Everything is up');
    };
    await eventually(isUp, { within: 180_000 });
    expect(started.output()).toContain('Everything is up');
    return started;
  };
  const summaryFile = path.join(data, 'quickstart.json');
  return { data, ports, summaryFile, run, start, processes: () => processesOf(data) };
}

function launch(settings: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, ['deploy/quickstart/main.ts'], {
    cwd: root,
    env: { ...withoutServices(process.env), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  return { child, output: () => text, ended, end };
}

/** The settings of whoever runs the tests are not the quick start's here. */
function withoutServices({ DATABASE_URL: _, NATS_URL: __, NODE_ENV: ___, ...rest }: NodeJS.ProcessEnv) {
  return rest;
}

const statusOf = (url: string, host?: string) =>
  new Promise<number | undefined>((resolve) => {
    const asked = get(url, { headers: host === undefined ? {} : { host }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.once('error', () => resolve(undefined));
  });
