// Upgrade orders that follow each other closely.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Upgrades } from '@edgeloom/agent/upgrade/upgrades.ts';
import { packStore } from '@edgeloom/agent/upgrade/release-store.ts';
import { Reports } from '@edgeloom/agent/upgrade/reports.ts';
import type { Log } from '@edgeloom/agent/log.ts';
import { expect, onTestFinished, test } from 'vitest';
import { releaseMaker } from '../support/builders/agent-releases.ts';
import { testDir } from '../support/services/test-dir.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Reports that take long to store. `onComplete` runs before the report of a completed order is stored. */
class SlowReports extends Reports {
  readonly seen: string[] = [];
  onComplete = () => {};
  override async add(report: Parameters<Reports['add']>[0]): Promise<void> {
    this.seen.push(report.state);
    if (report.state === 'complete') this.onComplete();
    await delay(200);
    await super.add(report);
  }
}

/** A node that has a pack, and the order to use it. */
async function nodeWithPack() {
  const make = await releaseMaker();
  onTestFinished(() => make.stop());
  const dir = await testDir();
  const pack = await make.pack('geo', '1.0.0', { rules: 'one' });
  await packStore(dir, 'geo').put(pack.name, pack.archive, pack.signed);
  const reports = new SlowReports(dir, silent);
  const upgrades = new Upgrades({
    home: null,
    dir,
    keysFile: make.keysFile,
    control: undefined,
    health: () => ({ nginx: 'running', error: null, rejected: [] }),
    usePacks: async () => {},
    changed: () => {},
    restart: () => {},
    reports,
    log: silent,
  });
  onTestFinished(() => upgrades.stop());
  const order = (upgradeID: string) =>
    upgrades.accept({
      id: randomUUID(),
      deadline: new Date().toISOString(),
      upgradeID,
      release: pack.signed,
      control: 'http://127.0.0.1',
      token: '',
    });
  /** Sends an order when the first order is complete, while its report is being stored. */
  const orderOnComplete = (upgradeID: string) =>
    new Promise<void>((resolve, reject) => {
      reports.onComplete = () => {
        reports.onComplete = () => {};
        order(upgradeID).then(resolve, reject);
      };
    });
  return { reports, order, orderOnComplete };
}

// Regression: the order after a complete one was refused, since that was still under way.
test('an upgrade order is accepted while the previous order reports its completion', async () => {
  const { reports, order, orderOnComplete } = await nodeWithPack();
  const next = orderOnComplete(randomUUID());
  await order(randomUUID());
  await next;
  expect(reports.seen).toEqual(['switching', 'complete', 'complete']);
});

// Regression: the re-sent order ran again.
test('an upgrade order that is re-sent during its completion report runs only once', async () => {
  const { reports, order, orderOnComplete } = await nodeWithPack();
  const id = randomUUID();
  const again = orderOnComplete(id);
  await order(id);
  await again;
  expect(reports.seen).toEqual(['switching', 'complete']);
});
