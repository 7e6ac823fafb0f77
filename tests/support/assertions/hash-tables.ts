import type { Installation } from '@edgeloom/api/core/installation.ts';

/** A hash of each table's rows. Tables that match a pattern are left out. */
export async function hashTables(
  { pool }: Pick<Installation, 'pool'>,
  excludedTables: string,
): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name !~ $1`,
    [excludedTables],
  );
  const row = `(to_jsonb(t) - 'last_used_at')::text`;
  const { rows } = await pool.query<{ name: string; is: string }>(
    tables
      .map(
        ({ name }) =>
          `SELECT '${name}' AS name, count(*) || md5(coalesce(string_agg(${row}, ',' ORDER BY ${row}), '')) AS is FROM ${name} t`,
      )
      .join(' UNION ALL '),
  );
  return Object.fromEntries(rows.map(({ name, is }) => [name, is]));
}
