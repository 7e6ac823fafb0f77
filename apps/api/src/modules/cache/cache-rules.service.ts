import { isDeepStrictEqual } from 'node:util';
import { CacheRule, type CacheRuleInput, type CacheRuleUpdate } from '@edgeloom/contract/cache/cache.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { noteWeight } from '../../core/document-weight.ts';
import { fail, failAt } from '../../core/fail.ts';
import { inAgeOrder } from '../../core/rule-list.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { CacheRule as Row } from '../../generated/client.ts';
import { countRules, readRules } from './cache-rules.queries.ts';

/** The edge compares each request with the rules in turn, and one document contains all of them. */
const LIMIT = 500;

export async function list(ctx: Ctx, siteId: string, paging: Paging<'priority' | 'createdAt' | 'updatedAt'>) {
  const [data, total] = await Promise.all([readRules(ctx, siteId, paging), countRules(ctx, siteId)]);
  return { data, total: total ?? fail('NOT_FOUND') };
}

export const create = ({ db }: Ctx, siteId: string, rules: CacheRuleInput[]) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await lock(tx, siteId);
    if ((await tx.cacheRule.count({ where: { siteId } })) + rules.length > LIMIT)
      failAt('rules', 'range', `at most ${LIMIT} rules`);
    const data = inAgeOrder(rules.map((rule) => ({ ...rule, siteId })));
    await tx.cacheRule.createMany({ data });
    await changed(tx, zoneId, siteKey(siteId));
    return read(
      tx,
      data.map(({ id }) => id),
    );
  });

export const update = ({ db }: Ctx, siteId: string, rules: CacheRuleUpdate[]) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await lock(tx, siteId);
    const ids = rules.map(({ id }) => id);
    const before = new Map(
      (await tx.cacheRule.findMany({ where: { siteId, id: { in: ids } } })).map((row) => [row.id, row]),
    );
    if (before.size !== ids.length) fail('NOT_FOUND');
    // Moving one rule sends all of them, so unchanged ones are skipped.
    for (const { id, ...rule } of rules) {
      if (!isDeepStrictEqual({ ...before.get(id), ...rule }, before.get(id)))
        await tx.cacheRule.update({ where: { id, siteId }, data: rule });
    }
    await changed(tx, zoneId, siteKey(siteId));
    return read(tx, ids);
  });

export const remove = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await lock(tx, siteId);
    const { count } = await tx.cacheRule.deleteMany({ where: { siteId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    await changed(tx, zoneId, siteKey(siteId));
    return { ids };
  });

/** Locks the site's rules for one writer. */
async function lock(tx: ScopedTx, siteId: string) {
  const data = { updatedAt: new Date() };
  const site = await tx.site.update({ where: { id: siteId }, data, select: { zoneId: true } });
  await noteWeight(tx, [siteKey(siteId)]);
  return site;
}

async function read(tx: ScopedTx, ids: string[]) {
  const rows = await tx.cacheRule.findMany({
    where: { id: { in: ids } },
    orderBy: [{ priority: 'asc' }, { id: 'asc' }],
  });
  return { data: rows.map(ruleOf) };
}

const ruleOf = ({ siteId: _, ...row }: Row): CacheRule => ({
  ...row,
  type: CacheRule.shape.type.parse(row.type),
  query: CacheRule.shape.query.parse(row.query),
  cookies: CacheRule.shape.cookies.parse(row.cookies),
});
