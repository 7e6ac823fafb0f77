import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { registry } from '../core/metrics.ts';
import { openSecrets } from '../core/secrets.ts';
import { services, testDatabase } from '../../../../tests/support/services/shared-services.ts';
import { startPublisher } from './publisher.ts';
import { Quarantine } from './quarantine.ts';
import { withZone } from './zone-lock.ts';

const lag = async () => (await registry.getSingleMetric('edgeloom_api_publish_lag_seconds')?.get())?.values[0]?.value;

test('the lag grows while another process holds the zone of a change, and ends with its publish', async () => {
  const pool = new pg.Pool({ connectionString: await testDatabase() });
  onTestFinished(() => pool.end());
  const zone = randomUUID();
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = withZone(pool, zone, () => {
    held.resolve();
    return released.promise;
  });
  await held.promise;
  await pool.query(`INSERT INTO outbox (zone_id, key, failed_at) VALUES ($1, 'zone', NULL), ($1, 'failed', now())`, [
    zone,
  ]);
  const ignore = () => undefined;
  const publisher = startPublisher({
    pool,
    compiler: { secrets: await openSecrets(services().secretsDir), policy: { allow: [], deny: [] } },
    bus: () => null,
    quarantine: new Quarantine(),
    log: { info: ignore, warn: ignore, error: ignore },
  });
  try {
    await expect.poll(lag).toBeGreaterThan(1);
    released.resolve();
    await holding;
    await expect.poll(lag).toBe(0);
  } finally {
    released.resolve();
    await publisher.stop();
  }
});
