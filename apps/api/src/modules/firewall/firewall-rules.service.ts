// Short rule lists of a site or a zone, read as a whole: region rules, user agent rules, those of layer4-rules, and
// subscribed lists.
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
import type { ScopedDb, ScopedTx } from '../../core/scope.ts';
import { assertSite, withSite } from './site-lock.ts';

/** One call copies these rules to up to 20 sites (contract/copies). */
const MAX_BYTES = 64 * 1024;

export interface RuleTable<
  Rule extends { id: string; createdAt: Date; updatedAt: Date },
  Input,
  Owner = { siteId: string },
> {
  field: string;
  limit?: number;
  read: (tx: ScopedTx, ownerId: string) => Promise<Rule[]>;
  insert: (tx: ScopedTx, ownerId: string, input: Input) => Promise<{ id: string }>;
  change: (
    tx: ScopedTx,
    where: { id: string } & Owner,
    input: Omit<Input & { id: string }, 'id'>,
  ) => Promise<{ count: number }>;
  remove: (tx: ScopedTx, ownerId: string, ids: string[]) => Promise<{ count: number }>;
}

/** The site or zone that has the rules. */
export interface RuleOwner<Owner> {
  where: (ownerId: string) => Owner;
  assert: (db: ScopedDb, ownerId: string) => Promise<unknown>;
  /** Writes under the owner's row lock, and publishes its document. */
  write: <T>(ctx: Ctx, ownerId: string, work: (tx: ScopedTx) => Promise<T>) => Promise<T>;
}
export const siteOwner: RuleOwner<{ siteId: string }> = {
  where: (siteId) => ({ siteId }),
  assert: assertSite,
  write: withSite,
};

export const rulesOf = <Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input>(
  table: RuleTable<Rule, Input>,
) => ownedRules(siteOwner, table);

export function ownedRules<Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input, Owner>(
  { where, assert, write }: RuleOwner<Owner>,
  table: RuleTable<Rule, Input, Owner>,
) {
  const { limit = MAX_RULES } = table;
  async function readBack(tx: ScopedTx, ownerId: string, id: string): Promise<Rule> {
    const all = await table.read(tx, ownerId);
    if (all.length > limit) failAt(table.field, 'range', `at most ${limit} rules`);
    if (Buffer.byteLength(JSON.stringify(all)) > MAX_BYTES) failAt(table.field, 'range', 'too much text');
    return all.find((rule) => rule.id === id) ?? fail('NOT_FOUND');
  }
  async function all({ db }: Ctx, ownerId: string) {
    await assert(db, ownerId);
    return table.read(db, ownerId);
  }
  return {
    all,
    async list(ctx: Ctx, ownerId: string, page: Paging<'createdAt' | 'updatedAt'>, isShown = (_: Rule) => true) {
      return onlyPage((await all(ctx, ownerId)).filter(isShown), page);
    },
    create: (ctx: Ctx, ownerId: string, input: Input) =>
      write(ctx, ownerId, async (tx) => readBack(tx, ownerId, (await table.insert(tx, ownerId, input)).id)),
    update: (ctx: Ctx, ownerId: string, { id, ...input }: Input & { id: string }) =>
      write(ctx, ownerId, async (tx) => {
        const { count } = await table.change(tx, { id, ...where(ownerId) }, input);
        if (count === 0) fail('NOT_FOUND');
        return readBack(tx, ownerId, id);
      }),
    remove: (ctx: Ctx, ownerId: string, ids: string[]) =>
      write(ctx, ownerId, async (tx) => {
        const { count } = await table.remove(tx, ownerId, ids);
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
