import { afterAll, expect, test } from 'vitest';
import { logBatch, logLine, logStore, sessionLine } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { monthOf } from '../../statistics/billing-month.ts';
import { readNotFinalReason } from './final-month.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The month before the last one, because lines cannot be of the future. */
const month = monthOf(monthOf(monthOf(Date.now()).from - 1).from - 1);
/** From then on a month can be final. */
const later = month.to + 10 * MINUTE_MS;
const logs = logStore(pool);

type Site = Awaited<ReturnType<typeof build.site>>;
type Kind = 'requests' | 'sessions';

/** The node's only line of this kind, or of a file that follows it. */
const report = (node: { id: string }, site: Site, kind: Kind, time: number) => {
  const line = kind === 'requests' ? logLine : sessionLine;
  const batch = logBatch(line(site.id, { time: time / 1000 }), 0, `${kind}-${time}`);
  return logs.store(node.id, { ...batch, kind }, new Date());
};
const reasonOf = ({ clientId }: Site, now = later) => readNotFinalReason(pool, clientId, month, now);
const isFinal = async (site: Site, now = later) => (await reasonOf(site, now)) === null;
const joined = async (site: Site) => {
  const node = await build.node({ zone: site.zone });
  await db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date(month.from) } });
  return node;
};

test('a month is final when each node has sent requests and sessions of ten minutes after it', async () => {
  const site = await build.site();
  expect([await reasonOf(site, later - 1), await reasonOf(site, later)]).toEqual(['notOver', null]);
  const nodes = [await joined(site), await joined(site)] as const;
  for (const node of nodes)
    for (const kind of ['requests', 'sessions'] as const) {
      await report(node, site, kind, month.to);
      await report(node, site, kind, later - 1000);
      expect(await isFinal(site)).toBe(false);
      await report(node, site, kind, later);
    }
  expect([await isFinal(site, later - 1), await isFinal(site, later)]).toEqual([false, true]);
});

test('a node without lines has sent all with an empty report', async () => {
  const site = await build.site();
  const node = await joined(site);
  await logs.store(node.id, logBatch('', 0), new Date());
  expect(await isFinal(site)).toBe(false);
  await logs.store(node.id, { ...logBatch('', 0, 'none'), kind: 'sessions' }, new Date());
  expect(await isFinal(site)).toBe(true);
});

// Used to hold back each month for seven days.
test.each(['of a relay', 'that cannot be read'])('lines %s show that the month has been sent', async (what) => {
  const site = await build.site();
  const node = await joined(site);
  await report(node, site, 'sessions', later);
  const send = (time: number) => {
    const relayed = logLine(site.id, { time: time / 1000 }).replace('"id":', '"relayed":true,"id":');
    const text = what === 'of a relay' ? relayed : `{"time":${time / 1000},"of":"another release"}\n`;
    return logs.store(node.id, logBatch(text.repeat(2), 0, `requests-${time}`), new Date());
  };
  await send(later - 1000);
  expect(await isFinal(site)).toBe(false);
  await send(later);
  expect(await isFinal(site)).toBe(true);
});

test('lines of a batch that is not accepted do not make a month final', async () => {
  const site = await build.site();
  const node = await joined(site);
  for (const kind of ['requests', 'sessions'] as const)
    await logs.store(node.id, { ...logBatch('', 7, kind), kind }, new Date());
  expect(await isFinal(site)).toBe(false);
});

test('a node that was away for the whole month, or that moved to another zone, holds it back', async () => {
  const site = await build.site();
  const node = await joined(site);
  expect(await isFinal(site)).toBe(false);
  await report(node, site, 'sessions', later);
  await report(node, site, 'requests', month.to - HOUR_MS);
  const other = await build.product({ zone: await build.zone({ tenant: site }) });
  await db.edgeNode.update({ where: { id: node.id }, data: { zoneId: other.zoneId } });
  expect(await isFinal(site)).toBe(false);
  await report(node, site, 'requests', later);
  expect(await isFinal(site)).toBe(true);
});

test('a node that has not joined, or that joined later, does not hold a month back', async () => {
  const site = await build.site();
  await build.node({ zone: site.zone });
  const { id } = await build.node({ zone: site.zone });
  await db.edgeNode.update({ where: { id }, data: { joinedAt: new Date(month.to) } });
  expect(await isFinal(site)).toBe(true);
});

test('a node that never reports again holds a month back until it is removed, or for seven days', async () => {
  const site = await build.site();
  const { id } = await joined(site);
  const last = month.to + 7 * 24 * HOUR_MS;
  expect([await reasonOf(site, last - 1), await reasonOf(site, last)]).toEqual(['missingLogs', null]);
  await db.edgeNode.delete({ where: { id } });
  expect(await isFinal(site)).toBe(true);
});

test('months that begin before the ledger are never final', async () => {
  const site = await build.site();
  const start = await db.usageLedgerStart.create({ data: { at: new Date(month.from + 1) } });
  expect(await reasonOf(site, month.to + 30 * 24 * HOUR_MS)).toBe('beforeLedger');
  await db.usageLedgerStart.update({ where: start, data: { at: new Date(month.from) } });
  expect(await isFinal(site)).toBe(true);
});
