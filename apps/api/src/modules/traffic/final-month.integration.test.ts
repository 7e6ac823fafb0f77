import { afterAll, expect, test } from 'vitest';
import { logBatch, logLine, logStore } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { billingMonth, monthOf } from './billing-month.ts';
import { isMonthFinal } from './final-month.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const HOUR_MS = 3_600_000;
/** A month that is over. */
const { from: nextMonth } = monthOf(Date.now());
const month = monthOf(nextMonth - 1);
const logs = logStore(pool);

test('a month is final when it is over and all of its nodes have reported a later time', async () => {
  const site = await build.site();
  const [first, second, silent] = [
    await build.node({ zone: site.zone }),
    await build.node({ zone: site.zone }),
    await build.node({ zone: site.zone }),
  ];
  const reported = new Map<string, number>();
  const report = async (id: string, time: number) => {
    const batch = logBatch(logLine(site.id, { time: time / 1000 }), reported.get(id) ?? 0);
    reported.set(id, batch.to);
    await logs.store(id, batch, new Date());
  };
  const isFinal = (now: number) => isMonthFinal(pool, site.clientId, month, now);

  for (const { id } of [first, second]) await report(id, month.to - HOUR_MS);
  await report(silent.id, month.from - HOUR_MS);
  expect(await isFinal(month.to - 1)).toBe(false);
  expect(await isFinal(month.to)).toBe(false);
  await report(first.id, month.to);
  expect(await isFinal(month.to + HOUR_MS)).toBe(false);
  await report(second.id, month.to - 1);
  expect(await isFinal(month.to + HOUR_MS)).toBe(false);
  await report(second.id, month.to + HOUR_MS);
  expect(await isFinal(month.to + HOUR_MS)).toBe(true);
  expect(await isMonthFinal(pool, site.clientId, billingMonth(month.year, month.month), month.to - 1)).toBe(false);
});

test('a node that never reports again holds a month back until it is removed, or for seven days', async () => {
  const site = await build.site();
  const { id } = await build.node({ zone: site.zone });
  await logs.store(id, logBatch(logLine(site.id, { time: (month.to - HOUR_MS) / 1000 })), new Date());
  const isFinal = (now: number) => isMonthFinal(pool, site.clientId, month, now);
  expect(await isFinal(month.to + 7 * 24 * HOUR_MS - 1)).toBe(false);
  expect(await isFinal(month.to + 7 * 24 * HOUR_MS)).toBe(true);
  await db.edgeNode.delete({ where: { id } });
  expect(await isFinal(month.to)).toBe(true);
});
