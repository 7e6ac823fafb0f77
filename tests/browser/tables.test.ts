// Features of every list: export, views, columns, order, and new rows.
import { readFile } from 'node:fs/promises';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unique } from '../support/builders/build.ts';
import { openList, rowsOf, siteWith } from '../support/builders/domain-lists.ts';
import { chooseByKeyboard } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

const headsOf = (page: Page) => page.locator('thead th[scope="col"]').allTextContents();

describe('a list', () => {
  test('exports all matching rows of all pages, without spreadsheet formulas', async () => {
    const rows = [...rowsOf(620), { name: 'odd.example.com', tags: ['=1+1', 'a,"b"'] }];
    const page = await openList(consoles, await siteWith(consoles, rows));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    await page.getByText('621 rows exported').waitFor();
    const text = await readFile(await download.path(), 'utf8');
    const lines = text.trimEnd().split('\r\n');
    expect(download.suggestedFilename()).toMatch(/^Domains \d{4}-\d\d-\d\d \d\d-\d\d-\d\d\.csv$/);
    const heads = (await headsOf(page)).map((head) => (head.includes(',') ? `"${head}"` : head));
    expect(lines[0]).toBe(`\uFEFF${heads.join(',')}`);
    expect(lines).toHaveLength(622);
    expect(new Set(lines).size).toBe(622);
    expect(lines.find((line) => line.startsWith('odd.example.com'))).toContain(`"'=1+1, a,""b"""`);

    await page.getByRole('searchbox').fill('odd.');
    await page.getByText('1–1 of 1').waitFor();
    const [narrow] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    expect((await readFile(await narrow.path(), 'utf8')).trimEnd().split('\r\n')).toHaveLength(2);
    await page.context().close();
  });

  test('keeps the selected columns and their order', async () => {
    const site = await siteWith(consoles, rowsOf(1));
    const page = await openList(consoles, site);
    const before = await headsOf(page);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'CNAME' }).click();
    await page.getByRole('button', { name: 'Move Updated forward' }).click();
    const wanted = before.filter((title) => title !== 'CNAME' && title !== 'Updated').toSpliced(-1, 0, 'Updated');
    await expect.poll(() => headsOf(page)).toEqual(wanted);
    await page.reload();
    await page.locator('tbody td').first().waitFor();
    expect(await headsOf(page)).toEqual(wanted);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('button', { name: 'Reset columns' }).click();
    await expect.poll(() => headsOf(page)).toEqual(before);
    await page.context().close();
  });

  test('is restored by a saved view', async () => {
    const page = await openList(consoles, await siteWith(consoles, rowsOf(3)), '&sort=-name&enabled=false');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('textbox', { name: 'Name of this view' }).fill('Off, by name');
    await page.keyboard.press('Enter');
    await page.goto(page.url().replace('&sort=-name&enabled=false', ''));
    await page.locator('tbody td').first().waitFor();
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('link', { name: 'Off, by name' }).click();
    await page.waitForURL(/sort=-name/);
    const asked = new URL(page.url()).searchParams;
    expect([asked.get('view'), asked.get('enabled')]).toEqual(['domains', 'false']);
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('button', { name: 'Remove the view Off, by name' }).click();
    await expect.poll(() => page.getByRole('link', { name: 'Off, by name' }).count()).toBe(0);
    await page.context().close();
  });

  test('supports browser history: search, order and page, backward and forward', async () => {
    const names = ['alpha-1', 'alpha-2', 'beta-1'].map((name) => ({ name: `${name}.example.com` }));
    const page = await openList(consoles, await siteWith(consoles, [...names, ...rowsOf(30)]), '&sort=name');
    const search = page.getByRole('searchbox');
    const range = (text: string) => page.getByText(text, { exact: true }).waitFor();
    const at = () => page.evaluate(() => history.length);
    await range('1–25 of 33');
    const before = await at();
    await search.click();
    await page.keyboard.type('alpha');
    await range('1–2 of 2');
    expect(await at()).toBe(before + 1);
    await search.fill('beta');
    await range('1–1 of 1');
    expect(await at()).toBe(before + 2);
    await page.goBack();
    await range('1–2 of 2');
    await expect.poll(() => search.inputValue()).toBe('alpha');
    await page.getByRole('link', { name: 'alpha-2.example.com' }).waitFor();
    await page.goForward();
    await range('1–1 of 1');
    await expect.poll(() => search.inputValue()).toBe('beta');
    await page.goBack();
    await page.goBack();
    await range('1–25 of 33');
    await expect.poll(() => search.inputValue()).toBe('');

    await page.getByRole('button', { name: 'Next page' }).click();
    await range('26–33 of 33');
    await page.getByRole('columnheader', { name: 'Domain' }).getByRole('button').click();
    await range('1–25 of 33');
    await page.waitForURL(/sort=-name/);
    await page.goBack();
    await range('26–33 of 33');
    await page.goBack();
    await range('1–25 of 33');
    await page.context().close();
  });

  test('without rows that the account cannot add explains who adds them', async () => {
    const { build } = consoles.app;
    const tenant = await build.client();
    for (const [who, list, text] of [
      [await build.user(tenant), 'sitesManagement', 'Sites appear here once your operator has set them up.'],
      [tenant.client, 'nodeManage/domains', 'Open a site to add domains.'],
    ] as const) {
      const { page } = await consoles.openAs(who, list);
      await expect.poll(() => page.getByText(text).count()).toBe(1);
      await page.context().close();
    }
  });
});

