// Subscribed lists of a site or a zone: texts at URLs, and CrowdSec's decisions. The job fetches them
// (jobs/fetch-list-sources.job.ts); triggers publish their entries, and start again when a URL changes.
import { randomUUIDv7 } from 'node:crypto';
import {
  ListSourceError,
  ListSourceKind,
  MAX_LIST_SOURCES,
  type ListSource,
  type ListSourceInput,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { assertPermittedUrl } from '../../core/permitted-url.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contexts } from '../../core/secrets.ts';
import { changed } from '../../core/changes.ts';
import { ownedRules, siteOwner, type RuleOwner } from '../firewall/firewall-rules.service.ts';
import * as zones from '../zones/zones.service.ts';

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

/** A new key is stored beside the row, for the row's URL only. */
type StoredInput = Omit<ListSourceInput, 'key'> & { keySealed: string | null };

type Owner = { siteId: string } | { zoneId: string };

const zoneOwner: RuleOwner<{ zoneId: string }> = {
  where: (zoneId) => ({ zoneId }),
  assert: zones.own,
  write: ({ db }, zoneId, work) =>
    db.$transaction(async (tx) => {
      await tx.zone.update({ where: { id: zoneId }, data: { updatedAt: new Date() }, select: { id: true } });
      const done = await work(tx);
      await changed(tx, zoneId, 'zoneLists');
      return done;
    }),
};

const tableOf = <O extends Owner>(owner: RuleOwner<O>) =>
  ownedRules<ListSource, StoredInput & { id: string }, O>(owner, {
    field: 'url',
    limit: MAX_LIST_SOURCES,
    async read(tx, ownerId) {
      const rows = await tx.listSource.findMany({
        where: owner.where(ownerId),
        omit: { siteId: true, zoneId: true },
        include: {
          key: { select: { url: true } },
          state: { omit: { sourceId: true, dueAt: true, startedAt: true, failures: true, etag: true } },
        },
        orderBy: { id: 'asc' },
      });
      return rows.map(({ state, key, ...row }) => ({
        ...row,
        kind: ListSourceKind.parse(row.kind),
        hasKey: key?.url === row.url,
        ...(state ? { ...state, error: ListSourceError.nullable().parse(state.error) } : nothingFetched),
      }));
    },
    async insert(tx, ownerId, { keySealed, ...data }) {
      assertKey(data, keySealed !== null);
      const owned: Owner = owner.where(ownerId);
      const row = await tx.listSource.create({ data: { ...owned, ...data } });
      await storeKey(tx, row, keySealed);
      return row;
    },
    async change(tx, where, { keySealed, ...data }) {
      const stored = await tx.listSource.findUnique({ where, include: { key: true } });
      if (!stored) return { count: 0 };
      if (stored.kind !== data.kind) failAt('kind', 'choice', 'the kind of a source stays');
      // Another server must not receive a key that its operator never knew.
      assertKey(data, keySealed !== null || stored.key?.url === data.url);
      const updated = await tx.listSource.updateMany({ where, data });
      await storeKey(tx, { id: where.id, url: data.url }, keySealed);
      return updated;
    },
    remove: (tx, ownerId, ids) => tx.listSource.deleteMany({ where: { ...owner.where(ownerId), id: { in: ids } } }),
  });

function assertKey({ kind, isBlack }: Pick<StoredInput, 'kind' | 'isBlack'>, hasKey: boolean) {
  if (kind === 'url') return;
  if (!isBlack) failAt('isBlack', 'choice', 'CrowdSec lists addresses to block');
  if (!hasKey) failAt('key', 'required', 'required with a new address');
}

async function storeKey(tx: ScopedTx, { id, url }: { id: string; url: string }, keySealed: string | null) {
  if (keySealed === null) return;
  const key = { url, keySealed };
  await tx.listSourceKey.upsert({ where: { sourceId: id }, create: { sourceId: id, ...key }, update: key });
  // Without a key, or with a wrong one, the next fetch may be a day away.
  await tx.listSourceState.updateMany({ where: { sourceId: id }, data: { dueAt: new Date(), failures: 0 } });
}

/** Text lists are fetched without a key. */
function withSealedKey(
  { installation: { secrets } }: Ctx,
  { key, ...input }: ListSourceInput & { id: string },
): StoredInput & { id: string } {
  const keySealed = input.kind === 'crowdSec' && key ? secrets.seal(key, contexts.listSource(input.id)) : null;
  return { ...input, keySealed };
}

function sourcesOf<O extends Owner>(owner: RuleOwner<O>) {
  const table = tableOf(owner);
  return {
    ...table,
    async create(ctx: Ctx, ownerId: string, input: ListSourceInput) {
      assertPermittedUrl(ctx.installation.env, input.url);
      return table.create(ctx, ownerId, withSealedKey(ctx, { ...input, id: randomUUIDv7() }));
    },
    async update(ctx: Ctx, ownerId: string, input: ListSourceInput & { id: string }) {
      assertPermittedUrl(ctx.installation.env, input.url);
      return table.update(ctx, ownerId, withSealedKey(ctx, input));
    },
    refresh: (ctx: Ctx, ownerId: string, ids: string[]) => refresh(ctx, owner.where(ownerId), ids),
  };
}
export const sources = sourcesOf(siteOwner);
export const zoneSources = sourcesOf(zoneOwner);

/** The job fetches them within seconds, but each at most once a minute, also during a fetch. */
const refresh = ({ db, now }: Ctx, source: Owner, ids: string[]) =>
  db.$transaction(async (tx) => {
    const states = await tx.listSourceState.findMany({ where: { sourceId: { in: ids }, source } });
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
