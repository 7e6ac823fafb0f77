// Migrations: node prisma/migrate.ts create <name> | deploy | status | check, with DATABASE_URL.
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { locks } from '../apps/api/src/core/locks.ts';
import { openEngine, readMigrations, readSchema } from './schema-engine.ts';

interface Folders {
  schema: string;
  migrations: string;
}
const ours: Folders = {
  schema: path.join(import.meta.dirname, 'schema'),
  migrations: path.join(import.meta.dirname, 'migrations'),
};
const filters = { externalTables: [], externalEnums: [] };

interface Session {
  engine: SchemaEngine;
  migrationsList: MigrationList;
  schema: SchemasContainer;
}

/** Writes a migration from the present migrations to the schema. Returns its folder, or null if nothing changed. */
export async function create(databaseUrl: string, name: string, folders = ours): Promise<string | null> {
  await deploy(databaseUrl, folders);
  return withEngine(databaseUrl, folders, async ({ engine, migrationsList, schema }) => {
    // evaluateDataLoss finds a shadow database only after this call, in an engine that has applied nothing.
    const { action } = await engine.devDiagnostic({ migrationsList, filters });
    if (action.tag === 'reset') throw new Error(`the database does not follow from the migrations: ${action.reason}`);
    const loss = await engine.evaluateDataLoss({ migrationsList, schema, filters });
    for (const step of loss.warnings) console.warn(`careful: ${step.message}`);
    if (loss.unexecutableSteps.length > 0) {
      throw new Error(loss.unexecutableSteps.map((step) => step.message).join('\n'));
    }

    const made = await engine.createMigration({ draft: false, migrationName: name, migrationsList, schema, filters });
    if (!made.migrationScript) return null;
    const folder = path.join(folders.migrations, made.generatedMigrationName);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'migration.sql'), made.migrationScript);
    await writeFile(path.join(folders.migrations, 'migration_lock.toml'), `provider = "${made.connectorType}"\n`);
    return folder;
  });
}

/** Applies missing migrations in order. Concurrent processes wait for a lock and then find nothing to apply. */
export async function deploy(databaseUrl: string, folders = ours): Promise<string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl });
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [locks.migrations]);
    if (await isCurrent(lock, folders)) return [];
    const applied = await withEngine(databaseUrl, folders, ({ engine, migrationsList }) =>
      engine.applyMigrations({ migrationsList, filters }),
    );
    return applied.appliedMigrationNames;
  } finally {
    await lock.end();
  }
}

/** A plain query, since most starts have nothing to apply and loading the engine is slow. */
async function isCurrent(client: pg.Client, folders: Folders): Promise<boolean> {
  const { rows } = await client.query<{ table: string | null }>(`SELECT to_regclass('_prisma_migrations') AS table`);
  if (rows[0]?.table == null) return false;
  const applied = await client.query<{ name: string; checksum: string }>(
    'SELECT migration_name AS name, checksum FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  const checksums = new Map(applied.rows.map((row) => [row.name, row.checksum]));
  const { migrationDirectories } = await readMigrations(folders.migrations);
  return migrationDirectories.every(({ path: name, migrationFile: { content } }) => {
    if (content.tag === 'error') return false;
    return checksums.get(name) === createHash('sha256').update(content.value).digest('hex');
  });
}

/** Differences between the database and the migrations, as text. Empty if there are none. */
export const status = (databaseUrl: string): Promise<string[]> =>
  withEngine(databaseUrl, ours, async ({ engine, migrationsList }) => {
    const found = await engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters });
    const lines = [
      ...found.failedMigrationNames.map((name) => `failed: ${name}`),
      ...found.editedMigrationNames.map((name) => `edited after it was applied: ${name}`),
    ];
    const { history } = found;
    if (history === null) return lines;
    if (history.diagnostic !== 'migrationsDirectoryIsBehind') {
      lines.push(...history.unappliedMigrationNames.map((name) => `not applied yet: ${name}`));
    }
    if (history.diagnostic === 'migrationsDirectoryIsBehind') {
      lines.push(...history.unpersistedMigrationNames.map((name) => `applied, and unknown here: ${name}`));
    }
    return lines;
  });

/** The SQL that the migrations lack to make the schema; null when they make it exactly. */
export const drift = (databaseUrl: string): Promise<string | null> =>
  withEngine(databaseUrl, ours, async ({ engine, migrationsList, schema }) => {
    const from = { tag: 'migrations' as const, ...migrationsList };
    const to = { tag: 'schemaDatamodel' as const, ...schema };
    const { exitCode, stdout } = await engine.diff({ from, to, script: true, exitCode: true, filters });
    return exitCode === 0 ? null : (stdout ?? '');
  });

async function withEngine<T>(
  databaseUrl: string,
  folders: Folders,
  task: (session: Session) => Promise<T>,
): Promise<T> {
  const [schema, migrationsList] = await Promise.all([readSchema(folders.schema), readMigrations(folders.migrations)]);
  const { engine, close } = await openEngine(databaseUrl, schema);
  try {
    return await task({ engine, migrationsList, schema });
  } finally {
    await close();
  }
}

const usage = 'usage: node prisma/migrate.ts create <name> | deploy | status | check   (with DATABASE_URL)';

async function main(): Promise<number> {
  const [command, name] = parseArgs({ allowPositionals: true }).positionals;
  const databaseUrl = process.env['DATABASE_URL'];
  if (databaseUrl === undefined) return say(usage, 2);

  if (command === 'create' && name !== undefined) {
    const folder = await create(databaseUrl, name);
    return say(folder === null ? 'The schema has not changed.' : `Written: ${folder}. Read it before you commit it.`);
  }
  if (command === 'deploy') {
    const applied = await deploy(databaseUrl);
    return say(applied.length === 0 ? 'Nothing to apply.' : `Applied: ${applied.join(', ')}`);
  }
  if (command === 'status') {
    const lines = await status(databaseUrl);
    return say(lines.length === 0 ? 'The database is up to date.' : lines.join('\n'), lines.length === 0 ? 0 : 1);
  }
  if (command === 'check') {
    const sql = await drift(databaseUrl);
    return say(sql === null ? 'The migrations make the schema.' : `The migrations lack:\n${sql}`, sql === null ? 0 : 1);
  }
  return say(usage, 2);
}

function say(text: string, exitCode = 0): number {
  console.log(text);
  return exitCode;
}

if (import.meta.main) process.exitCode = await main();
