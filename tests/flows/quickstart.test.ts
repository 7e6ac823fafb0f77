import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import path from 'node:path';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildAll } from '../../deploy/build.ts';
import { Summary } from '../../deploy/quickstart/demo.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { longTest } from '../support/builders/long-run.ts';
import { processesOf } from '../support/services/runs.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const root = path.join(import.meta.dirname, '../..');

// npm start builds before it starts the product.
beforeAll(() => buildAll({ ifChanged: true }), 300_000);

longTest(
  'the quick start survives Ctrl-C and kill -9 of itself and of its parts without data loss',
  async () => {
    const machine = await newMachine();

    const first = machine.launch();
    // The file must not exist before everything is ready, because scripts wait for it.
    const summary = await machine.untilSummary();
    expect(await machine.answers(summary)).toEqual([200, 200, 200, 200, 200]);
    await eventually(() => expect(first.output()).toContain('Everything is up'));
    expect((await stat(machine.summaryFile)).mode & 0o777).toBe(0o600);
    expect(first.output()).toContain(summary.accounts.client.password);
    const { edge, demo, console: home } = summary;
    expect(await statusOf(edge.http, 'nobody.example.com')).toBe(903);
    expect(await statusOf(`${home}/admin/`)).toBe(404);

    expect(await machine.databaseRoles()).toEqual([{ role: 'edgeloom_api', superuser: false }]);

    // Visitors of the demo site make the charts live.
    await eventually(async () => expect(await machine.countedRequests()).toBeGreaterThan(10), { within: 60_000 });

    // They come from several countries, some are refused, and some open layer-4 sessions.
    await eventually(
      async () => {
        const { countries, refused, sessionCountries } = await machine.visitors();
        expect(Math.min(countries, sessionCountries)).toBeGreaterThan(2);
        expect(refused).toBeGreaterThan(0);
      },
      { within: 60_000 },
    );

    await first.end('SIGINT');
    expect(first.child.exitCode).toBe(0);
    expect(await machine.processes()).toEqual([]);
    expect(existsSync(machine.summaryFile)).toBe(false);

    const second = await machine.start();
    expect(second.output()).not.toContain(summary.accounts.client.password);
    expect(JSON.parse(await readFile(machine.summaryFile, 'utf8'))).toEqual(summary);
    expect(await statusOf(edge.http, demo.domain)).toBe(200);

    for (const part of ['api', 'agent', 'nats', 'postgres', 'origin']) {
      const { pid } = JSON.parse(await readFile(path.join(machine.data, `run/${part}.pid`), 'utf8'));
      process.kill(pid, 'SIGKILL');
      await eventually(() => expect(second.output()).toContain(`${part} ended (SIGKILL); starting it again`));
    }
    // The page is in the edge's cache by now.
    expect(await statusOf(edge.http, demo.domain)).toBe(200);
    const isHealthy = async () => expect(await statusOf(`${summary.api}/api/v1/health`)).toBe(200);
    await eventually(isHealthy, { within: 60_000 });

    await second.end('SIGKILL');
    expect(await machine.processes()).not.toEqual([]);

    expect(existsSync(machine.summaryFile)).toBe(true);
    const third = machine.launch();
    await eventually(() => expect(existsSync(machine.summaryFile)).toBe(false), { within: 60_000 });
    expect(await machine.untilSummary()).toEqual(summary);
    expect(await machine.answers(summary)).toEqual([200, 200, 200, 200, 200]);
    expect(third.output()).toContain('Stopped what a killed run had left:');
    const fourth = await machine.run();
    expect(fourth.output()).toContain(`Already running on this data, as process ${third.child.pid}`);

    await third.end('SIGTERM');
    expect(await machine.processes()).toEqual([]);
  },
  600_000,
);

test('a port in use is reported with its process and the variable that changes it', async () => {
  const machine = await newMachine();
  const other = createServer().listen(Number(machine.ports.EDGE_HTTP_PORT), '127.0.0.1');
  onTestFinished(() => void other.close());
  const start = await machine.run();
  expect(start.child.exitCode).toBe(1);
  expect(start.output()).toContain(`Port ${machine.ports.EDGE_HTTP_PORT}, for the edge (HTTP), is taken by`);
  expect(start.output()).toContain(`(pid ${process.pid}:`);
  expect(start.output()).toMatch(/choose another port: EDGE_HTTP_PORT=\d+ npm start/);
  expect(await machine.processes()).toEqual([]);
}, 120_000);

