// Work that the node link repeats at intervals, with or without NATS.
import type { Pool } from 'pg';
import type { Geoip } from '../geoip/geoip.ts';
import { needsGeo } from '../geoip/needs-geo.ts';
import type { LogStore } from '../statistics/log-store.ts';
import { tidyBlocks } from './block-pushes.ts';
import type { LinkLog } from './log.ts';
import { forgetOrigins } from './origin-reports.ts';
import { repeat, type Wakeable } from './repeat.ts';
import { removeTombstones } from './tombstones.ts';

const HOUR_MS = 3_600_000;
const BLOCKS_EVERY_MS = 10_000;
const TOPS_EVERY_MS = 5000;
/** The live tail shows requests after this time at the latest. */
const SHIP_EVERY_MS = 300;

/** A task at an interval. Its errors are logged, and the next run repeats it. */
export const regularly = (task: () => Promise<unknown>, everyMs: number, log: LinkLog): Wakeable =>
  repeat(task, everyMs, log, 'upkeep of the node link failed; it is tried again');

export function startUpkeep(pool: Pool, logStore: LogStore, geoip: Geoip, log: LinkLog): Wakeable[] {
  const zones = regularly(() => publishZones(pool), HOUR_MS, log);
  zones.wake();
  const logs = regularly(() => logStore.maintain(new Date()), HOUR_MS, log);
  logs.wake();
  const packs = regularly(
    async () => {
      await geoip.refresh();
      await publishPacks(pool);
    },
    HOUR_MS,
    log,
  );
  packs.wake();
  return [
    zones,
    logs,
    regularly(() => logStore.mergeTops(new Date()), TOPS_EVERY_MS, log),
    regularly(() => logStore.ship(), SHIP_EVERY_MS, log),
    regularly(() => removeTombstones(pool), HOUR_MS, log),
    regularly(() => forgetOrigins(pool), HOUR_MS, log),
    packs,
    regularly(() => tidyBlocks(pool), BLOCKS_EVERY_MS, log),
  ];
}

/**
 * Environment variables are part of zone documents and may have changed. API processes of an earlier version do not
 * compile error pages of operators and subscribed lists of zones. They unpublish each `list/<id>` of a zone. Equal
 * documents are not published.
 */
export const publishZones = (pool: Pool) =>
  pool.query(
    `INSERT INTO outbox (zone_id, key) SELECT z.id, k.key FROM zones z, (VALUES ('zone'), ('errorPages'), ('zoneLists')) k (key)
     WHERE NOT EXISTS (SELECT FROM outbox o WHERE o.zone_id = z.id AND o.key = k.key)
       AND (k.key = 'zone'
         OR k.key = 'errorPages' AND EXISTS (SELECT FROM default_error_pages p WHERE p.client_id = z.client_id)
         OR k.key = 'zoneLists' AND EXISTS (SELECT FROM list_sources l WHERE l.zone_id = z.id)
         OR EXISTS (SELECT FROM edge_documents e WHERE e.zone_id = z.id AND e.key = k.key AND e.body IS NOT NULL))
     UNION ALL SELECT c.zone_id, 'list/' || c.id FROM list_source_chunks c JOIN list_sources l ON l.id = c.source_id
     WHERE c.zone_id IS NOT NULL AND l.enabled
       AND NOT EXISTS (SELECT FROM outbox o WHERE o.zone_id = c.zone_id AND o.key = 'list/' || c.id)
       AND NOT EXISTS (SELECT FROM edge_documents e
         WHERE e.zone_id = c.zone_id AND e.key = 'list/' || c.id AND e.body IS NOT NULL)`,
  );

/** Zones that need the geo pack, and those that have it. Equal documents are not published. */
const publishPacks = (pool: Pool) =>
  pool.query(
    `INSERT INTO outbox (zone_id, key)
     SELECT z.id, k.key FROM zones z,
       (SELECT 'pack/geo.' || n FROM generate_series(0, 31) n UNION ALL SELECT 'pack/geo') k (key)
     WHERE ${needsGeo} OR EXISTS (SELECT FROM edge_documents e WHERE e.zone_id = z.id AND e.key = 'pack/geo' AND e.body IS NOT NULL)`,
  );
