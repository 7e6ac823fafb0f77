// The one question about domains that goes over the borders of tenants: is a name in use, by whomever. The answer says
// no more than the unique index would say by refusing. What sites are pointed to is the installation's own (CNAME_SUFFIX), or the operator's: all
// of it leads to the nodes, so whoever had such a name enabled would get a certificate for it.
import type { Installation } from './installation.ts';

/** Those of the names that are enabled on some site, apart from the given domains themselves, and those below what sites are pointed to. */
export async function enabledAnywhere(
  { pool, env: { CNAME_SUFFIX } }: Pick<Installation, 'pool' | 'env'>,
  clientId: string,
  names: readonly string[],
  apartFrom: readonly string[] = [],
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await pool.query<{ name: string }>(
    'SELECT enabled_name AS name FROM domains WHERE enabled_name = ANY($1) AND NOT (id = ANY($2::uuid[]))',
    [names, apartFrom],
  );
  // Of this operator alone: what another one claims for itself stands in nobody's way.
  const own = await pool.query<{ name: string }>('SELECT name FROM cnames WHERE client_id = $1', [clientId]);
  const suffixes = [...own.rows.map(({ name }) => name), ...(CNAME_SUFFIX === undefined ? [] : [CNAME_SUFFIX])];
  const ours = names.filter((name) => suffixes.some((suffix) => `.${name}`.endsWith(`.${suffix}`)));
  return new Set([...rows.map(({ name }) => name), ...ours]);
}
