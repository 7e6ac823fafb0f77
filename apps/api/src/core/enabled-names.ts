// The one question about domains that goes over the borders of tenants: is a name in use, by whomever. The answer says
// no more than the unique index would say by refusing.
import type { Installation } from './installation.ts';

/** Those of the names that are enabled on some site, apart from the given domains themselves. */
export async function enabledAnywhere(
  { pool }: Pick<Installation, 'pool'>,
  names: readonly string[],
  apartFrom: readonly string[] = [],
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await pool.query<{ name: string }>(
    'SELECT enabled_name AS name FROM domains WHERE enabled_name = ANY($1) AND NOT (id = ANY($2::uuid[]))',
    [names, apartFrom],
  );
  return new Set(rows.map(({ name }) => name));
}
