// PostgreSQL and nats-server for one run of tests or one bench, in a temporary folder, with durability off.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { serverConfig } from '@edgeloom/api/core/trust.ts';
import pg from 'pg';
import * as z from 'zod';
import { prepareNats } from '../../../deploy/services/nats.ts';
import { preparePostgres } from '../../../deploy/services/postgres.ts';
import { launch } from '../../../deploy/services/program.ts';
import type { Program, Running } from '../../../deploy/services/program.ts';
import { deploy } from '../../../prisma/migrate.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';

export interface Services {
  /** The maintenance database, as the superuser. */
  postgresUrl: string;
  natsUrl: string;
  /** SECRETS_DIR of an API. The nats-server was started with the trust in its nats.json. */
  secretsDir: string;
}

const template = 'edgeloom_template';
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  // Each file of tests has a database, and autovacuum visits all of them within this time.
  autovacuum_naptime: '10min',
};

/** Services of the test run that started this bench, as JSON. */
export const SERVICES_VARIABLE = 'EDGELOOM_TEST_SERVICES';
const Shared = z.object({ postgresUrl: z.string(), natsUrl: z.string(), secretsDir: z.string() });

/** Null outside of a test run. */
export function sharedByTestRun(): Services | null {
  const text = process.env[SERVICES_VARIABLE];
  return text === undefined ? null : Shared.parse(JSON.parse(text));
}

/** Uses the services of the test run that started this bench, if any. */
export async function startServices(): Promise<Services & { stop: () => Promise<void> }> {
  const shared = sharedByTestRun();
  if (shared) return { ...shared, stop: async () => undefined };
  const dir = await testDir();
  const running: Running[] = [];
  const stop = async () => {
    await Promise.all(running.map((child) => child.stop()));
    await rm(dir, { recursive: true, force: true });
  };
  const start = async (program: Program, ready: (signal: AbortSignal) => Promise<void>) => {
    const child = await launch(program, { runDir: path.join(dir, 'run'), logDir: path.join(dir, 'log') });
    running.push(child);
    const failed = child.exited.then(({ code, signal }) => {
      throw new Error(`${program.name} ended with ${code ?? signal} before it was ready; see ${child.logFile}`);
    });
    const settled = new AbortController();
    await Promise.race([ready(settled.signal), failed]).finally(() => settled.abort());
    // Errors after a successful start are not start errors.
    failed.catch(() => undefined);
  };

  try {
    const secretsDir = path.join(dir, 'secrets');
    const [postgresPort = 0, natsPort = 0] = await freePorts(2);
    await initSecrets(secretsDir);
    const place = { host: '127.0.0.1', port: natsPort };
    const [postgres, nats] = await Promise.all([
      preparePostgres({
        dir: path.join(dir, 'postgres'),
        host: '127.0.0.1',
        port: postgresPort,
        settings,
      }),
      prepareNats({
        dir: path.join(dir, 'nats'),
        ...place,
        config: (nats) => serverConfig({ secretsDir, ...nats, introduced: true }),
      }),
    ]);
    await Promise.all([start(postgres.program, postgres.ready), start(nats.program, nats.ready)]);
    await postgres.ensureDatabase(template);
    await deploy(postgres.url(template));
    return { postgresUrl: postgres.url('postgres'), natsUrl: nats.url, secretsDir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Clones the migrated template in about 50 ms. Returns a DATABASE_URL. */
export async function cloneDatabase({ postgresUrl }: Pick<Services, 'postgresUrl'>): Promise<string> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}
