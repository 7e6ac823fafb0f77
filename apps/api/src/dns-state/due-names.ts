// The names of an account that are not yet as wanted, and what became of them. Each has a generation: what was wanted anew
// while it was on its way stays due.
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
  /** Keys of sets (records.ts); `*`: whatever is there. */
  ours: string[];
  generation: number;
  tries: number;
}

// Names are written in their order, as the plan does: two that go through them in different ones would wait for each other.
const COLUMNS = 'name, wanted, ours, generation, tries';
/** Groups first: their names say which nodes are well, and whatever else waits leads to them. */
export async function takeDue(pool: Pool, setting: Pick<Setting, 'id' | 'credentialsSealed'>): Promise<DueName[]> {
  const { rows } = await pool.query(
    `SELECT ${COLUMNS} FROM dns_names WHERE setting_id = $1 AND due_at <= now() AND ${IS_SAME} ORDER BY name LIKE 'g-%' DESC, due_at, name LIMIT ${BATCH}`,
    [setting.id, setting.credentialsSealed],
  );
  return z.array(Row).parse(rows);
}
/** Those that are as wanted, as far as we know. */
export async function settledNames(pool: Pool, settingId: string): Promise<DueName[]> {
  const { rows } = await pool.query(`SELECT ${COLUMNS} FROM dns_names WHERE setting_id = $1 AND due_at IS NULL`, [
    settingId,
  ]);
  return z.array(Row).parse(rows);
}

/** Before anything is made: whoever dies meanwhile leaves behind what may be ours. */
export const keepOurs = (pool: Pool, settingId: string, names: readonly { name: string; ours: string[] }[]) =>
  pool.query(
    `UPDATE dns_names n SET ours = g.ours::jsonb FROM (SELECT * FROM unnest($2::text[], $3::text[]) g (name, ours) ORDER BY name) g
     WHERE n.setting_id = $1 AND n.name = g.name`,
    [settingId, names.map(({ name }) => name), names.map(({ ours }) => JSON.stringify(ours))],
  );

/** Done: as wanted, or gone. */
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

/** 4 seconds, then twice as long each time, up to an hour or so. */
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

/** The provider has them otherwise than it was told. */
export const renew = (pool: Pool, settingId: string, names: readonly string[]) =>
  pool.query(
    `UPDATE dns_names SET generation = generation + 1, due_at = now(), tries = 0, fault = NULL
     WHERE setting_id = $1 AND name = ANY($2)`,
    [settingId, names],
  );

/**
 * Written by somebody whose lock was another's by then, so that nobody knows which of the two wrote last: done again, also
 * where the other had done with the name.
 */
export const doubt = (pool: Pool, settingId: string, names: readonly { name: string; ours: string[] }[]) =>
  pool.query(
    `INSERT INTO dns_names AS n (setting_id, name, wanted, ours)
     SELECT s.id, g.name, '[]', g.ours::jsonb FROM unnest($2::text[], $3::text[]) g (name, ours) JOIN dns_settings s ON s.id = $1 ORDER BY g.name
     ON CONFLICT (setting_id, name) DO UPDATE SET generation = n.generation + 1, due_at = now(),
       ours = coalesce((SELECT jsonb_agg(DISTINCT key) FROM jsonb_array_elements(n.ours || excluded.ours) key), '[]')`,
    [settingId, names.map(({ name }) => name), names.map(({ ours }) => JSON.stringify(ours))],
  );
