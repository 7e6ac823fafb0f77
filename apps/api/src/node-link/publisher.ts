// Publishes zones with changes, several concurrently, so that a slow one delays no other. Woken by NOTIFY within a
// millisecond, and polls each second.
import type { Pool } from 'pg';
import { Gauge, Histogram } from 'prom-client';
import { registry } from '../core/metrics.ts';
import { publishOnce } from './publish.ts';
import type { Publishing } from './publish.ts';
import { repeat } from './repeat.ts';
import { announcementOf, sendPushes } from './push.ts';
import { withZone } from './zone-lock.ts';

export interface Publisher {
  /** Check now for changes. */
  wake: () => void;
  /** Finishes pending work. */
  stop: () => Promise<void>;
}

const LOOK_EVERY_MS = 1000;
const ZONES_AT_ONCE = 4;

const waiting = new Gauge({
  name: 'edgeloom_api_zones_to_publish',
  help: 'Zones with changes that are not published yet',
  registers: [registry],
});
const lag = new Gauge({
  name: 'edgeloom_api_publish_lag_seconds',
  help: 'How long the oldest change of any zone has waited to be published',
  registers: [registry],
});
const seconds = new Histogram({
  name: 'edgeloom_api_publish_duration_seconds',
  help: 'Time to publish the changes of a zone',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  registers: [registry],
});

export function startPublisher(link: Publishing & { pool: Pool }): Publisher {
  const { pool, log } = link;
  let stopping = false;
  const running = new Map<string, Promise<void>>();
  /** Zones to publish, including those that changed during their publish. */
  const wanted = new Set<string>();
  /** Last read revision of each zone. */
  const announced = new Map<string, number>();
  /** When this process first saw each zone's oldest change. */
  let firstSeen = new Map<string, number>();

  const looking = repeat(findChangedZones, LOOK_EVERY_MS, log, 'the outbox could not be read');
  async function findChangedZones() {
    const zones = await zonesToPublish(pool, link.bus()?.isUp() ?? false);
    waiting.set(zones.length);
    const now = performance.now();
    const changes = zones.flatMap(({ id, oldest }) => (oldest === null ? [] : [`${id} ${oldest}`]));
    firstSeen = new Map(changes.map((change) => [change, firstSeen.get(change) ?? now]));
    lag.set((now - Math.min(now, ...firstSeen.values())) / 1000);
    for (const { id } of zones) wanted.add(id);
    startPublishing();
    await announce();
  }

  /** After the start, and when a zone's revision decreased because its database was restored. */
  async function announce() {
    const bus = link.bus();
    if (!bus?.isUp()) return;
    const zones = await readZones(pool);
    const changed = zones.filter(
      ({ id, revision, isPublished }) => isPublished && revision < (announced.get(id) ?? Infinity),
    );
    const before = new Map(announced);
    announced.clear();
    for (const { id, revision, isPublished } of zones)
      announced.set(id, isPublished ? revision : Math.max(revision, before.get(id) ?? Infinity));
    await sendPushes(
      bus.nodes,
      changed.map(({ id, revision, digest }) => announcementOf(id, revision, digest)),
    );
  }

  function startPublishing() {
    for (const zone of wanted) {
      if (stopping || running.size >= ZONES_AT_ONCE) return;
      if (running.has(zone)) continue;
      wanted.delete(zone);
      running.set(
        zone,
        publish(zone).finally(() => {
          running.delete(zone);
          startPublishing();
        }),
      );
    }
  }

  async function publish(zone: string) {
    const stopClock = seconds.startTimer();
    try {
      // The process that holds the zone was woken too, and checks again afterwards.
      await withZone(pool, zone, async (client) => {
        while (!stopping && (await publishOnce(link, client, zone)));
      });
    } catch (error) {
      log.error({ err: error, zone }, 'a zone could not be published; it is tried again');
    } finally {
      stopClock();
    }
  }

  looking.wake();
  return {
    wake: looking.wake,
    async stop() {
      stopping = true;
      await looking.stop();
      await Promise.all(running.values());
    },
  };
}

/** `oldest` identifies the zone's oldest change, except failed ones. */
async function zonesToPublish(pool: Pool, busIsUp: boolean): Promise<{ id: string; oldest: string | null }[]> {
  const { rows } = await pool.query<{ id: string; oldest: string | null }>(
    `SELECT id, max(oldest) AS oldest FROM (
       SELECT zone_id AS id, min(id) FILTER (WHERE failed_at IS NULL)::text AS oldest FROM outbox GROUP BY zone_id
       UNION ALL SELECT id, 'revision' FROM zones WHERE $1 AND published_revision < revision) z
     GROUP BY id`,
    [busIsUp],
  );
  return rows;
}

interface ZoneRow {
  id: string;
  revision: number;
  digest: string;
  isPublished: boolean;
}

async function readZones(pool: Pool): Promise<ZoneRow[]> {
  const { rows } = await pool.query<ZoneRow>(
    'SELECT id, revision, digest, published_revision = revision AS "isPublished" FROM zones',
  );
  return rows;
}
