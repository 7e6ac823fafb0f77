// A durable, migrated PostgreSQL that a test may kill.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { preparePostgres, removePostgres } from '../../../deploy/services/postgres.ts';
import { launch } from '../../../deploy/services/program.ts';
import type { Running } from '../../../deploy/services/program.ts';
import { deploy } from '../../../prisma/migrate.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePort } from './ports.ts';
import { cloneDatabase, sharedByTestRun } from './start-services.ts';
import { testDir } from './test-dir.ts';

export class OwnPostgres {
  readonly #dir: string;
  readonly #port: number;
  #running: Running | null = null;
  databaseUrl = '';

  constructor(dir: string, port: number) {
    this.#dir = dir;
    this.#port = port;
  }

  /** After a kill, the server recovers all commits. */
  async start(): Promise<void> {
    const postgres = await preparePostgres({
      dir: path.join(this.#dir, 'postgres'),
      host: '127.0.0.1',
      port: this.#port,
    });
    // Sessions of a killed server hold its shared memory for a moment, and a new server refuses to start.
    await eventually(
      async () => {
        const running = await launch(postgres.program, { runDir: path.join(this.#dir, 'run'), logDir: this.#dir });
        const ended = running.exited.then(() => Promise.reject(new Error('PostgreSQL does not start')));
        const settled = new AbortController();
        await Promise.race([postgres.ready(settled.signal), ended]).finally(() => settled.abort());
        ended.catch(() => undefined);
        this.#running = running;
      },
      { within: 90_000 },
    );
    await postgres.ensureDatabase('edgeloom');
    this.databaseUrl = postgres.url('edgeloom');
    await deploy(this.databaseUrl);
  }

  async kill(): Promise<void> {
    if (this.#running === null) return;
    process.kill(this.#running.pid, 'SIGKILL');
    await this.#running.exited;
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    await removePostgres(path.join(this.#dir, 'postgres'));
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** The durable PostgreSQL of a bench. A bench of a test run gets a database of the shared one. */
export async function benchPostgres(): Promise<Pick<OwnPostgres, 'databaseUrl' | 'stop'>> {
  const shared = sharedByTestRun();
  return shared ? { databaseUrl: await cloneDatabase(shared), stop: async () => undefined } : ownPostgres();
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const postgres = new OwnPostgres(await testDir(), await freePort());
  try {
    await postgres.start();
    return postgres;
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
