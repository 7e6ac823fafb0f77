// The board of groups and lines by keyboard and by pointer, with a preview before publishing. Also the dashboards' list
// "Needs attention".
import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { steering } from '../support/services/background-work.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { attentionItems } from '../support/builders/attention-items.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

async function zoneOfTaiwan() {
  const { build, installation } = consoles.app;
  const { db } = installation;
  const zone = await build.zone({ name: 'Asia' });
  const nodes = new Map<string, string>();
  for (const [i, name] of ['tpe-01', 'tpe-02', 'tpe-04', 'khh-01', 'hkg-01', 'tpe-05'].entries()) {
    const { id } = await build.node({ zone });
    const ip = `203.0.113.${i + 1}`;
    await db.edgeNode.update({ where: { id }, data: { name, ip, joinedAt: new Date() } });
    // One node's nginx is stopped; the others serve.
    const nginx = name === 'tpe-04' ? 'stopped' : 'running';
    await db.nodeState.create({ data: { nodeId: id, connectedAt: new Date(), lastSeenAt: new Date(), nginx } });
    nodes.set(name, id);
  }
  const backup = await db.group.create({ data: { zoneId: zone.id, name: 'Hong Kong backup', priority: 2 } });
  const core = await db.group.create({
    data: {
      zoneId: zone.id,
      name: 'Taiwan core',
      backupGroupId: backup.id,
      lines: ['cht', 'tfn', 'overseas', 'country-JP'],
    },
  });
  await db.group.create({
    data: { zoneId: zone.id, name: 'Video', priority: 3, backupGroupId: backup.id, forcedAt: new Date() },
  });
  const virtual = await db.virtualNode.create({ data: { zoneId: zone.id, name: 'v-hinet-cname' } });
  await db.virtualRecord.create({ data: { virtualNodeId: virtual.id, cname: 'cdn.example.net' } });
  const on = (groupId: string, line: string, name: string, weight: number) => ({
    groupId,
    line,
    nodeId: nodes.get(name) ?? null,
    weight,
  });
  await db.groupMember.createMany({
    data: [
      on(core.id, 'default', 'tpe-01', 40),
      on(core.id, 'default', 'tpe-02', 40),
      on(core.id, 'cht', 'tpe-01', 50),
      on(core.id, 'tfn', 'tpe-04', 50),
      on(core.id, 'tfn', 'khh-01', 50),
      on(backup.id, 'default', 'hkg-01', 100),
    ],
  });
  await db.groupMember.create({ data: { groupId: core.id, line: 'cht', virtualNodeId: virtual.id, weight: 50 } });
  await steering(installation)();
  return { zone, core, backup, nodes, virtual };
}

test('a node is moved to another line by keyboard, previewed and published', async () => {
  const { zone, core } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/resolutionTitle');
  const cell = (row: string, column: number) =>
    page
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: row }) })
      .getByRole('cell')
      .nth(column);
  const chip = cell('Taiwan Fixed Network', 0).getByRole('button', { name: /khh-01/ });
  await chip.focus();
  // Moving focus away drops the node.
  await page.keyboard.press('Space');
  await page.locator('[data-lifted]').waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => page.locator('[data-lifted]').count()).toBe(0);
  await chip.focus();
  for (const key of ['Space', 'ArrowUp', 'ArrowUp', 'Space']) await page.keyboard.press(key);
  await cell('Default', 0)
    .getByRole('button', { name: /khh-01/ })
    .waitFor();
  // Focus stays on the dropped node.
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/^khh-01/);
  const side = page.getByRole('complementary', { name: 'Unpublished changes' });
  await expect.poll(() => side.getByRole('listitem').filter({ hasText: 'Taiwan core' }).count()).toBe(2);
  // No node of the line is healthy, so its visitors get the default line's nodes.
  await page.getByRole('button', { name: 'Show the DNS answer on Taiwan core, Taiwan Fixed Network' }).click();
  await side.getByText('Answered with the default line.').waitFor();
  await side.getByText('203.0.113.4').waitFor();
  const { db } = consoles.app.installation;
  const onDefault = () => db.groupMember.count({ where: { groupId: core.id, line: 'default' } });
  expect(await onDefault()).toBe(2);
  await side.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(onDefault).toBe(3);
  // Undo puts it back where it was, with its weight.
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone').waitFor();
  expect(await onDefault()).toBe(2);
  await cell('Taiwan Fixed Network', 0)
    .getByRole('button', { name: /khh-01/ })
    .waitFor();
  await page.context().close();
});

