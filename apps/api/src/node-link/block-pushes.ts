// Pushes changes of block sets to nodes, like documents: no stream, and a node that missed one requests it.
import type { BlockPush, BlocksReply } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import type { Pool } from 'pg';
import { NOBODY } from '../core/actor.ts';
import type { Bus } from '../core/bus.ts';
import { lockClasses } from '../core/locks.ts';
import type { LinkLog } from './log.ts';
import { repeat, type Wakeable } from './repeat.ts';
import { inSingleTransaction, withClient } from './transactions.ts';

const CHECK_INTERVAL_MS = 1000;
const PAGE = 2000;
/** Larger changes are requested by each node at its own pace. */
const MAX_PUSHED = 4000;

type Row = { network: string; cause: string; seconds: number; revision: number; scope: string };

const SECONDS_LEFT =
  'CASE WHEN b.removed THEN 0 ELSE least(ceil(extract(epoch FROM b.until - now())), 2592000)::int END AS seconds';

/** `sites` is absent without blocks of sites. A set without entries is one row of nulls. */
function changesIn(rows: { [K in keyof Row]: Row[K] | null }[]): Pick<BlocksReply, 'blocks' | 'sites'> {
  const all = rows.flatMap(({ network, cause, seconds, scope }) =>
    network !== null && cause !== null && seconds !== null && scope !== null
      ? [{ network, cause, seconds, scope }]
      : [],
  );
  const sites = all.flatMap(({ scope, ...block }) => (scope === NOBODY ? [] : [{ ...block, siteID: scope }]));
  return {
    blocks: all.flatMap(({ scope, ...block }) => (scope === NOBODY ? [block] : [])),
    ...(sites.length > 0 && { sites }),
  };
}

/** Runs when woken, and once a second in case a wake-up was lost. */
export function startBlockPushes(pool: Pool, bus: () => Bus | null, log: LinkLog): Wakeable {
  return repeat(pushChanges, CHECK_INTERVAL_MS, log, 'changes of block sets could not be pushed; it is tried again');

  async function pushChanges() {
    const up = bus();
    if (up?.isUp() !== true) return;
    const { rows } = await pool.query<{ zoneId: string }>(
      'SELECT zone_id AS "zoneId" FROM block_sets WHERE pushed < revision',
    );
    for (const { zoneId } of rows) await push(pool, up, zoneId);
  }
}

async function push(pool: Pool, bus: Bus, zoneId: string): Promise<void> {
  await withClient(pool, (db) =>
    inSingleTransaction(db, async () => {
      const lock = [lockClasses.blockPushes, zoneId];
      const taken = await db.query<{ held: boolean }>(
        'SELECT pg_try_advisory_xact_lock($1, hashtext($2)) AS held',
        lock,
      );
      // The process that holds the lock was woken too.
      if (taken.rows[0]?.held !== true) return;
      const { rows } = await db.query<
        { from: number; to: number; flushed: number } & { [K in keyof Row]: Row[K] | null }
      >(
        `SELECT s.pushed::float8 AS from, s.revision::float8 AS to, s.flushed::float8 AS flushed, p.*
         FROM block_sets s LEFT JOIN LATERAL (
           SELECT b.network, b.cause, ${SECONDS_LEFT}, b.revision::float8 AS revision, b.scope FROM blocks b
           WHERE b.zone_id = s.zone_id AND b.revision > s.pushed AND b.until > now() ORDER BY b.revision LIMIT ${MAX_PUSHED + 1}
         ) p ON true WHERE s.zone_id = $1`,
        [zoneId],
      );
      const [first] = rows;
      if (first === undefined || first.from >= first.to) return;
      const changes = changesIn(rows);
      // After a flush or a large change nodes must request: no node holds this push's predecessor.
      const mustRequest = first.flushed > first.from || rows.length > MAX_PUSHED;
      const message: BlockPush = {
        zone: zoneId,
        previous: mustRequest ? first.to : first.from,
        revision: first.to,
        ...(mustRequest ? { blocks: [] } : changes),
      };
      bus.nodes.publish(subjects.zoneBlocks(zoneId), JSON.stringify(message));
      await bus.nodes.flush();
      await db.query('UPDATE block_sets SET pushed = greatest(pushed, $2) WHERE zone_id = $1', [zoneId, first.to]);
    }),
  );
}

/** The entries that a node lacks, and the revision it reaches with them. Null: no such node. */
export async function blocksPage(pool: Pool, nodeId: string, revision: number): Promise<BlocksReply | null> {
  const { rows } = await pool.query<{ set: number; whole: boolean } & { [K in keyof Row]: Row[K] | null }>(
    `WITH asked AS (
       SELECT n.zone_id, coalesce(s.revision, 0) AS set, coalesce(s.flushed, 0) AS flushed,
         ($2 = 0 OR $2 < coalesce(s.flushed, 0) OR $2 > coalesce(s.revision, 0)) AS whole
       FROM nodes n LEFT JOIN block_sets s ON s.zone_id = n.zone_id WHERE n.id = $1 AND n.public_key IS NOT NULL
     )
     SELECT a.set::float8 AS set, a.whole, p.* FROM asked a LEFT JOIN LATERAL (
       SELECT b.network, b.cause, ${SECONDS_LEFT}, b.revision::float8 AS revision, b.scope FROM blocks b
       WHERE b.zone_id = a.zone_id AND b.revision > CASE WHEN a.whole THEN a.flushed ELSE $2 END AND b.until > now()
         AND NOT (a.whole AND b.removed)
       ORDER BY b.revision FETCH FIRST ${PAGE} ROWS WITH TIES
     ) p ON true ORDER BY p.revision`,
    [nodeId, revision],
  );
  const [first] = rows;
  if (first === undefined) return null;
  const reached = rows.at(-1)?.revision ?? first.set;
  const more = rows.length >= PAGE && reached < first.set;
  return { whole: first.whole, ...changesIn(rows), revision: more ? reached : first.set, more };
}

/** Deletes expired entries and flushed sets. */
export async function tidyBlocks(pool: Pool): Promise<void> {
  await pool.query('DELETE FROM blocks WHERE until < now()');
  await pool.query('DELETE FROM blocks b USING block_sets s WHERE b.zone_id = s.zone_id AND b.revision <= s.flushed');
}
