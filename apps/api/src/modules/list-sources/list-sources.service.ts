// Lists of a site that are fetched from URLs. The job fetches them (jobs/fetch-list-sources.job.ts); triggers publish
// their entries, and start again when a URL changes.
import {
  ListSourceError,
  MAX_LIST_SOURCES,
  type ListSource,
  type ListSourceInput,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { rulesOf } from '../firewall/firewall-rules.service.ts';

const REFRESH_INTERVAL_MS = 60_000;
const nothingFetched = {
  entries: 0,
  added: 0,
  removed: 0,
  rejected: 0,
  fetchedAt: null,
  checkedAt: null,
  error: null,
  status: null,
};

export const sources = rulesOf<ListSource, ListSourceInput>({
  field: 'url',
  limit: MAX_LIST_SOURCES,
  async read(tx, siteId) {
    const rows = await tx.listSource.findMany({
      where: { siteId },
      omit: { siteId: true },
      include: { state: { omit: { sourceId: true, dueAt: true, etag: true } } },
      orderBy: { id: 'asc' },
    });
    return rows.map(({ state, ...row }) => ({
      ...row,
      ...(state ? { ...state, error: ListSourceError.nullable().parse(state.error) } : nothingFetched),
    }));
  },
  insert: (tx, siteId, input) => tx.listSource.create({ data: { siteId, ...input } }),
  change: (tx, where, input) => tx.listSource.updateMany({ where, data: input }),
  remove: (tx, siteId, ids) => tx.listSource.deleteMany({ where: { siteId, id: { in: ids } } }),
});

/** The job fetches them within seconds, but each at most once a minute. */
export const refresh = ({ db, now }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const states = await tx.listSourceState.findMany({ where: { sourceId: { in: ids }, source: { siteId } } });
    if (states.length !== new Set(ids).size) fail('NOT_FOUND');
    for (const { sourceId, checkedAt, dueAt } of states) {
      const earliest = Math.max(now().getTime(), (checkedAt?.getTime() ?? 0) + REFRESH_INTERVAL_MS);
      if (earliest < dueAt.getTime())
        await tx.listSourceState.updateMany({ where: { sourceId }, data: { dueAt: new Date(earliest) } });
    }
    return { ids };
  });
