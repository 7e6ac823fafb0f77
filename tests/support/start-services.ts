// One PostgreSQL and one nats-server for a whole run of tests or a benchmark, in a folder of their own under the
// system's temporary one. Durability is off: nothing here outlives the run.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { serverConfig } from '@edgeloom/api/core/trust.ts';
import pg from 'pg';
import { prepareNats } from '../../deploy/services/nats.ts';
import { preparePostgres } from '../../deploy/services/postgres.ts';
import { launch } from '../../deploy/services/program.ts';
import type { Program, Running } from '../../deploy/services/program.ts';
import { deploy } from '../../prisma/migrate.ts';
import { endLeftovers } from './leftovers.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';

export interface Services {
  /** The maintenance database, as the superuser. */
  postgresUrl: string;
  natsUrl: string;
  /** What SECRETS_DIR of an api names; its nats.json is the trust that the nats-server was started with. */
  secretsDir: string;
}

const template = 'edgeloom_template';
const durabilityOff = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' };

export async function startServices(): Promise<Services & { stop: () => Promise<void> }> {
  await endLeftovers();
  const dir = await testDir();
  const running: Running[] = [];
  const stop = async () => {
    await Promise.all(running.map((child) => child.stop()));
    await rm(dir, { recursive: true, force: true });
    await endLeftovers();
  };
  const start = async (program: Program, ready: (signal: AbortSignal) => Promise<void>) => {
    const child = await launch(program, { runDir: path.join(dir, 'run'), logDir: path.join(dir, 'log') });
    running.push(child);
    const failed = child.exited.then(({ code, signal }) => {
      throw new Error(`${program.name} ended with ${code ?? signal} before it was ready; see ${child.logFile}`);
    });
    const settled = new AbortController();
    await Promise.race([ready(settled.signal), failed]).finally(() => settled.abort());
    // What it does later is no failure of the start.
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
        settings: durabilityOff,
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

/** A database of its own with every migration applied, cloned in some 50 ms. Answers its DATABASE_URL. */
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
