// Lists of addresses for port forwards. A trigger of their table publishes the forwards of the site.
import {
  MAX_LAYER4_ENTRIES,
  MAX_LAYER4_LISTS,
  type Layer4List,
  type Layer4ListInput,
  type Layer4ListQuery,
  type Layer4ListUpdate,
} from '@edgeloom/contract/layer4-lists/layer4-lists.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { assertSite, withSite } from '../firewall/site-lock.ts';

interface Row {
  id: string;
  value: string[];
  memo: string;
  enabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}
const listOf = ({ id, value, memo, enabled, createdAt, updatedAt }: Row): Layer4List => ({
  id,
  ips: value,
  memo,
  enabled,
  createdAt,
  updatedAt,
});
const dataOf = ({ ips, memo, enabled }: Layer4ListInput) => ({ value: ips, memo, enabled });

export const layer4Lists = (isBlack: boolean) => ({
  async list({ db }: Ctx, siteId: string, { keyword, ...page }: Layer4ListQuery) {
    await assertSite(db, siteId);
    const where = {
      siteId,
      isBlack,
      ...(keyword && { OR: [{ memo: containing(keyword) }, { value: { has: keyword.trim().toLowerCase() } }] }),
    };
    const [rows, total] = await Promise.all([
      db.layer4List.findMany({ where, ...pageOf(page) }),
      db.layer4List.count({ where }),
    ]);
    return { data: rows.map(listOf), total };
  },

  create: (ctx: Ctx, siteId: string, input: Layer4ListInput) =>
    withSite(ctx, siteId, async (tx) => {
      const row = await tx.layer4List.create({ data: { siteId, isBlack, ...dataOf(input) } });
      await assertLimits(tx, siteId);
      return listOf(row);
    }),

  update: (ctx: Ctx, siteId: string, { id, ...input }: Layer4ListUpdate) =>
    withSite(ctx, siteId, async (tx) => {
      const { count } = await tx.layer4List.updateMany({ where: { id, siteId, isBlack }, data: dataOf(input) });
      if (count === 0) fail('NOT_FOUND');
      await assertLimits(tx, siteId);
      return listOf(await tx.layer4List.findFirstOrThrow({ where: { id, siteId } }));
    }),

  remove: (ctx: Ctx, siteId: string, ids: string[]) =>
    withSite(ctx, siteId, async (tx) => {
      const { count } = await tx.layer4List.deleteMany({ where: { siteId, isBlack, id: { in: ids } } });
      if (count !== new Set(ids).size) fail('NOT_FOUND');
      return { ids };
    }),
});

async function assertLimits(tx: ScopedTx, siteId: string) {
  const rows = await tx.layer4List.findMany({ where: { siteId }, select: { value: true } });
  if (rows.length > MAX_LAYER4_LISTS) failAt('ips', 'range', `at most ${MAX_LAYER4_LISTS} lists`);
  const entries = rows.reduce((sum, { value }) => sum + value.length, 0);
  if (entries > MAX_LAYER4_ENTRIES) failAt('ips', 'range', `at most ${MAX_LAYER4_ENTRIES} entries`);
}

export async function readLayer4Lists({ db }: Ctx, siteId: string) {
  const rows = await db.layer4List.findMany({ where: { siteId }, orderBy: [{ isBlack: 'asc' }, { id: 'asc' }] });
  return rows.map((row) => ({ ...listOf(row), isBlack: row.isBlack }));
}
