import pg from 'pg';
import { expect, test } from 'vitest';
import { deploy, drift, status } from '../../prisma/migrate.ts';
import { services, testDatabase } from '../support/services.ts';

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

test('the migrations make exactly the schema', async () => {
  expect(await drift(await testDatabase())).toBeNull();
});

test('processes that start at once on an empty database apply each migration once', async () => {
  const database = await emptyDatabase();
  const before = await status(database);
  expect(before.length).toBeGreaterThan(0);

  const applied = await Promise.all([deploy(database), deploy(database), deploy(database)]);
  expect(applied.flat().length).toBe(before.length);
  expect(await status(database)).toEqual([]);
  expect(await deploy(database)).toEqual([]);
});

test('a migration that was edited after it was applied is told', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(`UPDATE _prisma_migrations SET checksum = repeat('0', 64)`);
  await client.end();
  expect((await status(database))[0]).toContain('edited after it was applied');
});
