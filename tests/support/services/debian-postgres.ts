// Debian's PostgreSQL with pg_dump and pg_restore, which the npm binaries lack.
import { execFile } from 'node:child_process';
import { chown, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { launch } from '../../../deploy/services/program.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePort } from './ports.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const nobody = { uid: 65534, gid: 65534 };

/** Starts a server in `dir`. Returns its superuser URL and the folder of its client programs. */
export async function startDebianPostgres(dir: string) {
  const [version] = (await readdir(versions)).toSorted().reverse();
  if (version === undefined) throw new Error(`${versions} has no PostgreSQL: apt-get install postgresql`);
  const bin = path.join(versions, version, 'bin');
  const data = path.join(dir, 'data');
  await mkdir(data, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(data, nobody.uid, nobody.gid);
  const user = isRoot ? nobody : undefined;
  await run(path.join(bin, 'initdb'), ['-D', data, '-U', 'edgeloom', '--auth=trust', '--encoding=UTF8', '-N'], {
    ...user,
    cwd: data,
  });
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off' };
  const program = {
    name: 'postgres',
    command: path.join(bin, 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: data,
    user,
    stopSignal: 'SIGINT' as const,
    stopWithinMs: 20_000,
  };
  const running = await launch(program, { runDir: path.join(dir, 'run'), logDir: dir });
  const url = (database: string) => `postgresql://edgeloom@127.0.0.1:${port}/${database}`;
  /** Runs one statement in the maintenance database. */
  const query = async (text: string) => {
    const client = new pg.Client(url('postgres'));
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  await eventually(() => query('SELECT 1'));
  return { bin, url, query, stop: () => running.stop() };
}
