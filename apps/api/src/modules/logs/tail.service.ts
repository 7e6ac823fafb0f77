// The live tail. The reader keeps which batches are new, and no lines: a slow reader gets the newest rows of all of
// them, and a count of the others.
import { accessLogOf } from '../../access-log/open.ts';
import { setTimeout } from 'node:timers/promises';
import type { LogRow, TailEvent, TailQuery } from '@edgeloom/contract/logs/logs.ts';
import type { Ctx } from '../../core/ctx.ts';
import { sql } from '../../core/sql.ts';
import { assertSites, seenSql } from '../../statistics/selection.ts';
import { watchBatches, type StoredBatch } from '../../statistics/stored-batches.ts';
import { forReader } from './logs.service.ts';

/** Lines that arrive later are found by the search only. */
const LIVE_MS = 60_000;
/** Reads at most this often, so that a zone with many nodes costs one query for many batches. */
const PAUSE_MS = 200;
const LOOK_MS = 500;
/** Keeps proxies from closing a silent stream. */
const SILENT_MS = 15_000;
/** Readers that watch longer reconnect, which also checks that the session is still valid. */
const LONGEST_MS = 600_000;
/** A slow reader loses older batches, which are found by the search only. */
const MAX_PENDING = 20_000;

export async function tail(ctx: Ctx, { siteIDs, filter = {} }: TailQuery): Promise<AsyncIterable<TailEvent>> {
  await assertSites(ctx, siteIDs);
  const zones = await ctx.db.$read<{ id: string }>(
    (visible) =>
      sql`WITH ${seenSql(visible, { siteIDs, noSite: filter.noSite })} SELECT DISTINCT zone_id AS id FROM seen`,
  );
  return following(ctx, { siteIDs, filter }, new Set(zones.map(({ id }) => id)));
}

async function* following(
  ctx: Ctx,
  query: Required<Pick<TailQuery, 'filter'>> & TailQuery,
  zones: ReadonlySet<string>,
): AsyncGenerator<TailEvent> {
  const started = ctx.now().getTime();
  let sentAt = started;
  let pending: StoredBatch[] = [];
  let isReady = false;
  let wake: () => void = () => undefined;
  const unwatch = watchBatches(ctx.installation, {
    onReady: () => {
      isReady = true;
      wake();
    },
    onBatch: (batch) => {
      if (!zones.has(batch.zone)) return;
      pending.push(batch);
      if (pending.length > MAX_PENDING) pending.shift();
      wake();
    },
  });
  const woken = () =>
    Promise.race([new Promise<void>((resolve) => (wake = resolve)), setTimeout(LOOK_MS, undefined, { ref: false })]);
  try {
    while (!isReady && !ctx.caller.hasLeft()) await woken();
    // The reader misses no request from now on.
    yield { rows: [], dropped: 0 };
    for (;;) {
      if (pending.length === 0) await woken();
      const now = ctx.now().getTime();
      if (ctx.caller.hasLeft() || now > started + LONGEST_MS) return;
      const batches = pending.filter(({ to }) => to > now - LIVE_MS);
      pending = [];
      const { rows, matched } =
        batches.length > 0 ? await readRows(ctx, query, batches, now) : { rows: [], matched: 0 };
      const dropped = matched - rows.length;
      if (rows.length > 0 || dropped > 0 || now > sentAt + SILENT_MS) {
        sentAt = now;
        yield { rows, dropped };
      }
      await setTimeout(PAUSE_MS);
    }
  } finally {
    unwatch();
  }
}

async function readRows(
  ctx: Ctx,
  { siteIDs, filter = {} }: TailQuery,
  batches: readonly StoredBatch[],
  now: number,
): Promise<{ rows: LogRow[]; matched: number }> {
  const from = new Date(Math.max(now - LIVE_MS, Math.min(...batches.map(({ from: first }) => first))));
  const to = new Date(Math.max(...batches.map(({ to: last }) => last)));
  const accessLog = accessLogOf(ctx.installation);
  const { rows, matched } = await accessLog.readBatches(ctx.db.$read, { siteIDs, filter }, { from, to }, batches);
  return { rows: rows.map((row) => forReader(ctx, row)), matched };
}
