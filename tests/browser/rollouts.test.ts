// An operator upgrades a fake fleet: starts it, follows its waves, pauses it, and sees why it was rolled back.
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { FakeFleet, START } from '../support/fakes/fake-fleet.ts';
import { createReleaseStore } from '../support/builders/release-store.ts';

let consoles: Consoles;
beforeAll(async () => {
  const releaseStore = await createReleaseStore();
  await releaseStore.put('agent', '1.0.0');
  await releaseStore.put('agent', '1.1.0');
  consoles = await startConsoles(releaseStore.settings);
}, 180_000);
afterAll(() => consoles.stop());

test(
  'an operator starts an upgrade, pauses it, and sees the figures of the gate that rolls it back',
  { timeout: 300_000 },
  async () => {
    const { build, as, installation } = consoles.app;
    const { db } = installation;
    const zone = await build.zone();
    const made = await Promise.all(Array.from({ length: 4 }, () => build.node({ zone })));
    const ids = made.map(({ id }) => id);
    await db.edgeNode.updateMany({ where: { id: { in: ids } }, data: { joinedAt: new Date(START) } });
    const fleet = new FakeFleet(installation, ids);
    fleet.now = Date.now();
    await fleet.connect(...fleet.nodes);
    const { page } = await consoles.openAs(zone.client, 'systemManagement/systemUpgrade', { language: 'en' });
    // The notice of a running upgrade looks for one every twenty seconds.
    await page.addInitScript((noticeMs) => {
      const { setInterval: start } = window;
      Reflect.set(window, 'setInterval', (run: () => void, ms: number) => {
        if (ms !== noticeMs) return start(run, ms);
        Reflect.set(window, 'hasShortNotice', true);
        return start(run, 500);
      });
    }, 20_000);
    await page.reload();
    await expect.poll(() => page.evaluate(() => Reflect.get(window, 'hasShortNotice'))).toBe(true);

    // The form shows the waves and the rollback before the upgrade starts.
    const agent = page.getByRole('listitem').filter({ hasText: 'Agent' }).filter({ hasText: '1.0.0: 4' });
    await agent.getByText('4 out of date').waitFor();
    await agent.getByRole('button', { name: 'Upgrade 4 nodes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('4 nodes', { exact: true }).waitFor();
    await dialog.getByRole('combobox', { name: 'Strategy' }).click();
    await page.getByRole('option', { name: /^All at the same time/ }).click();
    await dialog.getByText('No automatic rollback: the fast lane has no waves').waitFor();
    await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click();
    await dialog.locator('[aria-invalid="true"][name="reason"]').waitFor();
    await dialog.getByRole('combobox', { name: 'Strategy' }).click();
    await page.getByRole('option', { name: /^Fast/ }).click();
    await dialog.getByText('Wave 2 · 50% of each zone').waitFor();
    await dialog.getByText('All updated nodes roll back automatically').waitFor();
    await dialog.getByLabel('Reason').fill('It leaks');
    await keepPicture(page, 'upgrade-form');
    await dialog.getByRole('button', { name: 'Upgrade', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Agent 1.1.0' }).waitFor();

    const { call } = as(zone.client);
    const id = (await call(rollouts.list)).data[0]?.id ?? '';
    const get = () => call(rollouts.get, { params: { id } });
    const runner = await fleet.runner(id);
    /** Ticks the runner, lets nodes report, and advances the clock by two seconds, for ten minutes at most. */
    const until = async (isSo: (now: Awaited<ReturnType<typeof get>>) => boolean) => {
      for (let second = 0; second < 600; second += 2) {
        if (isSo(await get())) return;
        await runner.tick();
        await fleet.report();
        fleet.pass(2);
      }
      throw new Error('the condition was never met');
    };
    const steps = page.locator('main ol').first();
    await until(({ waves }) => waves[1]?.state === 'soaking');
    await steps.getByText('Nodes updated · Nodes online').first().waitFor();
    await steps.locator('[aria-current="step"]').getByText('Wave 2 · 50% of each zone').waitFor();
    await page
      .getByRole('region', { name: 'Console notices' })
      .getByText(/^Rolling out Agent 1\.1\.0: wave 2/)
      .waitFor();
    await keepPicture(page, 'rollout-soaking');

    const head = page.locator('main header');
    await head.getByRole('button', { name: 'Pause' }).press('Enter');
    await dialog.getByText('No further nodes are updated.').waitFor();
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await dialog.locator('[aria-invalid="true"][name="reason"]').waitFor();
    await dialog.getByLabel('Reason').fill('Visitors complain');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused at wave 2').waitFor();
    expect((await get()).state).toBe('paused');
    // Focus moves to the button that replaces the pressed one.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Continue');

    // Updated nodes are watched during a pause, too.
    for (const node of fleet.nodes)
      node.traffic = ({ version }) => ({ requests: 100, serverErrors: version === '1.1.0' ? 40 : 0, p99Ms: 20 });
    await until(({ endedAt }) => endedAt !== null);
    await head.getByText('too many 5xx responses').waitFor();
    await steps.getByText(/^5xx responses · on /).waitFor();
    await steps.getByText(/^40\.00% of [\d,]+ requests, limit [\d.]+%/).waitFor();
    await expect.poll(() => head.getByRole('button').count()).toBe(0);
    await page.getByText('Log', { exact: true }).click();
    const log = page.getByRole('log');
    await log.getByText('Rolling back: too many 5xx responses').waitFor();
    await log.getByText(/: 40\.00% of [\d,]+ responses were 5xx, limit [\d.]+%/).waitFor();
    await log.getByText(/^Paused/).waitFor();
    await log
      .getByText(/ Rolled back$/)
      .first()
      .waitFor();
    // The log lists the newest line first.
    await expect.poll(() => log.getByRole('listitem').last().textContent()).toMatch(/Started/);
    await keepPicture(page, 'rollout-back');

    await page.getByText('Nodes', { exact: true }).last().click();
    await page.getByRole('row').filter({ hasText: 'Rolled back' }).last().getByRole('link').click();
    await page.getByRole('log').getByText('Rollback requested').waitFor();
    await page.getByRole('log').getByRole('link', { name: 'Agent 1.1.0' }).first().waitFor();
    await keepPicture(page, 'node-upgrade-log');
  },
);

// The form used to send the call without nodes, and showed an error at a field that it does not have.
test('an upgrade without nodes is not started, and shows an error at the version', { timeout: 120_000 }, async () => {
  const { build, installation } = consoles.app;
  const node = await build.node();
  await installation.db.edgeNode.update({ where: { id: node.id }, data: { joinedAt: new Date(START) } });
  const fleet = new FakeFleet(installation, [node.id]);
  fleet.at(0).version = '1.1.0';
  await fleet.connect(...fleet.nodes);
  const { page } = await consoles.openAs(node.zone.client, 'systemManagement/systemUpgrade', { language: 'en' });
  await page.getByRole('button', { name: 'Roll out a version' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByText('No node needs this upgrade').waitFor();
  await form.getByRole('button', { name: 'Upgrade', exact: true }).click();
  const version = form.getByRole('combobox', { name: 'Version' });
  await expect.poll(() => version.getAttribute('aria-invalid')).toBe('true');
  await version.click();
  await page.getByRole('option', { name: '1.0.0' }).click();
  await form.getByText('1 node', { exact: true }).waitFor();
  await form.getByText('This is older than the version of some nodes').waitFor();
  await page.context().close();
});

test('upgrades in progress that are not listed are counted, with a link to all of them', async () => {
  const { build } = consoles.app;
  const node = await build.node();
  for (let i = 0; i < 27; i += 1) await build.rollout(node, { state: 'paused', endedAt: null });
  const { page } = await consoles.openAs(node.zone.client, 'systemManagement/systemUpgrade', { language: 'en' });
  await page.getByText('and 2 more').waitFor();
  await keepPicture(page, 'upgrades-more');
  await page.getByRole('link', { name: 'Show all' }).click();
  await page.getByText('1–25 of 27').waitFor();
  await expect.poll(() => new URL(page.url()).search).toContain('kind=release');
  await page.context().close();
});

test('the bar of an upgrade is as wide as its share of updated nodes, and empty before the first', async () => {
  const { build } = consoles.app;
  const [node, other] = [await build.node(), await build.node()];
  const states = (...all: [{ id: string }, string][]) => ({
    state: 'paused',
    endedAt: null,
    nodes: { create: all.map(([{ id }, state]) => ({ nodeId: id, wave: 0, state })) },
  });
  await build.rollout(node, states([node, 'waiting']));
  await build.rollout(node, states([node, 'updated'], [other, 'waiting']));
  const { page } = await consoles.openAs(node.zone.client, 'systemManagement/systemUpgrade', { language: 'en' });
  /** Widths of the coloured parts, as shares of the bar. */
  const shares = async (progress: string) => {
    const bar = page.locator('span', { hasText: new RegExp(`^${progress}$`) }).locator('> [aria-hidden]');
    await bar.first().waitFor();
    return bar.first().evaluate((shown) => {
      const { width } = shown.getBoundingClientRect();
      return Object.fromEntries(
        Array.from(shown.children, (part) => [
          part.getAttribute('data-part'),
          part.getBoundingClientRect().width / width,
        ]),
      );
    });
  };
  expect(await shares('0 of 1')).toEqual({ updated: 0, failed: 0, rolledBack: 0 });
  expect(await shares('1 of 2')).toEqual({ updated: 0.5, failed: 0, rolledBack: 0 });
  await page.context().close();
});

test('the upgrade log of a node has pages', async () => {
  const { build, installation } = consoles.app;
  const node = await build.node();
  const rollout = await build.rollout(node);
  await installation.db.rolloutLine.createMany({
    data: Array.from({ length: 119 }, () => ({ rolloutId: rollout.id, nodeId: node.id, event: 'asked' })),
  });
  const place = `nodeManage/nodesList/${node.id}?tab=upgrades`;
  const { page } = await consoles.openAs(node.zone.client, place, { language: 'en' });
  const lines = page.getByRole('log').getByRole('listitem');
  const next = page.getByRole('button', { name: 'Next page' });
  for (const count of [50, 50]) {
    await expect.poll(() => lines.count()).toBe(count);
    await next.click();
  }
  await expect.poll(() => lines.count()).toBe(20);
  await keepPicture(page, 'upgrade-log-pages');
  await page.context().close();
});
