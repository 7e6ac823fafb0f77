// Upgrade orders that follow each other closely.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Upgrades } from '@edgeloom/agent/upgrade/upgrades.ts';
import { packStore } from '@edgeloom/agent/upgrade/release-store.ts';
import { Reports } from '@edgeloom/agent/upgrade/reports.ts';
import type { Log } from '@edgeloom/agent/log.ts';
import { WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import { packText } from '@edgeloom/waf-rules/pack.ts';
import { currentWafPack } from '@edgeloom/waf-rules/write-pack.ts';
import { expect, onTestFinished, test } from 'vitest';
import { releaseMaker } from '../support/builders/agent-releases.ts';
import { testDir } from '../support/services/test-dir.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Reports that take long to store. `onComplete` runs before the report of a completed order is stored. */
class SlowReports extends Reports {
  readonly seen: string[] = [];
  last = '';
  onComplete = () => {};
  override async add(report: Parameters<Reports['add']>[0]): Promise<void> {
    this.seen.push(report.state);
    this.last = report.message;
    if (report.state === 'complete') this.onComplete();
    await delay(200);
    await super.add(report);
  }
}

/** The rules that nginx uses, whatever pack is installed. */
const OWN_RULES = '2099.5.0';

/** A node that has packs, and the order to use one of them: by default that of `geo`. */
async function nodeWithPack() {
  const make = await releaseMaker();
  onTestFinished(() => make.stop());
  const dir = await testDir();
  const pack = await make.pack('geo', '1.0.0', { rules: 'one' });
  await packStore(dir, 'geo').put(pack.name, pack.archive, pack.signed);
  /** A WAF pack that the node has as well. */
  const wafPack = async (version: string) => {
    const waf = await make.pack('waf', version, { [WAF_FILE]: packText({ ...(await currentWafPack()), version }) });
    await packStore(dir, 'waf').put(waf.name, waf.archive, waf.signed);
    return { release: waf.signed };
  };
  const reports = new SlowReports(dir, silent);
  const upgrades = new Upgrades({
    home: null,
    dir,
    keysFile: make.keysFile,
    control: undefined,
    health: () => ({ nginx: 'running', error: null, rejected: [] }),
    usePacks: async () => {},
    wafVersion: async () => OWN_RULES,
    changed: () => {},
    restart: () => {},
    reports,
    log: silent,
  });
  onTestFinished(() => upgrades.stop());
  const order = (upgradeID: string, more: { release?: typeof pack.signed; rollback?: boolean } = {}) =>
    upgrades.accept({
      id: randomUUID(),
      deadline: new Date().toISOString(),
      upgradeID,
      release: pack.signed,
      control: 'http://127.0.0.1',
      token: '',
      ...more,
    });
  /** Sends an order when the first order is complete, while its report is being stored. */
  const orderOnComplete = (upgradeID: string) =>
    new Promise<void>((resolve, reject) => {
      reports.onComplete = () => {
        reports.onComplete = () => {};
        order(upgradeID).then(resolve, reject);
      };
    });
  return { reports, order, orderOnComplete, wafPack };
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

const ignored = (version: string) =>
  `the waf pack has the rules ${version}, and this agent's own rules ${OWN_RULES} are newer`;

// Regression: the pack was reported as complete, although the agent used its own rules.
test('a WAF pack that is older than the rules of the agent is rolled back, and the report names both', async () => {
  const { reports, order, wafPack } = await nodeWithPack();
  await order(randomUUID(), await wafPack('2099.4.9'));
  await expect.poll(() => reports.seen).toEqual(['switching', 'rolledBack']);
  expect(reports.last).toBe(ignored('2099.4.9'));
});

test('a WAF pack that nginx uses is complete', async () => {
  const { reports, order, wafPack } = await nodeWithPack();
  await order(randomUUID(), await wafPack(OWN_RULES));
  await expect.poll(() => reports.seen).toEqual(['switching', 'complete']);
  expect(reports.last).toBe('');
});

test('a rollback to a WAF pack that the agent ignores is complete, and says so', async () => {
  const { reports, order, wafPack } = await nodeWithPack();
  await order(randomUUID(), { ...(await wafPack('2099.4.9')), rollback: true });
  await expect.poll(() => reports.seen).toEqual(['switching', 'complete']);
  expect(reports.last).toBe(ignored('2099.4.9'));
});