test('sites of a product take over its groups, after a preview with their number', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const { productId } = await installation.db.site.findUniqueOrThrow({ where: { id: site.id } });
  const group = await installation.db.group.create({ data: { zoneId: site.zone.id, name: unique('group') } });
  const product = await installation.db.product.update({ where: { id: productId }, data: { groupId: group.id } });
  const { page } = await consoles.openAs(site.client, 'nodeManage/productsList', { language: 'zh-TW' });
  await page.getByRole('button', { name: `${product.name} 的動作` }).press('Enter');
  await chooseByKeyboard(page, '更新站點群組');
  const question = page.getByRole('dialog', { name: '更新 1 個站點的群組？' });
  await question.getByText(group.name).waitFor();
  await keepPicture(page, 'refresh-sites');
  await question.getByRole('button', { name: '更新 1 個站點' }).press('Enter');
  await page.getByText('1 個站點已改用產品的群組').waitFor();
  expect(await installation.db.site.findUniqueOrThrow({ where: { id: site.id } })).toMatchObject({ groupId: group.id });
  await page.context().close();
});

describe('the sort order', () => {
  test('is shown by an arrow, or as text when its column is hidden', async () => {
    const page = await openList(consoles, await siteWith(consoles, rowsOf(3)));
    const sorted = page.locator('th[aria-sort="ascending"]');
    await expect.poll(() => sorted.allInnerTexts()).toEqual(['Domain']);
    await expect.poll(() => sorted.getByLabel('ascending').count()).toBe(1);
    const names = await page.locator('tbody tr td[data-first]').allInnerTexts();
    expect(names).toEqual(names.toSorted());
    await page.goto(page.url().concat('&sort=-createdAt'));
    await page.getByText('By Created, descending').waitFor();
    await page.context().close();
  });

  // These lists cannot be sorted, and showed no order at all.
  test('of a list that is always sorted the same way is shown as well', async () => {
    const zone = await consoles.app.build.zone();
    await consoles.app.as(zone.client).call(zones.update, { body: { id: zone.id, memo: 'logged' } });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}`);
    const sorted = page.locator('th[aria-sort]');
    await expect.poll(() => sorted.allInnerTexts()).toEqual(['Port']);
    await expect.poll(() => sorted.getByLabel('ascending').count()).toBe(1);
    await expect.poll(() => sorted.getByRole('button').count()).toBe(0);
    await keepPicture(page, 'fixed-order');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText('By Port, ascending').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/client/userManagement/logOperation');
    await expect.poll(() => sorted.allInnerTexts()).toEqual(['Time']);
    await expect.poll(() => sorted.getByLabel('descending').count()).toBe(1);
    await page.context().close();
  });
});

describe('a newly created row', () => {
  const add = async (page: Page, name: string) => {
    await page.locator('main header').getByRole('button', { name: 'Add zone' }).press('Enter');
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
    await page.keyboard.press('Enter');
    await form.waitFor({ state: 'detached' });
  };
  const focusedRow = (page: Page) => page.locator('tbody tr:focus td[data-first]').allInnerTexts();

  // Regression: a new row was on an unknown page.
  test('has focus on its page', async () => {
    const tenant = await consoles.app.build.client();
    for (const i of Array.from({ length: 14 }).keys())
      await consoles.app.build.zone({ tenant, name: `zone ${String(i).padStart(2, '0')}` });
    const { page } = await consoles.openAs(tenant.client, 'nodeManage/zonesList');
    await page.getByText('1–10 of 14').waitFor();
    await add(page, 'zone 115');
    await page.getByText('11–15 of 15').waitFor();
    await expect.poll(() => focusedRow(page)).toEqual(['zone 115']);
    await expect.poll(() => page.locator('tbody tr[data-new]').count()).toBe(1);
    await keepPicture(page, 'new-row');
    await page.context().close();
  });

  // Regression: the page was opened with the filters that had just been removed.
  test('is found without the filters that hid it, also while the console renders late', async () => {
    const tenant = await consoles.app.build.client();
    for (const i of Array.from({ length: 12 }).keys())
      await consoles.app.build.zone({ tenant, name: `North ${String(i).padStart(2, '0')}` });
    const { page } = await consoles.openAs(tenant.client, 'dashboard');
    // React renders after a message to itself, here after the responses of the search.
    await page.addInitScript(() => {
      const { postMessage } = MessagePort.prototype;
      MessagePort.prototype.postMessage = function late(this: MessagePort, message: unknown) {
        setTimeout(() => postMessage.call(this, message), 400);
      };
    });
    await page.goto('/client/nodeManage/zonesList?q=nor');
    await page.getByText('1–10 of 12').waitFor();
    await add(page, 'South');
    await page.getByRole('button', { name: 'View in list' }).press('Enter');
    await expect.poll(() => focusedRow(page)).toEqual(['South']);
    await expect.poll(() => new URL(page.url()).search).toBe('?page=2');
    await page.context().close();
  });

  test('is named above a list whose filters hide it, with a link', async () => {
    const tenant = await consoles.app.build.client();
    await consoles.app.build.zone({ tenant, name: 'North' });
    const { page } = await consoles.openAs(tenant.client, 'dashboard', { expectedErrors: /status of 500/ });
    // Chromium may not intercept the first requests after a route is set, so it is set before the page opens.
    let isBroken = false;
    await page.route(/pageSize=500/, (route) =>
      isBroken ? route.fulfill({ status: 500, body: '' }) : route.continue(),
    );
    await page.goto('/client/nodeManage/zonesList?q=nor');
    await page.getByText('1–1 of 1').waitFor();
    await add(page, 'South');
    await page.getByText('South was added. This view does not show it.').waitFor();
    await keepPicture(page, 'new-row-hidden');
    await expect.poll(() => page.locator('button:focus').allInnerTexts()).toEqual(['View in list']);
    // A search that fails is reported, and changes nothing else.
    isBroken = true;
    await page.keyboard.press('Enter');
    await page.getByText('Unknown Error (101002)').waitFor();
    await expect.poll(() => focusedRow(page)).toEqual(['South']);
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByText('1–2 of 2').waitFor();
    await page.context().close();
  });
});

test('the tally of a group is that of all pages', async () => {
  const product = await consoles.app.build.product({ name: 'Alpha' });
  const sites = ['a', 'b', 'c'].map((name) => consoles.app.build.site({ product, name: `${name} ${unique('s')}` }));
  await Promise.all(sites);
  const { page } = await consoles.openAs(product.client, 'nodeManage/sitesList?pageSize=2');
  const group = page.locator('tbody th');
  await expect.poll(() => group.innerText()).toBe('Alpha\n3 sites\ncontinues on the next page');
  await page.getByRole('button', { name: 'Next page', exact: true }).press('Enter');
  await expect.poll(() => group.innerText()).toBe('Alpha\n3 sites\ncontinued from the previous page');
  await keepPicture(page, 'group-continued');
  await page.context().close();
});

// Regression: the message covered the button.
test.each([{ width: 1440 }, { width: 360 }])(
  'the message does not cover the next button, at $width px',
  { timeout: 120_000 },
  async (look) => {
    const { client } = await consoles.app.build.client();
    const { page } = await consoles.openAs(client, 'nodeManage/zonesList', look);
    const add = page.locator('main header').getByRole('button', { name: 'Add zone' });
    await add.click();
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('North');
    await form.getByRole('button', { name: 'Add zone' }).click();
    await form.waitFor({ state: 'detached' });
    const toast = page.getByRole('region', { name: 'Messages' }).locator('[data-tone="ok"]');
    await toast.waitFor();
    const boxOf = (part: typeof toast) =>
      part.evaluate((element) => {
        const { left: x, top: y, width, height } = element.getBoundingClientRect();
        return { x, y, width, height };
      });
    const [message, button] = [await boxOf(toast), await boxOf(add)];
    const isBeside = message.x + message.width <= button.x || message.y + message.height <= button.y;
    expect([isBeside, message, button]).toEqual([true, message, button]);
    expect(message.x).toBeGreaterThanOrEqual(0);
    expect(message.x + message.width).toBeLessThanOrEqual(look.width);
    await keepPicture(page, `message-${look.width}`);
    await page.context().close();
  },
);
