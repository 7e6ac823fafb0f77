// Whether a domain's name points to its site: asked for now, or hourly by a job.
import { CnameStatus, type CnameCheck } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { Pointing } from '../../core/resolver.ts';
import type { Env } from '../../env.ts';

/** The name that a site's domains point to. Whoever runs the installation makes `*.<suffix>` lead to the nodes. */
export const cnameOf = (label: string, { CNAME_SUFFIX }: Pick<Env, 'CNAME_SUFFIX'>) =>
  CNAME_SUFFIX === undefined ? null : `${label}.${CNAME_SUFFIX}`;

export async function check({ db, installation }: Ctx, siteId: string, ids: string[]) {
  const site = await db.site.findUnique({ where: { id: siteId }, select: { cnameLabel: true } });
  const where = { siteId, id: { in: ids } };
  const rows = await db.domain.findMany({ where, select: { id: true, name: true, cnameStatus: true } });
  if (!site || rows.length !== new Set(ids).size) fail('NOT_FOUND');
  const target = cnameOf(site.cnameLabel, installation.env) ?? fail('INVALID_DNS_SETTING');
  const outcomes = await installation.resolver.check(rows.map(({ name }) => ({ name, target })));
  const found = rows.map((row, i): CnameCheck => {
    const { state, found } = outcomes[i] ?? nobody;
    return { ...row, cnameStatus: state === 'unknown' ? CnameStatus.parse(row.cnameStatus) : state, found };
  });
  if (outcomes.every(({ state }) => state === 'unknown')) fail('DNS_FAILED');
  for (const cnameStatus of ['active', 'inactive'] as const) {
    const news = found.filter((row, i) => row.cnameStatus === cnameStatus && rows[i]?.cnameStatus !== cnameStatus);
    if (news.length > 0)
      await db.domain.updateMany({ where: { siteId, id: { in: news.map(({ id }) => id) } }, data: { cnameStatus } });
  }
  return { data: found };
}

const nobody: Pointing = { state: 'unknown', found: null };
