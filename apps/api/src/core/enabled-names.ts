// Checks names across tenants: whether a name is enabled anywhere, and whether it needs verification. Names at or below
// CNAME_SUFFIX or an operator's CNAME resolve to our nodes, so a customer who enabled one would get its certificate.
import { randomBytes } from 'node:crypto';
import { parse } from 'tldts';
import type { Installation } from './installation.ts';

/** The names among these that another domain has enabled, or that are at or below a CNAME suffix. */
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
  // Only this operator's suffixes: another operator must not be able to block names here.
  const own = await pool.query<{ name: string }>('SELECT name FROM cnames WHERE client_id = $1', [clientId]);
  const suffixes = [...own.rows.map(({ name }) => name), ...(CNAME_SUFFIX === undefined ? [] : [CNAME_SUFFIX])];
  const ours = names.filter((name) => suffixes.some((suffix) => `.${name}`.endsWith(`.${suffix}`)));
  return new Set([...rows.map(({ name }) => name), ...ours]);
}

/** The names among these that the site's customer must verify first (migration name_proofs). */
export async function unprovenNames(
  { pool }: Pick<Installation, 'pool'>,
  siteId: string,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await pool.query<{ name: string }>('SELECT unproven_names($1, $2) AS name', [siteId, names]);
  return new Set(rows.map(({ name }) => name));
}

/** The names among these domains that have a claim. */
export async function claimedNames(
  { pool }: Pick<Installation, 'pool'>,
  domainIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM name_claims WHERE domain_id = ANY($1::uuid[])',
    [domainIds],
  );
  return new Set(rows.map(({ name }) => name));
}

/** The constraint that the trigger claim_names reports. */
export const UNPROVEN = 'unproven_name';

/** Verifying a wildcard verifies the name below its star. */
export const baseOf = (name: string) => name.replace(/^\*\./, '');

/**
 * Starts verification of these names for the customer. A pending one stays unchanged. Inserts in name order, so that
 * concurrent calls wait instead of deadlocking.
 */
export async function openProofs(
  { pool }: Pick<Installation, 'pool'>,
  siteId: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  await pool.query(
    `WITH holder AS (SELECT coalesce(owner_id, client_id) AS id FROM sites WHERE id = $1), token AS (
       INSERT INTO proof_tokens (holder_id, token) SELECT id, $3 FROM holder ON CONFLICT DO NOTHING)
     INSERT INTO name_proofs (holder_id, name) SELECT h.id, n.name FROM holder h, unnest($2::text[]) n (name) ORDER BY n.name
       ON CONFLICT (holder_id, name) DO NOTHING`,
    [siteId, [...new Set(names.map(baseOf))], randomBytes(32).toString('base64url')],
  );
}

/**
 * A public suffix such as co.uk or github.io, below which unrelated people register names. Neither it nor its wildcard
 * can be a domain. tldts also reports the base of a wildcard rule, such as kawasaki.jp of *.kawasaki.jp.
 */
export function isPublicSuffix(name: string): boolean {
  const base = baseOf(name);
  // No domain name at all, which is another error.
  if (!base.includes('.')) return false;
  const { publicSuffix } = parse(base, { allowPrivateDomains: true, validateHostname: false });
  return publicSuffix === base;
}
