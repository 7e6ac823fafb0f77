// Blocked addresses, and how a visitor of the logs gets onto a list of its site.
import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { blacklists, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { blockingNode } from '../support/fakes/blocking-node.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
let node: Awaited<ReturnType<typeof blockingNode>>;
const address = 'dataAnalysis/blockIPs';

beforeAll(async () => {
  consoles = await startConsoles();
  const { app } = consoles;
  site = await app.build.site({ name: 'Glow Select' });
  const reason = 'bots';
  await app.as(site.client).call(ipset.set, {
    params: { zoneId: site.zone.id },
    body: { enabled: true, timeout: 600, max: 1000, reason },
  });
  node = await blockingNode(app.installation.pool, site.zone);
}, 400_000);
afterAll(() => consoles.stop());

test('blocks are unblocked together, with undo, and by cause', { timeout: 240_000 }, async () => {
  const empty = await consoles.openAs(site.owner, address, { width: 360, theme: 'dark', language: 'zh-CN' });
  await empty.page.getByText('当前没有封禁任何地址').waitFor();
  await keepPicture(empty.page, 'block-ips-empty-360-dark-zh-CN');
  expect(await accessibilityViolations(empty.page)).toEqual([]);
  await empty.page.context().close();

  await node.say(['203.0.113.7', '203.0.113.8', '2001:db8:0:1::/64'], {}, 'acl', site.id);
  await node.say(['198.51.100.9'], {}, 'antiCC', site.id);
  const { page } = await consoles.openAs(site.client, address);
  await page.getByRole('row').filter({ hasText: '198.51.100.9' }).waitFor();
  await keepPicture(page, 'block-ips-1440');
  expect(await accessibilityViolations(page)).toEqual([]);
  for (const ip of ['203.0.113.7', '203.0.113.8'])
    await page.getByRole('row').filter({ hasText: ip }).getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Unblock', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click();
  await expect.poll(() => page.locator('tbody tr[data-row]').count()).toBe(2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => page.locator('tbody tr[data-row]').count()).toBe(4);

  await page.getByRole('button', { name: 'Unblock all' }).click();
  await page.getByRole('menuitem', { name: 'Access rule' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unblock' }).click();
  await page.getByText('3 addresses unblocked').waitFor();
  await expect.poll(() => page.locator('tbody tr[data-row]').count()).toBe(1);
  await page.context().close();

  const phone = await consoles.openAs(site.client, address, { width: 360, theme: 'dark', language: 'zh-TW' });
  await phone.page.getByText('198.51.100.9').waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'block-ips-360-dark-zh-TW');
  expect(await accessibilityViolations(phone.page)).toEqual([]);
  await phone.page.context().close();
});

test('people lift the block of their own address with one button', { timeout: 240_000 }, async () => {
  const { app } = consoles;
  await node.say(['203.0.113.50'], {}, 'waf', site.id);
  await app.installation.pool.query(`UPDATE blocks SET network = '127.0.0.1' WHERE network = '203.0.113.50'`);
  const { page } = await consoles.openAs(site.owner, address);
  await page.getByText('Your own address 127.0.0.1 is blocked.').waitFor();
  await page.getByRole('button', { name: 'Unblock my address' }).click();
  await page.getByText('Your own address').waitFor({ state: 'detached' });
  expect(await app.as(site.owner).call(blockIPs.own)).toMatchObject({ blocks: [] });
  await page.context().close();
});

test('a visitor in the logs is blocked for a day and exempted on its path', { timeout: 240_000 }, async () => {
  const { app } = consoles;
  const { id: nodeId } = await app.build.node({ zone: site.zone });
  await addLogs(app.installation.pool, nodeId, [
    logLine(site.id, { uri: '/api/orders', address: '203.0.113.77', status: 403 }),
    logLine(site.id, { uri: '/own-check', address: '127.0.0.1', status: 403 }),
  ]);
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger');
  await page.getByText('/api/orders').click();
  const menu = page.getByRole('button', { name: 'Block or exempt the visitor' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'For 1 day' }).waitFor();
  await keepPicture(page, 'logs-block-menu-1440');
  await page.getByRole('menuitem', { name: 'For 1 day' }).click();
  await page.getByText("203.0.113.77 is on the site's block list").waitFor();
  await menu.click();
  await page.getByRole('menuitem', { name: 'On this path only' }).click();
  await page.getByText("203.0.113.77 is on the site's allow list").waitFor();
  const owner = app.as(site.owner).call;
  const params = { siteId: site.id };
  const [blocked] = (await owner(blacklists.list, { params })).data;
  expect(blocked).toMatchObject({ ips: ['203.0.113.77'], memo: 'From the logs' });
  const ends = Date.parse(blocked?.expires[0]?.at ?? '') - Date.now();
  expect(Math.round(ends / 3_600_000)).toBe(24);
  expect((await owner(whitelists.list, { params })).data).toMatchObject([{ url: ['/api/orders'] }]);

  // Nodes never block their own machine.
  await page.getByText('/own-check').click();
  await page.getByRole('region', { name: 'Request', exact: true }).getByText('127.0.0.1').first().waitFor();
  await menu.click();
  await page.getByRole('menuitem', { name: 'On this path only' }).waitFor();
  expect(await page.getByRole('menuitem', { name: 'For 1 day' }).count()).toBe(0);
  await page.context().close();
});
