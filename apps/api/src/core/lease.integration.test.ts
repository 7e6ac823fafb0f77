import { randomUUIDv7 } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  isUnleased,
  keepLease,
  releaseLease,
  startLeasedWork,
  takeLease,
  type Lease,
  type LeaseKind,
} from './lease.ts';
import { jobSeconds } from './metrics.ts';
import { testDatabase } from '../../../../tests/support/services/shared-services.ts';

/** Tests expire leases themselves (`expire`). */
const kind: LeaseKind = { table: 'leased_rows', seconds: 3600, isOpen: `state = 'open'` };
/** Renewals follow each other quickly. */
const renewedOften: LeaseKind = { ...kind, seconds: 1 };
let databaseUrl: string;
let pool: pg.Pool;

beforeAll(async () => {
  databaseUrl = await testDatabase();
  pool = new pg.Pool({ connectionString: databaseUrl });
  await pool.query(
    `CREATE TABLE leased_rows (id uuid PRIMARY KEY, state text NOT NULL, claimed_by uuid, claimed_until timestamptz)`,
  );
});
afterAll(() => pool.end());

async function addRow(): Promise<string> {
  const id = randomUUIDv7();
  await pool.query(`INSERT INTO leased_rows (id, state) VALUES ($1, 'open')`, [id]);
  return id;
}

async function claim(id: string): Promise<Lease | null> {
  const lease = { id, claim: randomUUIDv7() };
  const { rowCount } = await pool.query(
    `UPDATE leased_rows SET ${takeLease(kind, '$1')} WHERE id = $2 AND state = 'open' AND ${isUnleased('leased_rows')}`,
    [lease.claim, id],
  );
  return rowCount === 1 ? lease : null;
}

/** Claims a row that must be free. */
async function mustClaim(id: string): Promise<Lease> {
  const lease = await claim(id);
  if (lease === null) throw new Error('another process holds the row');
  return lease;
}

/** Resolves when the holder is notified that its lease is lost. */
const isLost = (lease: Lease): Promise<boolean> =>
  new Promise((resolve) => {
    keepLease(pool, renewedOften, lease, () => resolve(true));
  });

const expire = (id: string) =>
  pool.query(`UPDATE leased_rows SET claimed_until = now() - interval '1 second' WHERE id = $1`, [id]);

test('a row has one holder, until it is released or its lease expires', async () => {
  const id = await addRow();
  const first = await mustClaim(id);
  expect(await claim(id)).toBeNull();

  await releaseLease(pool, kind, first);
  await mustClaim(id);
  await releaseLease(pool, kind, first);
  expect(await claim(id)).toBeNull();

  await expire(id);
  expect(await claim(id)).not.toBeNull();
});

test('a holder is notified that another process took the row', async () => {
  const id = await addRow();
  const first = await mustClaim(id);
  await expire(id);
  expect(await claim(id)).not.toBeNull();
  expect(await isLost(first)).toBe(true);
});

test('a holder is notified that the row may no longer be processed', async () => {
  const id = await addRow();
  const lease = await mustClaim(id);
  await pool.query(`UPDATE leased_rows SET state = 'cancelled' WHERE id = $1`, [id]);
  expect(await isLost(lease)).toBe(true);
});

test('a failed run is logged and repeated after its lease expires, and stopping waits for running work', async () => {
  const id = await addRow();
  const failures: unknown[] = [];
  const failed = Promise.withResolvers<void>();
  const repeated = Promise.withResolvers<void>();
  let runs = 0;
  let isStopped = false;
  const work = startLeasedWork({
    databaseUrl,
    channel: 'leased_rows',
    maxConcurrent: 1,
    claim: () => claim(id),
    async run(_, stopping) {
      runs += 1;
      if (runs === 1) throw new Error('killed');
      repeated.resolve();
      await new Promise((resolve) => stopping.addEventListener('abort', resolve));
      isStopped = true;
    },
    failures: { run: 'a run failed', claim: 'claiming failed' },
    log: {
      warn: (...args: unknown[]) => {
        failures.push(args);
        failed.resolve();
      },
    },
  });
  await failed.promise;
  expect(await claim(id)).toBeNull();
  await expire(id);
  await repeated.promise;
  await work.stop();
  expect({ runs, isStopped, failures: failures.length }).toEqual({ runs: 2, isStopped: true, failures: 1 });
  const counts = (await jobSeconds.get()).values.filter(
    ({ metricName, labels }) => metricName?.endsWith('_count') === true && labels.queue === 'leased_rows',
  );
  expect(counts.map(({ labels, value }) => [labels.result, value])).toEqual([
    ['failed', 1],
    ['ok', 1],
  ]);
});

test('work that is announced while nothing is found is claimed without waiting for the next poll', async () => {
  let wakeUps = 0;
  const looking = Promise.withResolvers<void>();
  const isEmpty = Promise.withResolvers<null>();
  const lookedAgain = Promise.withResolvers<number>();
  let claims = 0;
  const work = startLeasedWork({
    databaseUrl,
    channel: 'leased_rows',
    maxConcurrent: 1,
    async claim() {
      claims += 1;
      looking.resolve();
      if (claims > 1) lookedAgain.resolve(wakeUps);
      return isEmpty.promise;
    },
    run: () => Promise.resolve(),
    failures: { run: 'a run failed', claim: 'claiming failed' },
    log: { warn: () => undefined },
    onWake: () => void (wakeUps += 1),
  });
  onTestFinished(() => work.stop());
  await looking.promise;
  work.wake();
  const announced = wakeUps;
  isEmpty.resolve(null);
  // The next poll would be one more.
  expect(await lookedAgain.promise).toBe(announced);
});
