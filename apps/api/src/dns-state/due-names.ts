// Names that are out of sync with the provider, and the outcome of their updates. Generations keep a name due that
// changed during its update.
import type { Pool } from 'pg';
import * as z from 'zod';
import { IS_SAME, type Setting } from './accounts.ts';
import { WantedSets, type WantedSet } from './sets.ts';

const BATCH = 1000;
const Row = z.object({
  name: z.string(),
  wanted: WantedSets,
  ours: z.array(z.string()),
  generation: z.int(),
  tries: z.int(),
});
export interface DueName {
  name: string;
  wanted: WantedSet[];
  /** Keys of sets (records.ts). `*`: any. */
  ours: string[];
  generation: number;
  tries: number;
}

// Locks rows in name order, like plan.ts, so that the two cannot deadlock.
const COLUMNS = 'name, wanted, ours, generation, tries';
/** Groups first: their names carry node health, and others refer to them. */
export async function takeDue(pool: Pool, setting: Pick<Setting, 'id' | 'credentialsSealed'>): Promise<DueName[]> {
  const { rows } = await pool.query(
    `SELECT ${COLUMNS} FROM dns_names WHERE setting_id = $1 AND due_at <= now() AND ${IS_SAME} ORDER BY name LIKE 'g-%' DESC, due_at, name LIMIT ${BATCH}`,
    [setting.id, setting.credentialsSealed],
  );
  return z.array(Row).parse(rows);
}
/** Names that are in sync, as far as known. */
export async function settledNames(pool: Pool, settingId: string): Promise<DueName[]> {
  const { rows } = await pool.query(`SELECT ${COLUMNS} FROM dns_names WHERE setting_id = $1 AND due_at IS NULL`, [
    settingId,
  ]);
  return z.array(Row).parse(rows);
}

/** Recorded before the update, so that a crash leaves no unmanaged records. */
export const saveManagedKeys = (pool: Pool, settingId: string, names: readonly { name: string; ours: string[] }[]) =>
  pool.query(
    `UPDATE dns_names n SET ours = g.ours::jsonb FROM (SELECT * FROM unnest($2::text[], $3::text[]) g (name, ours) ORDER BY name) g
     WHERE n.setting_id = $1 AND n.name = g.name`,
    [settingId, names.map(({ name }) => name), names.map(({ ours }) => JSON.stringify(ours))],
  );

/** In sync, or removed. */
export async function settle(
  pool: Pool,
  settingId: string,
  names: readonly { name: string; generation: number; ours: string[] }[],
) {
  const given = [
    settingId,
    names.map(({ name }) => name),
    names.map(({ generation }) => generation),
    names.map(({ ours }) => JSON.stringify(ours)),
  ];
  await pool.query(
    `WITH done AS (SELECT * FROM unnest($2::text[], $3::int[], $4::text[]) g (name, generation, ours) ORDER BY name),
       gone AS (DELETE FROM dns_names n USING done d
         WHERE n.setting_id = $1 AND n.name = d.name AND n.generation = d.generation AND n.wanted = '[]')
     UPDATE dns_names n SET ours = d.ours::jsonb, due_at = NULL, tries = 0, fault = NULL FROM done d
     WHERE n.setting_id = $1 AND n.name = d.name AND n.generation = d.generation AND n.wanted <> '[]'`,
    given,
  );
}

/** Backs off from 4 seconds, doubling up to about an hour. */
export const postpone = (
  pool: Pool,
  settingId: string,
  { name, generation }: Pick<DueName, 'name' | 'generation'>,
  fault: string,
) =>
  pool.query(
    `UPDATE dns_names SET tries = tries + 1, fault = $4,
       due_at = now() + interval '4 seconds' * power(2, least(tries, 10)) * (0.75 + random() * 0.5)
     WHERE setting_id = $1 AND name = $2 AND generation = $3`,
    [settingId, name, generation, fault],
  );

/** The provider's records differ from what was written. */
export const markDue = (pool: Pool, settingId: string, names: readonly string[]) =>
  pool.query(
    `UPDATE dns_names SET generation = generation + 1, due_at = now(), tries = 0, fault = NULL
     WHERE setting_id = $1 AND name = ANY($2)`,
    [settingId, names],
  );

/**
 * Written after the lock may have been lost, so two processes may have written. Updates the name again, also where the
 * other process finished it.
 */
export const markUncertain = (pool: Pool, settingId: string, names: readonly { name: string; ours: string[] }[]) =>
  pool.query(
    `INSERT INTO dns_names AS n (setting_id, name, wanted, ours)
     SELECT s.id, g.name, '[]', g.ours::jsonb FROM unnest($2::text[], $3::text[]) g (name, ours) JOIN dns_settings s ON s.id = $1 ORDER BY g.name
     ON CONFLICT (setting_id, name) DO UPDATE SET generation = n.generation + 1, due_at = now(),
       ours = coalesce((SELECT jsonb_agg(DISTINCT key) FROM jsonb_array_elements(n.ours || excluded.ours) key), '[]')`,
    [settingId, names.map(({ name }) => name), names.map(({ ours }) => JSON.stringify(ours))],
  );
