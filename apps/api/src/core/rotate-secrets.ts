// Rotates the master key and rewraps every sealed value. If killed, both keys stay in the file and values under either
// can be opened (secrets.ts). The next run continues.
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import pg from 'pg';
import { locks } from './locks.ts';
import { masterKeyFile, readMasterKeys, writeMasterKeys } from './secrets-dir.ts';
import { envelope } from './secrets.ts';

const BATCH = 500;
const AT_A_TIME = 20_000;
/** Longer than any call or transaction, so that nothing sealed by an old key is in progress. */
const QUIET_MS = 10 * 60_000;

export interface Rotation {
  keyID: string;
  rewrapped: number;
  /** Values that no key opens. They and all keys are kept. */
  lost: { column: string; count: number }[];
  /** Keys in the file besides the current one. */
  olderKeys: number;
}

/** Creates a key, unless a rotation is unfinished, and rewraps everything. */
export const rotateMasterKey = (databaseUrl: string, dir: string): Promise<Rotation> =>
  withRotationLock(databaseUrl, async (db) => {
    const columns = await sealedColumns(db);
    if (!(await isUnfinished(db, dir, columns)))
      await writeMasterKeys(dir, [{ key: randomBytes(32) }, ...readMasterKeys(dir)]);
    return rewrapAll(db, dir, columns);
  });

/** Removes older keys some time after a rotation, when they seal nothing any more. */
export const retireMasterKeys = (databaseUrl: string, dir: string): Promise<Rotation> =>
  withRotationLock(databaseUrl, async (db) => {
    const { mtimeMs } = await stat(masterKeyFile(dir));
    const wait = Math.ceil((mtimeMs + QUIET_MS - Date.now()) / 60_000);
    if (wait > 0) throw new Error(`the master key is new: values may still be on their way; again in ${wait} minutes`);
    const rotation = await rewrapAll(db, dir, await sealedColumns(db));
    if (rotation.lost.length > 0) return rotation;
    await writeMasterKeys(dir, readMasterKeys(dir).slice(0, 1));
    return { ...rotation, olderKeys: 0 };
  });

interface Column {
  table: string;
  name: string;
}

/** Columns named `…_sealed`, and one older name. A test finds sealed values elsewhere. */
export async function sealedColumns(db: Pick<pg.ClientBase, 'query'>): Promise<Column[]> {
  const { rows } = await db.query<Column>(
    `SELECT table_name AS "table", column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'text'
       AND (column_name ~ '(^|_)sealed$' OR (table_name, column_name) = ('sessions', 'successor'))
     ORDER BY 1, 2`,
  );
  return rows;
}

async function isUnfinished(db: pg.Client, dir: string, columns: readonly Column[]) {
  const [current, ...older] = readMasterKeys(dir);
  if (!current || older.length === 0) return false;
  for (const column of columns) if ((await findStale(db, column, current.id, [], 1)).length > 0) return true;
  return false;
}

async function rewrapAll(db: pg.Client, dir: string, columns: readonly Column[]): Promise<Rotation> {
  const keys = readMasterKeys(dir);
  const [current, ...older] = keys;
  if (!current) throw new Error('there is no master key');
  const { rewrap } = envelope(() => keys);
  let rewrapped = 0;
  const lost: Rotation['lost'] = [];
  for (const column of columns) {
    const broken: string[] = [];
    // Repeats until nothing is left, since values are written during the rotation.
    for (;;) {
      const found = await findStale(db, column, current.id, broken, AT_A_TIME);
      if (found.length === 0) break;
      const pairs = found.flatMap(({ place, sealed }) => {
        try {
          return [{ place, sealed, fresh: rewrap(sealed) }];
        } catch {
          broken.push(sealed);
          return [];
        }
      });
      for (let i = 0; i < pairs.length; i += BATCH)
        rewrapped += await replaceValues(db, column, pairs.slice(i, i + BATCH));
    }
    if (broken.length > 0) lost.push({ column: `${column.table}.${column.name}`, count: broken.length });
  }
  return { keyID: current.id, rewrapped, lost, olderKeys: older.length };
}

interface StaleValue {
  place: string;
  sealed: string;
}

async function findStale(db: pg.Client, column: Column, keyID: string, broken: readonly string[], limit: number) {
  const [table, name] = [pg.escapeIdentifier(column.table), pg.escapeIdentifier(column.name)];
  const { rows } = await db.query<StaleValue>(
    `SELECT ctid::text AS place, ${name} AS sealed FROM ${table}
     WHERE ${name} IS NOT NULL AND NOT starts_with(${name}, $1) AND NOT ${name} = ANY($2) LIMIT $3`,
    [`s1.${keyID}.`, broken, limit],
  );
  return rows;
}

/** Rows that changed in the meantime are skipped: they hold another value. */
async function replaceValues(db: pg.Client, column: Column, pairs: readonly (StaleValue & { fresh: string })[]) {
  const [table, name] = [pg.escapeIdentifier(column.table), pg.escapeIdentifier(column.name)];
  const { rowCount } = await db.query(
    `UPDATE ${table} t SET ${name} = v.fresh FROM unnest($1::tid[], $2::text[], $3::text[]) v(place, sealed, fresh)
     WHERE t.ctid = v.place AND t.${name} = v.sealed`,
    [pairs.map(({ place }) => place), pairs.map(({ sealed }) => sealed), pairs.map(({ fresh }) => fresh)],
  );
  return rowCount ?? 0;
}

/** One rotation at a time. The lock ends with the connection. */
async function withRotationLock<T>(databaseUrl: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const db = new pg.Client({ connectionString: databaseUrl, application_name: 'edgeloom-rotate' });
  await db.connect();
  try {
    await db.query('SELECT pg_advisory_lock($1)', [locks.masterKey]);
    return await work(db);
  } finally {
    await db.end();
  }
}
