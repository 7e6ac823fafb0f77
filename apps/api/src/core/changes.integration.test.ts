import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { testApp } from '../../../../tests/support/services/app.ts';
import { changed } from './changes.ts';

const { build, installation, close } = await testApp();
afterAll(close);

// Regression: with a fast clock of the API's machine, a change seemed to wait less than nothing.
test('the time of a change is of the database, by whose clock its delay is measured', async () => {
  const { id: zoneId } = await build.zone();
  const { db, pool } = installation;
  await db.outbox.deleteMany({ where: { zoneId } });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
  await changed(db, zoneId, 'zone');
  const { rows } = await pool.query<{ isPast: boolean }>(
    'SELECT created_at <= clock_timestamp() AS "isPast" FROM outbox WHERE zone_id = $1',
    [zoneId],
  );
  expect(rows).toEqual([{ isPast: true }]);
});
