// Checks whether a domain's name points to its site: on demand, and hourly by a job.
import { CnameStatus, type CnameCheck } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { Installation } from '../../core/installation.ts';
import { UNKNOWN_POINTING, type Pointing } from '../../core/resolver.ts';
import type { Env } from '../../core/env.ts';
import { makeOrdersDue } from '../certificates/make-orders-due.ts';

/** The CNAME suffixes of the operator's sites; the default is first. */
export async function suffixesOf({ db, installation: { env } }: Ctx): Promise<string[]> {
  const orderBy = [{ isDefault: 'desc' as const }, { createdAt: 'asc' as const }];
  const rows = await db.cname.findMany({ orderBy, select: { name: true } });
  return suffixesIn(
    rows.map(({ name }) => name),
    env,
  );
}
/** The installation's CNAME_SUFFIX is last: names that already point there stay valid. */
export const suffixesIn = (own: readonly string[], { CNAME_SUFFIX }: Pick<Env, 'CNAME_SUFFIX'>) =>
  CNAME_SUFFIX === undefined ? [...own] : [...own, CNAME_SUFFIX];

/** The name that a site's domains should point to. */
export const cnameOf = (label: string, [first]: readonly string[]) =>
  first === undefined ? null : `${label}.${first}`;
export const targetsOf = (label: string, suffixes: readonly string[]) => suffixes.map((suffix) => `${label}.${suffix}`);

export async function check(ctx: Ctx, siteId: string, ids: string[]) {
  const { db, installation } = ctx;
  const site = await db.site.findUnique({ where: { id: siteId }, select: { cnameLabel: true } });
  const where = { siteId, id: { in: ids } };
  const rows = await db.domain.findMany({ where, select: { id: true, name: true, cnameStatus: true } });
  if (!site || rows.length !== new Set(ids).size) fail('NOT_FOUND');
  const targets = targetsOf(site.cnameLabel, await suffixesOf(ctx));
  if (targets.length === 0) fail('INVALID_DNS_SETTING');
  const outcomes = await installation.resolver.check(rows.map(({ name }) => ({ name, targets })));
  const found = rows.map((row, i): CnameCheck => {
    const { state, found } = outcomes[i] ?? UNKNOWN_POINTING;
    return { ...row, cnameStatus: state === 'unknown' ? CnameStatus.parse(row.cnameStatus) : state, found };
  });
  if (outcomes.every(({ state }) => state === 'unknown')) fail('DNS_FAILED');
  await keepFound(installation, rows, outcomes);
  return { data: found };
}

/** A new domain's record may not exist yet: in its first hour it is checked every five minutes and stays "pending". */
const WAITS = `found.state = 'inactive' AND d.cname_status = 'pendingCheck' AND d.created_at > now() - interval '1 hour'`;

/**
 * Plain SQL: a check is not a change by the owner and must not be recorded as one. The next check is due in about an
 * hour. Certificates of names that point here from now on are ordered.
 */
export async function keepFound(
  { pool }: Pick<Installation, 'pool'>,
  looked: readonly { id: string }[],
  outcomes: readonly Pointing[],
) {
  const known = looked.flatMap(({ id }, i) => {
    const state = outcomes[i]?.state ?? 'unknown';
    return state === 'unknown' ? [] : [{ id, state }];
  });
  if (known.length === 0) return;
  const { rows } = await pool.query<{ siteId: string; name: string; isNew: boolean }>(
    `UPDATE domains d SET cname_status = CASE WHEN ${WAITS} THEN d.cname_status ELSE found.state END,
       cname_due_at = now() + CASE WHEN ${WAITS} THEN interval '5 minutes' ELSE interval '1 hour' * (0.9 + random() * 0.2) END
     FROM unnest($1::uuid[], $2::text[]) found (id, state) JOIN domains before USING (id)
     WHERE d.id = found.id
     RETURNING d.site_id AS "siteId", d.name, d.cname_status = 'active' AND before.cname_status <> 'active' AS "isNew"`,
    [known.map(({ id }) => id), known.map(({ state }) => state)],
  );
  await makeOrdersDue(
    { pool },
    rows.filter(({ isNew }) => isNew),
  );
}
