// Lists of a site that are fetched from URLs. The job fetches them (jobs/fetch-list-sources.job.ts); triggers publish
// their entries, and start again when a URL changes.
import {
  ListSourceError,
  MAX_LIST_SOURCES,
  type ListSource,
  type ListSourceInput,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { hostFault } from '../../core/outbound-fetch.ts';
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

const table = rulesOf<ListSource, ListSourceInput>({
  field: 'url',
  limit: MAX_LIST_SOURCES,
  async read(tx, siteId) {
    const rows = await tx.listSource.findMany({
      where: { siteId },
      omit: { siteId: true },
      include: { state: { omit: { sourceId: true, dueAt: true, startedAt: true, failures: true, etag: true } } },
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

export const sources = {
  ...table,
  async create(ctx: Ctx, siteId: string, input: ListSourceInput) {
    assertPermitted(ctx, input.url);
    return table.create(ctx, siteId, input);
  },
  async update(ctx: Ctx, siteId: string, input: ListSourceInput & { id: string }) {
    assertPermitted(ctx, input.url);
    return table.update(ctx, siteId, input);
  },
};

/** Names are checked again when they are resolved. Without ORIGIN_ALLOW, each of them needs TLS. */
function assertPermitted({ installation: { env } }: Ctx, url: string) {
  const { hostname, protocol } = new URL(url);
  const isEncrypted = protocol === 'https:';
  const fault = hostFault(hostname, isEncrypted, env);
  if (fault) failAt('url', 'policy', fault);
  if (!isEncrypted && env.ORIGIN_ALLOW.length === 0) failAt('url', 'policy', 'https only');
}

/** The job fetches them within seconds, but each at most once a minute, also during a fetch. */
export const refresh = ({ db, now }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const states = await tx.listSourceState.findMany({ where: { sourceId: { in: ids }, source: { siteId } } });
    if (states.length !== new Set(ids).size) fail('NOT_FOUND');
    for (const { sourceId, startedAt, checkedAt, dueAt } of states) {
      const last = Math.max(startedAt?.getTime() ?? 0, checkedAt?.getTime() ?? 0);
      const earliest = Math.max(now().getTime(), last + REFRESH_INTERVAL_MS);
      // A fetch that starts or ends meanwhile changes dueAt. The source is current then.
      if (earliest < dueAt.getTime())
        await tx.listSourceState.updateMany({ where: { sourceId, dueAt }, data: { dueAt: new Date(earliest) } });
    }
    return { ids };
  });
