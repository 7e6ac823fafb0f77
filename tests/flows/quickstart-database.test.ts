// Data of older quick starts, in which the API's superuser owns everything.
import path from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { preparePostgres, removePostgres } from '../../deploy/services/postgres.ts';
import { launch } from '../../deploy/services/program.ts';
import { deploy, status } from '../../prisma/migrate.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { freePort } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const { onEnd, stopAll } = collectedStops();
afterAll(stopAll);

async function connected(url: string) {
  const client = new pg.Client(url);
  await client.connect();
  onEnd(() => client.end());
  return client;
}

test('an older database is handed over to an unprivileged role, and migrations continue', async () => {
  const dir = await testDir();
  const postgres = await preparePostgres({
    dir: path.join(dir, 'postgres'),
    host: '127.0.0.1',
    port: await freePort(),
  });
  onEnd(() => removePostgres(path.join(dir, 'postgres')));
  const running = await launch(postgres.program, { runDir: path.join(dir, 'run'), logDir: dir });
  onEnd(() => running.stop());
  await postgres.ready();
  await postgres.ensureDatabase('edgeloom');
  const older = postgres.url('edgeloom');
  expect((await deploy(older)).length).toBeGreaterThan(0);
  const superuser = await connected(older);
  await superuser.query(`CREATE SCHEMA other; CREATE SEQUENCE other.loose;
    CREATE FUNCTION other.one() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE VIEW other.looked AS SELECT 1 AS one`);

  const url = await postgres.ensureOwnedDatabase('edgeloom');
  expect(await postgres.ensureOwnedDatabase('edgeloom')).toBe(url);
  const client = await connected(url);
  const { rows } = await client.query(`SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls
    FROM pg_roles WHERE rolname = current_user`);
  expect(rows).toEqual([
    { rolname: 'edgeloom_api', rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolbypassrls: false },
  ]);
  await expect(client.query(`COPY (SELECT 1) TO PROGRAM 'true'`)).rejects.toThrow(/permission denied/);

  // A later migration changes rows of an earlier one.
  expect(await status(url)).toEqual([]);
  const tables = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('public', 'other')`,
  );
  for (const { name } of tables.rows) await client.query(`ALTER TABLE ${name} ADD COLUMN from_later int`);
  const types = await client.query<{ name: string }>(
    `SELECT oid::regtype::text AS name FROM pg_type WHERE typtype = 'e' AND typnamespace = 'public'::regnamespace`,
  );
  for (const { name } of types.rows) await client.query(`ALTER TYPE ${name} ADD VALUE 'from_later'`);
  await client.query(`ALTER SEQUENCE other.loose RESTART; DROP FUNCTION other.one(); DROP SCHEMA other CASCADE;
    CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE TABLE later (id int)`);
}, 180_000);
