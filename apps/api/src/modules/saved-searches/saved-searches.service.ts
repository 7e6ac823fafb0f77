// Named filters of the search of logs. They belong to the account.
import { LogFilter } from '@edgeloom/contract/logs/logs.ts';
import {
  SAVED_SEARCHES,
  type SavedSearch,
  type SavedSearchInput,
  type SavedSearchUpdate,
} from '@edgeloom/contract/saved-searches/saved-searches.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { lockAccount } from '../../core/document-weight.ts';
import { fail } from '../../core/fail.ts';
import { assertSites } from '../../statistics/selection.ts';
import type { SavedSearch as Row } from '../../generated/client.ts';

export async function list({ db }: Ctx): Promise<{ data: SavedSearch[] }> {
  const rows = await db.savedSearch.findMany({ orderBy: { name: 'asc' } });
  return { data: rows.map(shown) };
}

export async function create(ctx: Ctx, { name, filter }: SavedSearchInput): Promise<SavedSearch> {
  await assertSites(ctx, filter.siteIDs);
  const { actor, db } = ctx;
  const row = await db.$transaction(async (tx) => {
    await lockAccount(tx, actor);
    const count = await tx.savedSearch.count();
    if (count >= SAVED_SEARCHES) fail('LIMIT_REACHED', { extra: { limit: SAVED_SEARCHES } });
    return orFail('DUPLICATED', tx.savedSearch.create({ data: { accountId: actor.id, name, filter } }));
  });
  return shown(row);
}

export async function update(ctx: Ctx, { id, name, filter }: SavedSearchUpdate): Promise<SavedSearch> {
  await assertSites(ctx, filter.siteIDs);
  return shown(
    await ctx.db.$transaction(async (tx) => {
      if ((await tx.savedSearch.count({ where: { id } })) === 0) fail('NOT_FOUND');
      return orFail('DUPLICATED', tx.savedSearch.update({ where: { id }, data: { name, filter } }));
    }),
  );
}

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.savedSearch.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

const shown = ({ id, name, filter, createdAt, updatedAt }: Row): SavedSearch => ({
  id,
  name,
  filter: LogFilter.parse(filter),
  createdAt,
  updatedAt,
});
