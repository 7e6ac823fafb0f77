// A PostgreSQL that a test may kill: durable, migrated, and nobody else's.
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { preparePostgres, removePostgres } from '../../deploy/services/postgres.ts';
import { launch } from '../../deploy/services/program.ts';
import type { Running } from '../../deploy/services/program.ts';
import { deploy } from '../../prisma/migrate.ts';
import { eventually } from './eventually.ts';
import { freePort } from './ports.ts';

export class OwnPostgres {
  readonly #dir: string;
  readonly #port: number;
  #running: Running | null = null;
  databaseUrl = '';

  constructor(dir: string, port: number) {
    this.#dir = dir;
    this.#port = port;
  }

  /** Also after a kill: the server then recovers what was committed. */
  async start(): Promise<void> {
    const postgres = await preparePostgres({
      dir: path.join(this.#dir, 'postgres'),
      host: '127.0.0.1',
      port: this.#port,
    });
    // Sessions of a killed server hold its memory until they notice, and a new one refuses to start beside them.
    await eventually(
      async () => {
        const running = await launch(postgres.program, { runDir: this.#dir, logDir: this.#dir });
        const ended = running.exited.then(() => Promise.reject(new Error('PostgreSQL does not start')));
        await Promise.race([postgres.ready(), ended]);
        ended.catch(() => undefined);
        this.#running = running;
      },
      { within: 30_000 },
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
    await removePostgres(this.#dir);
  }
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-postgres-'));
  // As root the server runs as nobody, which has to get in.
  await chmod(dir, 0o755);
  const postgres = new OwnPostgres(dir, await freePort());
  await postgres.start();
  return postgres;
}