test('removing a node, discarding or publishing by keyboard keeps focus on the board', async () => {
  const { zone, core } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/resolutionTitle');
  const focused = (selector: string) =>
    expect.poll(() => page.evaluate((at) => document.activeElement?.closest(at) !== null, selector)).toBe(true);
  const takeOff = async () => {
    await page.getByRole('button', { name: /khh-01/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove from this line' }).press('Enter');
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    await focused('td');
  };
  await takeOff();
  await page.getByRole('button', { name: 'Discard' }).press('Enter');
  await focused('section[tabindex]');
  await takeOff();
  await page.getByRole('button', { name: 'Publish' }).press('Enter');
  const { db } = consoles.app.installation;
  await expect.poll(() => db.groupMember.count({ where: { groupId: core.id, line: 'tfn' } })).toBe(1);
  await focused('section[tabindex]');
  // The name may stay as it is, but must not be empty.
  await page
    .getByRole('columnheader', { name: /Taiwan core/ })
    .getByRole('button')
    .click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Name', exact: true }).waitFor();
  await page.context().close();
});

// Regression: closed selects keep their list in the page, which was taken for an open one.
test('page shortcuts work beside closed selects', async () => {
  const { zone } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, `nodeManage/resolutionTitle?zone=${zone.id}`);
  const line = page.getByRole('combobox', { name: "Visitor's line" });
  await line.click();
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('listbox').waitFor({ state: 'hidden' });
  await page.locator('main h1').focus();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Add group' }).waitFor();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
  await page.context().close();
});

// Regression: a reload lost all moves.
test('unpublished moves and added lines survive a reload, and a discarded draft does not return', async () => {
  const { zone } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, `nodeManage/resolutionTitle?zone=${zone.id}`);
  page.on('dialog', (dialog) => void dialog.accept());
  const side = page.getByRole('complementary', { name: 'Unpublished changes' });
  await page.getByRole('button', { name: /khh-01/ }).focus();
  for (const key of ['Space', 'ArrowUp', 'ArrowUp', 'Space']) await page.keyboard.press(key);
  const edits = side.getByRole('listitem').filter({ hasText: 'Taiwan core' });
  await expect.poll(() => edits.count()).toBe(2);
  await page.reload();
  await expect.poll(() => edits.count()).toBe(2);
  await page.getByText('Draft restored').waitFor();
  await side.getByRole('button', { name: 'Discard' }).click();
  await page.reload();
  await page.getByRole('button', { name: /khh-01/ }).waitFor();
  await expect.poll(() => side.getByRole('button', { name: 'Discard' }).count()).toBe(0);
  await page.context().close();
});

test('offline nodes and nodes with rejected configuration are never shown as healthy', async () => {
  const { zone, nodes } = await zoneOfTaiwan();
  const { db } = consoles.app.installation;
  const [offline = '', rejected = ''] = [nodes.get('tpe-02'), nodes.get('tpe-01')];
  const longAgo = new Date(Date.now() - 3_600_000);
  // Port probes still succeed, so DNS still returns the node.
  await db.nodeState.update({ where: { nodeId: offline }, data: { connectedAt: null, lastSeenAt: longAgo } });
  await db.nodeState.update({
    where: { nodeId: rejected },
    data: { rejected: [{ key: 'zone', revision: 2, error: 'unknown directive "brotli_typo"' }] },
  });
  const { page } = await consoles.openAs(zone.client, 'nodeManage/resolutionTitle', { theme: 'dark' });
  const first = page.getByRole('rowheader', { name: 'Default' }).locator('..').getByRole('cell').first();
  await first.getByRole('img', { name: /^Offline · / }).waitFor();
  await first.getByRole('img', { name: /^Rejected config · / }).waitFor();
  await expect.poll(() => first.getByRole('img', { name: 'In DNS', exact: true }).count()).toBe(0);
  const preview = page.getByRole('complementary', { name: 'Unpublished changes' });
  await preview.getByText('tpe-02 · 40 · Offline').waitFor();
  await preview.getByText('tpe-01 · 40 · Rejected config').waitFor();
  await first.getByRole('button', { name: /tpe-01/ }).click();
  await page.getByRole('dialog').getByText('Still in DNS').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'groups-offline-rejected-dark');
  await page.context().close();
});

