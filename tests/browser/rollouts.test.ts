// An operator watches something go to nodes wave by wave, stops it, and sees it taken back.
import type { RolloutGate } from '@edgeloom/contract/rollouts/rollouts.ts';
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConsoles, type Consoles } from '../support/consoles.ts';
import { keepPicture } from '../support/pictures.ts';

let consoles: Consoles;
beforeAll(async () => {
  // Nobody carries rollouts on here: what they come to is written below.
  consoles = await startConsoles();
}, 180_000);
afterAll(() => consoles.stop());

const gate = (name: RolloutGate['gate'], more: Partial<RolloutGate> = {}): RolloutGate => ({
  gate: name,
  state: 'passed',
  nodeID: null,
  nodeName: null,
  value: null,
  limit: null,
  before: null,
  others: null,
  requests: null,
  message: null,
  ...more,
});
const gates = { serverErrors: 0.05, latencyFactor: 3, requests: 20 };
const strategy = { type: 'waves', canary: true, percent: [50, 100], soakSeconds: 60, deadlineSeconds: 600, gates };
const waves = [null, 50, 100].map((percent, position) => ({ position, percent }));

test('its waves and gates are followed as they come, somebody pauses it with a reason, and why it went back is said with figures', async () => {
  const { build, as, installation } = consoles.app;
  const { db } = installation;
  const zone = await build.zone();
  const nodes = [await build.node({ zone }), await build.node({ zone }), await build.node({ zone })];
  const [first, second, third] = nodes.map(({ id }) => id);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three were made');
  const at = new Date();
  const { id: rolloutId } = await build.rollout(nodes[0] ?? expect.fail(), {
    target: { product: 'agent', version: '2.4.1' },
    strategy,
    state: 'running',
    reason: 'Fixes a leak',
    endedAt: null,
    waves: {
      create: waves.map((wave) => ({ ...wave, ...(wave.position === 0 && { state: 'updating', startedAt: at }) })),
    },
    nodes: {
      create: [first, second, third].map((nodeId, wave) => ({
        nodeId,
        wave,
        state: wave === 0 ? 'updating' : 'waiting',
      })),
    },
    lines: { create: { event: 'begun', by: 'noc', message: 'Fixes a leak' } },
  });
  const { page } = await consoles.openAs(zone.client, 'nodeManage/nodesList', { language: 'en' });
  await page.getByText('Rolling out Agent 2.4.1: wave 1, 0 of 1 nodes').waitFor();
  await page.getByRole('link', { name: 'Details' }).click();
  await page.getByRole('heading', { level: 1, name: 'Agent 2.4.1' }).waitFor();
  await page.getByText('By itself, from every node that has it').waitFor();

  const wave = (position: number, data: object) =>
    db.rolloutWave.update({ where: { rolloutId_position: { rolloutId, position } }, data });
  const node = (nodeId: string, data: object) =>
    db.rolloutNode.update({ where: { rolloutId_nodeId: { rolloutId, nodeId } }, data });
  const steps = page.locator('main ol').first();
  await node(first, { state: 'updated', before: { version: '2.4.0' } });
  await wave(0, {
    state: 'passed',
    endedAt: new Date(),
    gates: [gate('complete'), gate('connected'), gate('latency', { state: 'notJudged', requests: 7 })],
  });
  await wave(1, { state: 'soaking', startedAt: new Date(), soakEndsAt: new Date(Date.now() + 3_600_000) });
  await node(second, { state: 'updated' });
  await db.rollout.update({ where: { id: rolloutId }, data: { wave: 1 } });
  await steps.getByText('Every node has it; Every node is connected').waitFor();
  await steps.getByText('only 7 answers so far: not judged').waitFor();
  await steps.getByText(/^1 of 1 node · watched for/).waitFor();
  expect(await steps.locator('[aria-current="step"]').textContent()).toContain('Wave 2 · 50% of each zone');
  await keepPicture(page, 'rollout-soaking');

  const head = page.locator('main header');
  await head.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Nothing more begins.').waitFor();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await dialog.getByText('Required').waitFor();
  await dialog.getByLabel('Why').fill('Visitors complain');
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('stands still at wave 2').waitFor();
  await head.getByRole('button', { name: 'Continue' }).waitFor();
  const told = await as(zone.client).call(rollouts.get, { params: { id: rolloutId } });
  expect(told.state).toBe('paused');

  const message = 'answers of 5xx rose to 17.43 %';
  const figures = { value: 0.1743, limit: 0.0512, before: 0.0012, others: 0.0009, requests: 3120 };
  await wave(1, {
    state: 'failed',
    endedAt: new Date(),
    gates: [gate('serverErrors', { state: 'failed', nodeID: second, nodeName: 'tpe-02', message, ...figures })],
  });
  await db.rollout.update({ where: { id: rolloutId }, data: { state: 'rollingBack', fault: 'serverErrors', message } });
  await steps.getByText('Answers of 5xx · at tpe-02').waitFor();
  await steps.getByText('17.43% of 3,120 answers, 5.12% at most; before 0.12%, nodes without it 0.09%').waitFor();
  await page.getByText('Going back: Agent 2.4.1, too many answers of 5xx').waitFor();
  expect(await head.getByRole('button').count()).toBe(0);
  for (const nodeId of [first, second]) await node(nodeId, { state: 'back', endedAt: new Date() });
  await db.rolloutLine.create({ data: { rolloutId, event: 'goesBack', detail: 'serverErrors', message } });
  await db.rolloutLine.create({ data: { rolloutId, nodeId: second, event: 'askedBack', wave: 1 } });
  await db.rollout.update({ where: { id: rolloutId }, data: { state: 'rolledBack', endedAt: new Date() } });
  await page.getByText('went back: too many answers of 5xx').waitFor();
  await page.getByText('Log', { exact: true }).click();
  const log = page.getByRole('log');
  await log.getByText('Goes back: too many answers of 5xx').waitFor();
  await log.getByText(/^Paused/).waitFor();
  await keepPicture(page, 'rollout-back');

  await page.getByText('Nodes', { exact: true }).last().click();
  await page
    .getByRole('row', { name: nodes[1]?.name ?? '' })
    .getByRole('link')
    .click();
  await page.getByRole('log').getByText('Asked to go back').waitFor();
  await page.getByRole('log').getByRole('link', { name: 'Agent 2.4.1' }).waitFor();
  await keepPicture(page, 'node-upgrade-log');
});