test('an invalid setting is rejected by name', async () => {
  const machine = await newMachine();
  const start = await machine.run({ PORT: 'eighty' });
  expect(start.child.exitCode).toBe(1);
  expect(start.output()).toContain('PORT:');
}, 120_000);

async function newMachine() {
  const data = await testDir();
  const numbers = await freePorts(8);
  const next = () => String(numbers.pop());
  const ports = {
    PORT: next(),
    ADMIN_PORT: next(),
    EDGE_HTTP_PORT: next(),
    EDGE_HTTPS_PORT: next(),
    EDGE_FORWARD_PORT: next(),
    ORIGIN_PORT: next(),
    POSTGRES_PORT: next(),
    NATS_PORT: next(),
  };
  onTestFinished(async () => {
    for (const pid of await processesOf(data)) process.kill(pid, 'SIGKILL');
    await eventually(async () => expect(await processesOf(data)).toEqual([]));
    await rm(data, { recursive: true, force: true });
  });

  const run = async (settings: Record<string, string> = {}) => {
    const started = launch({ EDGELOOM_DATA: data, ...ports, ...settings });
    await started.ended;
    return started;
  };
  const launchHere = () => {
    const started = launch({ EDGELOOM_DATA: data, ...ports });
    onTestFinished(() => started.end('SIGKILL'));
    return started;
  };
  const start = async () => {
    const started = launchHere();
    const isUp = () => {
      if (started.child.exitCode !== null) return;
      expect(started.output()).toContain('Everything is up');
    };
    await eventually(isUp, { within: 180_000 });
    expect(started.output()).toContain('Everything is up');
    return started;
  };
  const summaryFile = path.join(data, 'quickstart.json');
  const untilSummary = () =>
    eventually(async () => Summary.strict().parse(JSON.parse(await readFile(summaryFile, 'utf8'))), {
      within: 180_000,
    });
  const answers = ({ api, console: home, adminConsole, edge, demo, origin }: Summary) =>
    Promise.all([
      statusOf(`${api}/api/v1/health`),
      statusOf(`${home}/user/`),
      statusOf(`${adminConsole}/admin/`),
      statusOf(edge.http, demo.domain),
      statusOf(origin),
    ]);
  const query = async <Row extends pg.QueryResultRow>(text: string) => {
    const password = await readFile(path.join(data, 'postgres/password'), 'utf8');
    const client = new pg.Client(`postgresql://edgeloom:${password}@127.0.0.1:${ports.POSTGRES_PORT}/edgeloom`);
    await client.connect();
    const { rows } = await client.query<Row>(text);
    await client.end();
    return rows;
  };
  /** Roles with connections to the quick start's database, without the test's own. */
  const databaseRoles = () =>
    query(
      `SELECT DISTINCT rolname AS role, rolsuper AS superuser FROM pg_stat_activity a JOIN pg_roles r ON r.oid = usesysid
       WHERE datname = 'edgeloom' AND pid <> pg_backend_pid()`,
    );
  /** The requests of the demo site that charts show. */
  const countedRequests = async () => {
    const [row] = await query<{ requests: number }>(
      'SELECT coalesce(sum(t.requests), 0)::int AS requests FROM traffic t JOIN sites s ON s.id = t.site_id WHERE t.step = 300',
    );
    return row?.requests;
  };
  const visitors = async () => {
    const [row] = await query<Record<'countries' | 'refused' | 'sessionCountries', number>>(
      `SELECT (SELECT count(DISTINCT country) FROM access_log WHERE country <> '')::int AS countries,
         (SELECT count(*) FROM access_log WHERE cause = 'antiHeader')::int AS refused,
         (SELECT count(DISTINCT country) FROM l4_log WHERE country <> '' AND outcome = 'allowed')::int AS "sessionCountries"`,
    );
    return row ?? { countries: 0, refused: 0, sessionCountries: 0 };
  };
  const processes = () => processesOf(data);
  return {
    data,
    ports,
    summaryFile,
    run,
    launch: launchHere,
    start,
    untilSummary,
    answers,
    databaseRoles,
    countedRequests,
    visitors,
    processes,
  };
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

/** Removes the developer's own settings. */
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