test('the backup group is forced after a confirmation, and released without one', async () => {
  const { zone, core } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/resolutionTitle');
  const head = page.getByRole('columnheader', { name: /Taiwan core/ });
  await head.getByRole('button').click();
  await page.getByRole('menuitem', { name: 'Force backup group' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Force backup group' }).click();
  await head.getByText('Backup forced since').waitFor();
  await head.getByRole('button').click();
  await page.getByRole('menuitem', { name: 'Lift forced backup' }).click();
  await head.getByText('Backup: Hong Kong backup').waitFor();
  const { forcedAt } = await consoles.app.installation.db.group.findUniqueOrThrow({ where: { id: core.id } });
  expect(forcedAt).toBeNull();
  await page.context().close();
});

test('a group without a backup shows why it cannot be forced', async () => {
  const { zone } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/resolutionTitle', { theme: 'dark' });
  await page.getByRole('button', { name: 'More actions for Hong Kong backup' }).click();
  const force = page.getByRole('menuitem', { name: 'Force backup group' });
  await force.getByText('No backup group').waitFor();
  await expect.poll(() => force.isDisabled()).toBe(true);
  // Regression: destructive actions were dark red on a dark background.
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.context().close();
});

test('a virtual node has records, and an enabled record cannot be removed', async () => {
  const { zone } = await zoneOfTaiwan();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/vNode');
  await page
    .getByRole('row', { name: /v-hinet-cname/ })
    .getByRole('button')
    .last()
    .click();
  await page.getByRole('menuitem', { name: 'Records' }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByRole('textbox').fill('198.51.100.7');
  await drawer.getByRole('button', { name: 'Add record' }).click();
  const remove = drawer.getByRole('button', { name: 'Remove 198.51.100.7' });
  await remove.waitFor();
  await drawer
    .getByRole('row', { name: /198\.51\.100\.7/ })
    .and(drawer.locator('[data-new]'))
    .waitFor();
  await drawer.locator('input:focus').waitFor();
  await keepPicture(page, 'virtual-record-new');
  await expect.poll(() => remove.isDisabled()).toBe(true);
  await drawer.getByRole('switch', { name: '198.51.100.7 is on' }).press('Space');
  await expect.poll(() => remove.isDisabled()).toBe(false);
  await remove.click();
  await expect.poll(() => remove.count()).toBe(0);
  await page.context().close();
});

describe('Needs attention', () => {
  test('links an operator to lists with exactly the counted rows', async () => {
    const site = await consoles.app.build.site();
    const names = await attentionItems(consoles.app.build, consoles.app.installation, site);
    const { page } = await consoles.openAs(site.client, 'dashboard');
    const panel = page.getByRole('region', { name: 'Needs attention' });
    await panel.getByRole('listitem').first().waitFor();
    await expect.poll(() => panel.getByRole('listitem').count()).toBe(Object.keys(names).length);
    await panel.getByText(names.nodesRejected).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, 'attention-operator');
    const items = [
      [names.nodesRejected, '1 node rejected its configuration'],
      [names.nodesOffline, '1 node is offline'],
      [names.nodesFailingMonitors, '1 node is failing its monitors'],
      [names.monitorsOffline, '1 monitor node is offline'],
      [names.nodesBehind, '1 node is out of sync'],
      [names.nodesLosingLogs, '1 node lost access log lines in the last 24 hours'],
      [names.sitesUnpublished, '1 site has a change that could not be published'],
      [names.cnameInactive, 'The CNAME of 1 domain is not active'],
      [names.certificatesMissing, '1 domain requires HTTPS but has no certificate'],
      [names.certificatesFailed, '1 certificate could not be issued'],
      [names.certificatesEnding, '1 certificate expires within 14 days or has expired'],
      [names.jobsFailed, '1 job failed in the last 24 hours'],
      [names.nodeJobsFailed, 'An installation or upgrade of 1 node failed in the last 24 hours'],
    ] as const;
    for (const [name, text] of items) {
      await panel.getByRole('link', { name: `Open: ${text}` }).click();
      await page.locator('tbody tr').filter({ hasText: name }).waitFor();
      expect(await page.locator('tbody [data-row]').count(), name).toBe(1);
      await page.goBack();
    }
    await panel.getByRole('link', { name: 'Open: 1 rollout stopped' }).click();
    await page.getByRole('button', { name: /^Stopped is Yes/ }).waitFor();
    await expect.poll(() => page.locator('tbody [data-row]').count()).toBe(1);
    await page.goBack();
    const unused = panel.getByRole('listitem').filter({ hasText: 'CORS: 1 module applies to no domain' });
    await unused.getByText(`${names.modulesUnused} · ${site.name}`).waitFor();
    await unused.getByRole('link').click();
    await page.getByRole('heading', { name: 'CORS', level: 1 }).waitFor();
    await page.getByRole('heading', { name: names.modulesUnused }).waitFor();
    await page.goto('/client/nodeManage/nodesList');
    const first = page.locator('tbody [data-row]').first();
    await first.getByText(names.nodesRejected).waitFor();
    await first.getByText('no such directive').waitFor();
    await keepPicture(page, 'nodes-rejected-first');
    await page.context().close();
  });

  test('shows a customer its own sites, and a message when nothing needs attention', async () => {
    const site = await consoles.app.build.site();
    const names = await attentionItems(consoles.app.build, consoles.app.installation, site);
    const look = { language: 'zh-TW', theme: 'dark', width: 390 } as const;
    const { page } = await consoles.openAs(site.owner, 'dashboard', look);
    const panel = page.getByRole('region', { name: '需要處理' });
    await panel.getByText(names.cnameInactive).waitFor();
    await expect.poll(() => panel.getByRole('listitem').count()).toBe(SiteAttention.options.length);
    expect(await accessibilityViolations(page)).toEqual([]);
    await panel.scrollIntoViewIfNeeded();
    await keepPicture(page, 'attention-customer-390-dark-zh-TW');
    await panel.getByRole('link', { name: '檢視: 1 個網域的 CNAME 未生效' }).click();
    await page.getByText(names.cnameInactive).first().waitFor();
    await expect.poll(() => page.getByText(/healthy-/).count()).toBe(0);
    await page.context().close();
    const well = await consoles.openAs((await consoles.app.build.site()).owner, 'dashboard');
    await well.page.getByText('All clear. Nothing needs your attention.').waitFor();
    await well.page.context().close();
  });
});
