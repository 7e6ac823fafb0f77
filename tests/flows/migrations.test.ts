import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { create, deploy, drift, status } from '../../prisma/migrate.ts';
import { longTest } from '../support/builders/long-run.ts';
import { services, testDatabase } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';

async function emptyDatabase(): Promise<string> {
  const name = `empty_${crypto.randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: services().postgresUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(services().postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

test('the migrations produce exactly the schema', async () => {
  expect(await drift(await testDatabase())).toBeNull();
});

test('concurrent starts on an empty database apply each migration once', async () => {
  const database = await emptyDatabase();
  const before = await status(database);
  expect(before.length).toBeGreaterThan(0);

  const applied = await Promise.all([deploy(database), deploy(database), deploy(database)]);
  expect(applied.flat().length).toBe(before.length);
  expect(await status(database)).toEqual([]);
  expect(await deploy(database)).toEqual([]);
});

test('a migration edited after it was applied is reported', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(`UPDATE _prisma_migrations SET checksum = repeat('0', 64)`);
  await client.end();
  expect((await status(database))[0]).toContain('edited after it was applied');
});

// A tool of developers, which starts Prisma several times.
longTest('a new migration contains only the changes of the schema', async () => {
  const database = await testDatabase();
  const folder = await testDir();
  await cp('prisma', folder, { recursive: true });
  const folders = { schema: path.join(folder, 'schema'), migrations: path.join(folder, 'migrations') };
  const zones = path.join(folders.schema, 'zones.prisma');
  const sqlOf = async (made: string | null) => readFile(path.join(made ?? '', 'migration.sql'), 'utf8');
  const put = async (from: string, to: string) => writeFile(zones, (await readFile(zones, 'utf8')).replace(from, to));

  expect(await create(database, 'nothing', folders)).toBeNull();
  await put('model ZonePort {', 'model ZoneNote {\n  id String @id\n  @@map("zone_notes")\n}\n\nmodel ZonePort {');
  expect(await sqlOf(await create(database, 'notes', folders))).toContain('CREATE TABLE "zone_notes"');
  // Regression: failed when the preceding migration was not applied yet.
  await put('  id String @id\n', '  id String @id\n  text String?\n');
  expect(await sqlOf(await create(database, 'texts', folders))).toContain('ADD COLUMN     "text" TEXT');
  expect(await create(database, 'nothing', folders)).toBeNull();
});
