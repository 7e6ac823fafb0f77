// Prisma's schema engine as WebAssembly, driven through adapter-pg: migrations without a downloaded engine binary.
// It works around four bugs of adapter-pg 7.10, each described at its workaround. Remove it when the prisma command
// line migrates through driver adapters.
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlQueryable,
} from '@prisma/driver-adapter-utils';
import type { MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { PoolConfig } from 'pg';
import * as z from 'zod';

/** Opens the engine for one database. It is single-use and not re-entrant: one command, then `close`. */
export async function openEngine(
  url: string,
  schema: SchemasContainer,
): Promise<{ engine: SchemaEngine; close: () => Promise<void> }> {
  const adapters = new MigratingPg(url);
  await loadWasm();
  const engine = await glue.SchemaEngine.new(
    { datamodels: schema.files.map((file) => [file.path, file.content]) },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapters),
  );
  return {
    engine,
    close: async () => {
      engine.free();
      await adapters.close();
    },
  };
}

/** Every .prisma file of a folder: the engine takes them as one schema. */
export async function readSchema(folder: string): Promise<SchemasContainer> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.prisma')).sort();
  const files = names.map(async (name) => ({
    path: path.join(folder, name),
    content: await readFile(path.join(folder, name), 'utf8'),
  }));
  return { files: await Promise.all(files) };
}

export async function readMigrations(folder: string): Promise<MigrationList> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(whenAbsent([]));
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  const migrations = names.map(async (name) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: await readScript(path.join(folder, name, 'migration.sql')) },
  }));
  return {
    baseDir: folder,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(path.join(folder, 'migration_lock.toml'), 'utf8').catch(whenAbsent(null)),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(migrations),
  };
}

const readScript = (file: string) =>
  readFile(file, 'utf8').then(
    (value) => ({ tag: 'ok' as const, value }),
    (error: unknown) => ({ tag: 'error' as const, value: String(error) }),
  );

const whenAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value;
    throw error;
  };

const WasmExports = z.object({ __wbindgen_start: z.custom<() => void>((value) => typeof value === 'function') });

let loaded: Promise<void> | undefined;
const loadWasm = () => (loaded ??= instantiate());

async function instantiate(): Promise<void> {
  const folder = path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'));
  // The engine reports a panic's text through this global and dies of a TypeError when it is missing.
  Reflect.set(globalThis, 'PRISMA_WASM_PANIC_REGISTRY', {
    set_message: (message: string) => console.error(`schema engine: ${message}`),
  });
  const module = await WebAssembly.compile(await readFile(path.join(folder, 'schema_engine_bg.wasm')));
  const { exports } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': { ...glue } });
  const setWasm: unknown = Reflect.get(glue, '__wbg_set_wasm');
  if (typeof setWasm !== 'function') throw new Error('the schema engine package has changed: __wbg_set_wasm is gone');
  Reflect.apply(setWasm, glue, [exports]);
  WasmExports.parse(exports).__wbindgen_start();
}

class MigratingPg implements SqlMigrationAwareDriverAdapterFactory {
  readonly provider = 'postgres';
  readonly adapterName = '@prisma/adapter-pg';
  readonly #config: PoolConfig;
  readonly #open = new Set<SqlDriverAdapter>();

  constructor(url: string) {
    // First fault: given a connection string, the shadow database would be the main one (pg prefers the string's
    // database over the `database` option), so that it would be emptied. Hence parts only.
    const parts = new URL(url);
    this.#config = {
      host: parts.searchParams.get('host') ?? decodeURIComponent(parts.hostname),
      port: Number(parts.port || 5432),
      user: decodeURIComponent(parts.username),
      password: decodeURIComponent(parts.password),
      database: decodeURIComponent(parts.pathname.slice(1)),
      ssl: parts.searchParams.get('sslmode') === 'require' ? { rejectUnauthorized: false } : undefined,
      max: 1,
    };
  }

  connect(): Promise<SqlDriverAdapter> {
    return this.#connect(this.#config.database);
  }

  async connectToShadowDb(): Promise<SqlDriverAdapter> {
    const database = `prisma_migrate_shadow_${crypto.randomUUID()}`;
    const main = await this.#connect(this.#config.database);
    await main.executeScript(`CREATE DATABASE "${database}"`);
    const shadow = await this.#connect(database);
    const dispose = shadow.dispose.bind(shadow);
    // Second fault: the adapter leaves its shadow databases behind.
    shadow.dispose = async () => {
      await dispose();
      await main.executeScript(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
      await main.dispose();
    };
    return shadow;
  }

  async close(): Promise<void> {
    for (const adapter of [...this.#open].reverse()) await adapter.dispose();
  }

  async #connect(database: string | undefined): Promise<SqlDriverAdapter> {
    const adapter = await new PrismaPg({ ...this.#config, database }).connect();
    // Third fault: the adapter splits a script at each ';', which breaks function bodies and is not atomic. Sent whole,
    // PostgreSQL runs it as one transaction.
    adapter.executeScript = async (script) => {
      await adapter.underlyingDriver().query(script);
    };
    const begin = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (level) => withCharColumns(await begin(level));
    const dispose = adapter.dispose.bind(adapter);
    adapter.dispose = async () => {
      if (this.#open.delete(adapter)) await dispose();
    };
    this.#open.add(adapter);
    return withCharColumns(adapter);
  }
}

const CHAR_OID = 18;
const TEXT_OID = 25;
const Fields = z.object({ fields: z.array(z.object({ dataTypeID: z.number() })) });

// Fourth bug: the adapter rejects PostgreSQL's internal type "char", which the engine selects from the catalogue.
// Such columns are read as text and then declared characters. One list suffices, since the engine's queries are
// sequential.
function withCharColumns<Q extends SqlQueryable>(queryable: Q): Q {
  let charColumns: number[] = [];
  const performIO: unknown = Reflect.get(queryable, 'performIO');
  if (typeof performIO !== 'function') throw new Error('@prisma/adapter-pg has changed: performIO is gone');
  const ask = async (query: unknown) => {
    const result: unknown = await Reflect.apply(performIO, queryable, [query]);
    const { fields } = Fields.parse(result);
    charColumns = fields.flatMap((field, index) => (field.dataTypeID === CHAR_OID ? [index] : []));
    if (charColumns.length > 0) readAsText(result);
    return result;
  };
  Reflect.set(queryable, 'performIO', ask);
  const queryRaw = queryable.queryRaw.bind(queryable);
  queryable.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of charColumns) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  return queryable;
}

function readAsText(result: unknown) {
  if (typeof result !== 'object' || result === null || !('fields' in result) || !Array.isArray(result.fields)) return;
  for (const field of result.fields) if (field.dataTypeID === CHAR_OID) field.dataTypeID = TEXT_OID;
}
