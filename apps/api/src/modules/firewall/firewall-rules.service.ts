// Short rule lists of a site, read as a whole: region rules, user agent rules, and those of layer4-rules.
import {
  MAX_RULES,
  type GeoRule,
  type GeoRuleInput,
  type UserAgentInput,
  type UserAgentRule,
} from '@edgeloom/contract/firewall/firewall.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { onlyPage } from './only-page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { assertSite, withSite } from './site-lock.ts';

/** One call copies these rules to up to 20 sites (contract/copies). */
const MAX_BYTES = 64 * 1024;

export interface RuleTable<Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input> {
  field: string;
  limit?: number;
  read: (tx: ScopedTx, siteId: string) => Promise<Rule[]>;
  insert: (tx: ScopedTx, siteId: string, input: Input) => Promise<{ id: string }>;
  change: (
    tx: ScopedTx,
    where: { id: string; siteId: string },
    input: Omit<Input & { id: string }, 'id'>,
  ) => Promise<{ count: number }>;
  remove: (tx: ScopedTx, siteId: string, ids: string[]) => Promise<{ count: number }>;
}

export function rulesOf<Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input>(
  table: RuleTable<Rule, Input>,
) {
  const { limit = MAX_RULES } = table;
  async function readBack(tx: ScopedTx, siteId: string, id: string): Promise<Rule> {
    const all = await table.read(tx, siteId);
    if (all.length > limit) failAt(table.field, 'range', `at most ${limit} rules`);
    if (Buffer.byteLength(JSON.stringify(all)) > MAX_BYTES) failAt(table.field, 'range', 'too much text');
    return all.find((rule) => rule.id === id) ?? fail('NOT_FOUND');
  }
  async function all({ db }: Ctx, siteId: string) {
    await assertSite(db, siteId);
    return table.read(db, siteId);
  }
  return {
    all,
    async list(ctx: Ctx, siteId: string, page: Paging<'createdAt' | 'updatedAt'>, isShown = (_: Rule) => true) {
      return onlyPage((await all(ctx, siteId)).filter(isShown), page);
    },
    create: (ctx: Ctx, siteId: string, input: Input) =>
      withSite(ctx, siteId, async (tx) => readBack(tx, siteId, (await table.insert(tx, siteId, input)).id)),
    update: (ctx: Ctx, siteId: string, { id, ...input }: Input & { id: string }) =>
      withSite(ctx, siteId, async (tx) => {
        const { count } = await table.change(tx, { id, siteId }, input);
        if (count === 0) fail('NOT_FOUND');
        return readBack(tx, siteId, id);
      }),
    remove: (ctx: Ctx, siteId: string, ids: string[]) =>
      withSite(ctx, siteId, async (tx) => {
        const { count } = await table.remove(tx, siteId, ids);
        if (count !== new Set(ids).size) fail('NOT_FOUND');
        return { ids };
      }),
  };
}

const orderBy = { id: 'asc' } as const;

export const geoRules = rulesOf<GeoRule, GeoRuleInput>({
  field: 'geoIDs',
  async read(tx, siteId) {
    const rows = await tx.firewallGeo.findMany({ where: { siteId }, omit: { siteId: true }, orderBy });
    return rows.map(({ value, ...row }) => ({ ...row, geoIDs: value }));
  },
  insert: (tx, siteId, { geoIDs, ...data }) => tx.firewallGeo.create({ data: { siteId, value: geoIDs, ...data } }),
  change: (tx, where, { geoIDs, ...data }) => tx.firewallGeo.updateMany({ where, data: { value: geoIDs, ...data } }),
  remove: (tx, siteId, ids) => tx.firewallGeo.deleteMany({ where: { siteId, id: { in: ids } } }),
});

export const userAgentRules = rulesOf<UserAgentRule, UserAgentInput>({
  field: 'userAgentRegex',
  async read(tx, siteId) {
    const rows = await tx.userAgentRule.findMany({ where: { siteId }, omit: { siteId: true }, orderBy });
    return rows.map(({ value, ...row }) => ({ ...row, userAgentRegex: value[0] ?? '' }));
  },
  insert: (tx, siteId, { userAgentRegex, ...data }) =>
    tx.userAgentRule.create({ data: { siteId, value: [userAgentRegex], ...data } }),
  change: (tx, where, { userAgentRegex, ...data }) =>
    tx.userAgentRule.updateMany({ where, data: { value: [userAgentRegex], ...data } }),
  remove: (tx, siteId, ids) => tx.userAgentRule.deleteMany({ where: { siteId, id: { in: ids } } }),
});
