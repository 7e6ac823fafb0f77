// Features of every list: export, views, columns, and bulk actions with results per row.
import { readFile } from 'node:fs/promises';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { casesOfRun } from '../support/builders/long-run.ts';
import { unique, type BuiltSite, type BuiltZone } from '../support/builders/build.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

const widths = casesOfRun([1440, 1280, 1024, 768, 390], 2);

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

interface Row {
  name: string;
  enabled?: boolean;
  tags?: string[];
}
const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${unique('h')}-${i}.example.com` }));

/** Inserts rows directly. */
async function siteWith(rows: readonly Row[]) {
  const site = await consoles.app.build.site();
  await consoles.app.installation.db.domain.createMany({
    data: rows.map(({ name, enabled = false, tags = [] }) => ({ siteId: site.id, name, enabled, tags })),
  });
  return site;
}

const address = (site: BuiltSite, more = '') => `sitesManagement/sitesSetting/${site.id}/x?view=domains${more}`;
const openList = async (site: BuiltSite, more = '', expectedErrors?: RegExp) => {
  const { page } = await consoles.openAs(site.owner, address(site, more), {
    ...(expectedErrors && { expectedErrors }),
  });
  await page.locator('tbody td').first().waitFor();
  return page;
};
const headsOf = (page: Page) => page.locator('thead th[scope="col"]').allTextContents();
const picked = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` });
const bulk = (page: Page) => page.getByRole('toolbar', { name: 'Actions for the selected rows' });

describe('a list', () => {
  test('exports all matching rows of all pages, without spreadsheet formulas', async () => {
    const rows = [...rowsOf(620), { name: 'odd.example.com', tags: ['=1+1', 'a,"b"'] }];
    const page = await openList(await siteWith(rows));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    await page.getByText('621 rows exported').waitFor();
    const text = await readFile(await download.path(), 'utf8');
    const lines = text.trimEnd().split('\r\n');
    expect(download.suggestedFilename()).toMatch(/^Domains \d{4}-\d\d-\d\d \d\d-\d\d-\d\d\.csv$/);
    expect(lines[0]).toBe(`\uFEFF${(await headsOf(page)).join(',')}`);
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
    const site = await siteWith(rowsOf(1));
    const page = await openList(site);
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
    const page = await openList(await siteWith(rowsOf(3)), '&sort=-name&enabled=false');
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
    const page = await openList(await siteWith([...names, ...rowsOf(30)]), '&sort=name');
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
    expect(await search.inputValue()).toBe('alpha');
    await page.getByRole('link', { name: 'alpha-2.example.com' }).waitFor();
    await page.goForward();
    await range('1–1 of 1');
    expect(await search.inputValue()).toBe('beta');
    await page.goBack();
    await page.goBack();
    await range('1–25 of 33');
    expect(await search.inputValue()).toBe('');

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
  await page.getByRole('menuitem', { name: '更新站點群組' }).press('Enter');
  const question = page.getByRole('dialog', { name: '更新 1 個站點的群組？' });
  await question.getByText(group.name).waitFor();
  await keepPicture(page, 'refresh-sites');
  await question.getByRole('button', { name: '更新 1 個站點' }).press('Enter');
  await page.getByText('1 個站點已改用產品的群組').waitFor();
  expect(await installation.db.site.findUniqueOrThrow({ where: { id: site.id } })).toMatchObject({ groupId: group.id });
  await page.context().close();
});

describe('a bulk action', () => {
  test('is previewed, skips rows that it does not apply to, and can be undone', async () => {
    const [first, second, third] = [...rowsOf(2), ...rowsOf(1).map((row) => ({ ...row, enabled: true }))];
    const page = await openList(await siteWith([first, second, third].flatMap((row) => row ?? [])));
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    const preview = page.getByRole('dialog');
    await bulk(page).getByRole('button', { name: 'Remove' }).click();
    await preview.getByText('This cannot be undone.').waitFor();
    await preview.getByRole('button', { name: 'Keep' }).click();
    await bulk(page).getByRole('button', { name: 'Turn on' }).click();
    await preview.getByText('1 skipped: No change needed').waitFor();
    await preview.getByRole('button', { name: 'Turn on' }).click();
    const results = page.getByRole('region', { name: 'Turn on' });
    await results.getByText('2 done').waitFor();
    expect(await results.getByText(third?.name ?? '').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);

    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Turn off' }).click();
    expect(await preview.innerText()).not.toContain('cannot be undone');
    await preview.getByRole('button', { name: 'Turn off' }).click();
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(0);
    await page.getByText('3 domains turned off').waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);
    await page.context().close();
  });

  // Regression: "Undo" disabled rows that had been enabled before.
  test('leaves enabled rows enabled when undone by shortcut after its message has closed', async () => {
    const [on, off, taken] = [...rowsOf(1).map((row) => ({ ...row, enabled: true })), ...rowsOf(2)];
    const site = await siteWith([on, off, taken].flatMap((row) => row ?? []));
    const page = await openList(site, '', /status of 409/);
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('region', { name: 'Turn on' }).getByText('2 done').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The message closes automatically, but the shortcut works as long as the page is open.
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await page.getByText('Undone').waitFor();
    const switches = page.getByRole('switch', { checked: true });
    await expect.poll(() => switches.count()).toBe(1);
    expect(await page.locator('tbody tr', { has: switches }).locator('td[data-first]').innerText()).toBe(on?.name);

    await page.context().close();
  });

  test('restores the tags of each row', async () => {
    const page = await openList(await siteWith(rowsOf(2).map((row, i) => ({ ...row, tags: [`own-${i}`] }))));
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Tags' }).click();
    await page.getByRole('dialog').locator('input:not([type="hidden"])').first().fill('common');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const cells = page.locator('tbody').getByText('own-');
    await page.locator('tbody').getByText('common').first().waitFor();
    expect(await cells.count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(async () => (await cells.allInnerTexts()).toSorted()).toEqual(['own-0', 'own-1']);
    await page.context().close();
  });

  // Regression: the last actions were outside the viewport.
  test.each(widths)('shows every action at %i px, and Esc takes it away', async (width) => {
    const site = await siteWith(rowsOf(30));
    const { page } = await consoles.openAs(site.owner, address(site, '&pageSize=25'), { width });
    await page
      .getByRole('checkbox', { name: /^Select h/ })
      .first()
      .waitFor();
    if (width > 768) await page.getByRole('checkbox', { name: 'Select this page' }).click();
    else for (const box of await page.getByRole('checkbox', { name: /^Select h/ }).all()) await box.click();
    const bar = bulk(page);
    await bar.getByText('25 selected').waitFor();
    const more = bar.getByRole('button', { name: 'More' });
    const cut = () =>
      bar.evaluate((element) => {
        const edge = element.getBoundingClientRect();
        const isOut = (button: Element) => {
          const { left, right } = button.getBoundingClientRect();
          return left < Math.max(edge.left, 0) || right > Math.min(edge.right, window.innerWidth);
        };
        return [...element.querySelectorAll('button')].filter(isOut).map((button) => button.textContent);
      });
    await expect.poll(cut).toEqual([]);
    const direct = (await bar.getByRole('button').allInnerTexts()).map((text) => text.trim());
    await more.press('Enter');
    const menu = page.getByRole('menu');
    await menu.waitFor();
    const behind = (await menu.getByRole('menuitem').allInnerTexts()).map((text) => text.trim());
    for (const text of ['Turn on', 'Tags', 'Turn off', 'Remove', 'Select all 30 that match', 'Copy to a site'])
      expect([...direct, ...behind]).toContain(text);
    if (width === 1280 || width === 390) await keepPicture(page, `bulk-bar-${width}`);
    // Escape closes the menu first, then clears the selection.
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await expect.poll(() => more.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press('Escape');
    await bar.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('does what is possible, explains the other errors, and retries them', async () => {
    const [good, taken] = rowsOf(2);
    const elsewhere = await siteWith([{ name: taken?.name ?? '', enabled: true }]);
    const page = await openList(await siteWith([good, taken].flatMap((row) => row ?? [])), '', /status of 409/);
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    const results = page.getByRole('region', { name: 'Turn on' });
    await results.getByText('1 done').waitFor();
    await results.getByText('Unable To Enable Duplicate Domains (401001)').waitFor();

    await consoles.app.installation.db.domain.deleteMany({ where: { siteId: elsewhere.id } });
    await results.getByRole('button', { name: 'Retry the failed one' }).click();
    await expect.poll(() => results.getByText('2 done').count()).toBe(1);
    await page.context().close();
  });

  test('applies to all matching rows, including other pages', async () => {
    const page = await openList(await siteWith(rowsOf(60)));
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Select all 60 that match' }).click();
    await bulk(page).getByText('60 selected').waitFor();
    await bulk(page).getByRole('button', { name: 'Remove' }).click();
    const question = page.getByRole('dialog', { name: 'Remove 60 entries?' });
    await question.getByRole('textbox').fill('60');
    await question.getByRole('button', { name: 'Remove 60 entries' }).click();
    await expect.poll(() => page.getByText('No domains yet').count()).toBe(1);
    await page.context().close();
  });

  test('selects a range by mouse and by keyboard', async () => {
    const page = await openList(await siteWith(rowsOf(9)), '&sort=name');
    const names = await page.locator('tbody tr td[data-first]').allInnerTexts();
    await picked(page, names[1] ?? '').click();
    await picked(page, names[4] ?? '').click({ modifiers: ['Shift'] });
    await bulk(page).getByText('4 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('tbody tr').first().focus();
    for (const key of ['x', 'j', 'j', 'X']) await page.keyboard.press(key);
    await expect.poll(() => bulk(page).getByText('3 selected').count()).toBe(1);
    await page.context().close();
  });
});

test('with an undo error for one row restores the others, and names that row', async () => {
  const [mine, taken] = rowsOf(2).map((row) => ({ ...row, enabled: true }));
  const site = await siteWith([mine, taken].flatMap((row) => row ?? []));
  const page = await openList(site, '', /status of 409/);
  await page.getByRole('checkbox', { name: 'Select this page' }).click();
  await bulk(page).getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  // A hovered message stays.
  await undo.hover();
  // Another customer has verified the name and enabled it.
  const other = await consoles.app.build.site();
  const proof = { holderId: other.owner.id, name: taken?.name ?? '', provenAt: new Date() };
  await consoles.app.installation.db.nameProof.create({ data: proof });
  await consoles.app.installation.db.domain.create({
    data: { siteId: other.id, name: taken?.name ?? '', enabled: true },
  });
  await undo.click();
  const results = page.getByRole('region', { name: 'Undo' });
  await results.getByText('1 done').waitFor();
  await results.getByText('Unable To Enable Duplicate Domains (401001)').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(1);
  await page.context().close();
});

describe('an undo of what was set for several nodes', () => {
  const nodesIn = async () => {
    const { build, installation } = consoles.app;
    const tenant = await build.client();
    const zones: BuiltZone[] = [];
    for (const name of ['North', 'South', 'West']) zones.push(await build.zone({ tenant, name }));
    const [north, south] = zones;
    const own = { role: 'backup', genevaPacketSize: 500, genevaWindowSize: 2000, logRotateSeconds: 3600 };
    for (const [zone, data] of [[north, {}] as const, [south, own] as const]) {
      const { id } = await build.node({ ...(zone && { zone }) });
      await installation.db.edgeNode.update({ where: { id }, data });
    }
    const stored = () =>
      installation.db.edgeNode.findMany({
        where: { zoneId: { in: zones.map(({ id }) => id) } },
        orderBy: { id: 'asc' },
        select: { zoneId: true, role: true, genevaPacketSize: true, genevaWindowSize: true, logRotateSeconds: true },
      });
    const { page } = await consoles.openAs(tenant.client, 'nodeManage/nodesList');
    return { page, stored };
  };
  type Fill = (form: Locator, page: Page) => Promise<void>;
  const choose =
    (option: string): Fill =>
    async (form, page) => {
      await form.getByRole('combobox').click();
      await page.getByRole('option', { name: option }).click();
    };

  const settings: [string, 'role' | 'genevaPacketSize' | 'logRotateSeconds' | 'zoneId', Fill][] = [
    ['Change role', 'role', async (form) => form.getByText('Backup', { exact: true }).click()],
    ['Set Geneva', 'genevaPacketSize', async (form) => form.getByLabel('Packet size').fill('100')],
    ['Set log rotation', 'logRotateSeconds', choose('Every week')],
    ['Move to zone', 'zoneId', choose('West')],
  ];
  test.each(settings)('gives each its own value back: %s', async (name, column, fill) => {
    const { page, stored } = await nodesIn();
    const before = await stored();
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name }).click();
    const form = page.getByRole('dialog');
    await fill(form, page);
    await form.locator('button[type="submit"]').click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(new Set((await stored()).map((row) => row[column])).size).toBe(1);
    await page.keyboard.press('Control+z');
    await page.getByText('Undone').waitFor();
    expect(await stored()).toEqual(before);
    await page.context().close();
  });
});

test('several errors of one call are a dialog: each reason with the rows that it is about', async () => {
  const [taken = { name: '' }, free = { name: '' }] = rowsOf(2);
  const site = await siteWith([taken, free]);
  const target = await consoles.app.build.site({ owner: site.owner, product: site.product });
  await consoles.app.build.domain({ site: target, name: taken.name, enabled: false });
  const page = await openList(site, '', /status of 4/);
  await page.getByRole('checkbox', { name: 'Select this page' }).click();
  await bulk(page).getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Copy to a site' }).click();
  const form = page.getByRole('dialog');
  await form.getByRole('combobox').click();
  await page.getByRole('option', { name: target.name }).click();
  await form.getByRole('button', { name: 'Copy' }).click();
  const errors = page.getByRole('dialog', { name: 'Multiple Errors' });
  await errors.waitFor();
  const sections = await errors
    .locator('section')
    .filter({ has: page.getByRole('heading', { level: 3 }) })
    .all();
  const found = await Promise.all(
    sections.map(async (section) => [
      await section.getByRole('heading', { level: 3 }).innerText(),
      (await section.getByRole('listitem').allInnerTexts()).toSorted(),
    ]),
  );
  expect(found.toSorted()).toEqual([
    ['At least one origin must be enabled (401008)', [taken.name, free.name].toSorted()],
    ['Duplicated data (101025)', [taken.name]],
  ]);
  await keepPicture(page, 'multiple-errors');
  // Each name leads to its row.
  await errors.getByRole('button', { name: free.name }).click();
  await expect.poll(() => page.locator('tbody tr:focus td[data-first]').allInnerTexts()).toEqual([free.name]);
  await page.context().close();
});

describe('the sort order', () => {
  test('is shown by an arrow, or as text when its column is hidden', async () => {
    const page = await openList(await siteWith(rowsOf(3)));
    const sorted = page.locator('th[aria-sort="ascending"]');
    expect(await sorted.allInnerTexts()).toEqual(['Domain']);
    expect(await sorted.getByLabel('ascending').count()).toBe(1);
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
    expect(await sorted.getByLabel('ascending').count()).toBe(1);
    expect(await sorted.getByRole('button').count()).toBe(0);
    await keepPicture(page, 'fixed-order');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText('By Port, ascending').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/client/userManagement/logOperation');
    await expect.poll(() => sorted.allInnerTexts()).toEqual(['Time']);
    expect(await sorted.getByLabel('descending').count()).toBe(1);
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
    expect(await page.locator('tbody tr[data-new]').count()).toBe(1);
    await keepPicture(page, 'new-row');
    await page.context().close();
  });

  test('is named above a list whose filters hide it, with a link', async () => {
    const tenant = await consoles.app.build.client();
    await consoles.app.build.zone({ tenant, name: 'North' });
    const { page } = await consoles.openAs(tenant.client, 'nodeManage/zonesList?q=nor', {
      expectedErrors: /status of 500/,
    });
    await page.getByText('1–1 of 1').waitFor();
    await add(page, 'South');
    await page.getByText('South was added. This view does not show it.').waitFor();
    await keepPicture(page, 'new-row-hidden');
    await expect.poll(() => page.locator('button:focus').allInnerTexts()).toEqual(['View in list']);
    // A search that fails is reported, and changes nothing else.
    await page.route(/pageSize=500/, (route) => route.fulfill({ status: 500, body: '' }));
    await page.keyboard.press('Enter');
    await page.getByText('Unknown Error (101002)').waitFor();
    await expect.poll(() => focusedRow(page)).toEqual(['South']);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    await page.getByText('1–2 of 2').waitFor();
    await page.context().close();
  });
});

describe('options', () => {
  // Regression: options after the thousandth could not be selected.
  test('are searched on the server, show their number, and keep the selected name', async () => {
    const site = await consoles.app.build.site();
    const { db } = consoles.app.installation;
    const zones = Array.from({ length: 1060 }, (_, i) => ({
      name: `zone ${String(i).padStart(4, '0')}`,
      clientId: site.clientId,
      keySealed: 'none',
    }));
    await db.zone.createMany({ data: zones });
    const { page } = await consoles.openAs(site.client, 'nodeManage/productsList');
    await page.locator('main header').getByRole('button', { name: 'Add product' }).click();
    const field = page.getByRole('dialog').getByRole('combobox', { name: 'Zone' });
    await field.click();
    await page.getByText(/^Type to search 1,0\d\d more$/).waitFor();
    await keepPicture(page, 'choices');
    await field.pressSequentially('1059');
    await page.getByRole('option', { name: 'zone 1059' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('zone 1059');
    await page.keyboard.press('Tab');
    await expect.poll(() => field.inputValue()).toBe('zone 1059');
    await page.context().close();
  });

  test('of a filter are searched, too, and a link shows the selected name', async () => {
    const site = await consoles.app.build.site();
    const others = Array.from({ length: 60 }, (_, i) => `zone ${String(i).padStart(2, '0')}`);
    for (const name of others) await consoles.app.build.zone({ tenant: site, name });
    const { page } = await consoles.openAs(site.client, 'nodeManage/sitesList');
    await page.getByRole('button', { name: 'Filter' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Zone' }).press('Enter');
    const popover = page.getByRole('dialog', { name: 'Zone' });
    await popover.getByText('Type to search 11 more').waitFor();
    await popover.getByRole('textbox').fill('zone 59');
    await popover.getByRole('button', { name: 'zone 59' }).click();
    const chip = page.getByRole('button', { name: 'Zone is zone 59' });
    await chip.waitFor();
    await page.reload();
    await expect.poll(() => chip.count()).toBe(1);
    await page.context().close();
  });
});

// Lists of 500 rows were read in place of a count, a search or the one row.
describe('an installation with hundreds of zones, nodes and products', { timeout: 180_000 }, () => {
  const MANY = 510;
  async function manyZones(length = MANY) {
    const { build, installation } = consoles.app;
    const tenant = await build.client();
    const others = Array.from({ length }, (_, i) => ({
      name: `zone ${i}`,
      clientId: tenant.clientId,
      keySealed: 'none',
      createdAt: new Date(2020, 0, 1),
    }));
    await installation.db.zone.createMany({ data: others });
    return { tenant, zone: await build.zone({ tenant, name: 'Last zone' }) };
  }

  test('counts all nodes, names every zone, and finds any node for a sub-node', async () => {
    const { tenant, zone } = await manyZones();
    const { db } = consoles.app.installation;
    const name = (i: number) => `node ${String(i).padStart(3, '0')}`;
    await db.edgeNode.createMany({
      data: Array.from({ length: MANY }, (_, i) => ({ zoneId: zone.id, name: name(i), ip: '192.0.2.1' })),
    });
    const { page, browserErrors } = await consoles.openAs(tenant.client, 'nodeManage/nodesList');
    const states = page.getByRole('list', { name: 'Nodes by state' });
    await expect.poll(() => states.getByRole('listitem').allInnerTexts()).toEqual([String(MANY)]);
    await expect.poll(() => page.locator('tbody th').innerText()).toContain(`${MANY} nodes · serial`);
    await keepPicture(page, 'many-nodes');

    await page.goto(`/client/nodeManage/zonesList/${zone.id}`);
    await page.getByRole('heading', { level: 1, name: 'Last zone' }).waitFor();
    await page.goto('/client/nodeManage/zonesList/01990000-0000-7000-8000-000000000000');
    await page.getByText('This zone does not exist').waitFor();
    expect(browserErrors()).toEqual([expect.stringContaining('404')]);

    const main = await db.edgeNode.findFirstOrThrow({ where: { zoneId: zone.id, name: name(0) } });
    const taken = await db.edgeNode.findFirstOrThrow({ where: { zoneId: zone.id, name: name(1) } });
    await db.edgeNode.update({ where: { id: taken.id }, data: { parentId: main.id } });
    await page.goto(`/client/nodeManage/nodesList/${main.id}`);
    await page.getByRole('button', { name: 'Add sub-nodes' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByRole('combobox', { name: 'Nodes' });
    await field.click();
    await page.getByText(/^Type to search \d+ more$/).waitFor();
    expect(await page.getByRole('option', { name: name(1) }).count()).toBe(0);
    await page.keyboard.type(name(MANY - 1));
    await page.getByRole('option', { name: name(MANY - 1) }).click();
    await page.keyboard.press('Escape');
    await keepPicture(page, 'many-sub-nodes');
    await dialog.getByRole('button', { name: 'Add sub-nodes' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: name(MANY - 1) }).waitFor();
    await page.context().close();
  });

  test('asks for the CNAME label with any product that takes one', async () => {
    const { build, installation } = consoles.app;
    const product = await build.product({ name: 'Last product' });
    await installation.db.product.update({ where: { id: product.id }, data: { cnameMode: 'custom' } });
    await installation.db.product.createMany({
      data: Array.from({ length: MANY }, (_, i) => ({
        name: `product ${i}`,
        clientId: product.clientId,
        zoneId: product.zoneId,
        createdAt: new Date(2020, 0, 1),
      })),
    });
    const { page } = await consoles.openAs(product.client, 'nodeManage/sitesList');
    await page.locator('main header').getByRole('button', { name: 'Add site' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Product' }).click();
    await page.keyboard.type('Last');
    await page.getByRole('option', { name: 'Last product' }).click();
    await expect.poll(() => dialog.getByRole('textbox', { name: 'CNAME label' }).count()).toBe(1);
    await page.context().close();
  });

  test('compares any version of a site, found by its number', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const { site, id, params } = await build.domain();
    const siteId = params.siteId;
    for (let version = await db.siteVersion.count({ where: { siteId } }); version < MANY; version += 1)
      await db.domain.update({ where: { id }, data: { tags: [String(version)] } });
    const place = `sitesManagement/sitesSetting/${siteId}/x?view=versions&from=${MANY - 1}&to=${MANY}`;
    const { page } = await consoles.openAs(site.owner, place);
    const from = page.getByRole('combobox', { name: 'From' });
    await expect.poll(() => from.inputValue()).toContain(`${MANY - 1} · `);
    await from.click();
    const choices = page.getByRole('listbox', { name: 'From' });
    await choices.getByText(`Type to search ${MANY - 50} more`).waitFor();
    await choices.getByRole('option', { name: '0 · before the first version' }).waitFor();
    await from.press('Control+a');
    await page.keyboard.type('3');
    await choices.getByRole('option', { name: /^3 · / }).waitFor();
    await keepPicture(page, 'version-choices');
    await choices.getByRole('option', { name: /^3 · / }).click();
    await page.waitForURL(/from=3&/);
    await expect.poll(() => from.inputValue()).toContain('3 · ');
    await page.getByText('Items that differ: 1').waitFor();
    await page.context().close();
  });

  test('compares any version of a zone, found by its number', async () => {
    const { build, installation } = consoles.app;
    const zone = await build.zone();
    const { call } = consoles.app.as(zone.client);
    const params = { zoneId: zone.id };
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    const { db } = installation;
    const { content, version: last } = await db.zoneVersion.findFirstOrThrow({
      where: { zoneId: zone.id },
      orderBy: { version: 'desc' },
    });
    const old = { zoneId: zone.id, content: content ?? {}, state: 'past', author: 'someone' };
    const data = Array.from({ length: 121 - last }, (_, i) => ({ ...old, version: last + 1 + i }));
    await db.zoneVersion.createMany({ data });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=versions&from=120&to=121`);
    const from = page.getByRole('combobox', { name: 'From' });
    await expect.poll(() => from.inputValue()).toContain('120 · ');
    await from.click();
    const choices = page.getByRole('listbox', { name: 'From' });
    await choices.getByText('Type to search 71 more').waitFor();
    expect(await choices.getByRole('option', { name: /^3 · / }).count()).toBe(0);
    await from.press('Control+a');
    await page.keyboard.type('3');
    await choices.getByRole('option', { name: /^3 · / }).click();
    await page.waitForURL(/from=3&/);
    await expect.poll(() => from.inputValue()).toContain('3 · ');
    await page.context().close();
  });

  // Regression: the dialog knew the first thousand zones only, and showed a hundred of them.
  test('finds any zone for a create command, and says when the palette has more results', async () => {
    const { tenant } = await manyZones(1050);
    const { page } = await consoles.openAs(tenant.client, 'dashboard');
    await page.locator('main h1').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type('zone 10');
    await page.getByText('Zones (first 6)').waitFor();
    await keepPicture(page, 'palette-first');
    await page.getByRole('option', { name: 'Show all Zones' }).click();
    await page.waitForURL(/zonesList\?q=zone\+10/);
    await page.getByText('1–10 of 61').waitFor();

    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type('> add zone port');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Which zone?' });
    const field = dialog.getByRole('combobox', { name: 'Which zone?' });
    await expect.poll(() => field.inputValue()).not.toBe('');
    await field.click();
    await page.getByText('Type to search 1,001 more').waitFor();
    await keepPicture(page, 'palette-which-zone');
    await field.press('Control+a');
    await page.keyboard.type('zone 1049');
    await page.getByRole('option', { name: 'zone 1049' }).click();
    await dialog.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('heading', { level: 1, name: 'zone 1049' }).waitFor();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Port' }).waitFor();
    await page.context().close();
  });

  test('says how many zones can be chosen at most, and names all that are', async () => {
    const { tenant } = await manyZones(1050);
    const { build, installation } = consoles.app;
    const { db } = installation;
    const zones = await db.zone.findMany({
      where: { clientId: tenant.clientId },
      orderBy: { name: 'desc' },
      take: 1000,
    });
    const sub = await build.subClient(tenant, zones);
    const { page } = await consoles.openAs(tenant.client, `userManagement/users/${sub.id}?tab=zones`);
    await page.getByText('At most 1,000 can be chosen').waitFor();
    const isNamed = (zone: { name: string } | undefined) =>
      page
        .getByText(zone?.name ?? '', { exact: true })
        .first()
        .isVisible();
    await expect.poll(() => isNamed(zones.at(-1))).toBe(true);
    await expect.poll(() => isNamed(zones.at(0))).toBe(true);
    await page.context().close();
  });

  test('offers any enabled domain to a simulated request', async () => {
    const site = await consoles.app.build.site();
    const names = Array.from(
      { length: 60 },
      (_, i) => `n${String(i).padStart(2, '0')}.${site.id.slice(-8)}.example.com`,
    );
    await consoles.app.installation.db.domain.createMany({
      data: names.map((name) => ({ siteId: site.id, name, enabled: true, enabledName: name })),
    });
    const { page } = await consoles.openAs(site.owner, address(site).replace('domains', 'simulate'));
    const field = page.getByRole('combobox', { name: 'URL' });
    await field.click();
    await page.getByText('Type to search 10 more').waitFor();
    await keepPicture(page, 'simulate-names');
    await page.keyboard.type('https://n59');
    await page.getByRole('option', { name: `https://${names.at(-1)}/` }).click();
    await expect.poll(() => field.inputValue()).toBe(`https://${names.at(-1)}/`);
    await page.context().close();
  });

  test('counts all running jobs of a site, and lists them page by page', async () => {
    const site = await consoles.app.build.site();
    const { db } = consoles.app.installation;
    const job = { siteId: site.id, kind: 'purgeURLs', createdBy: 'someone', endedAt: new Date(0) };
    const data = Array.from({ length: 1030 }, (_, i) => ({
      ...job,
      title: `job ${i}`,
      state: 'completed',
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, i)),
    }));
    await db.job.createMany({ data });
    const { page } = await consoles.openAs(site.owner, address(site));
    const tray = page.getByRole('button', { name: /^Jobs/ });
    await expect.poll(() => tray.innerText()).toMatch(/1,030/);
    await tray.click();
    const dialog = page.getByRole('dialog', { name: 'Jobs' });
    await dialog.getByText('job 1029 ·').waitFor();
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('job 1004 ·').waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(25);
    await keepPicture(page, 'jobs-pages');
    await page.keyboard.press('Escape');
    // Regression: a running job older than 25 others was not counted.
    await db.job.updateMany({
      where: { siteId: site.id, title: 'job 0' },
      data: { state: 'processing', endedAt: null },
    });
    await page.reload();
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    await page.getByRole('button', { name: /^Purge URLs/ }).waitFor();
    await page.context().close();
  });

  test('lists the sub-accounts of a site and the jobs of a node page by page', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await build.site();
    const sub = await build.subUser(site.owner, [site]);
    const { kind, clientId, parentId, roleId } = await db.account.findUniqueOrThrow({ where: { id: sub.id } });
    const name = (i: number) => `member ${String(i).padStart(3, '0')}`;
    const made = await db.account.createManyAndReturn({
      data: Array.from({ length: 30 }, (_, i) => ({
        kind,
        clientId,
        parentId,
        roleId,
        name: name(i),
        login2faType: 2,
        email: `${unique('member')}@example.com`,
      })),
    });
    await db.siteAssignment.createMany({ data: made.map(({ id }) => ({ siteId: site.id, accountId: id })) });
    const own = await consoles.openAs(site.owner, address(site).replace('domains', 'overview'));
    await own.page.getByRole('link', { name: name(0) }).waitFor();
    expect(await own.page.getByRole('link', { name: name(29) }).count()).toBe(0);
    await keepPicture(own.page, 'site-users');
    await own.page.getByRole('button', { name: 'Next page' }).click();
    await own.page.getByRole('link', { name: name(29) }).waitFor();
    await own.page.context().close();

    const node = await build.node({ zone: site.zone });
    const job = { nodeId: node.id, kind: 'uninstall', state: 'failed', endedAt: new Date(0) };
    await db.nodeJob.createMany({
      data: Array.from({ length: 7 }, (_, i) => ({
        ...job,
        createdBy: `person ${i}`,
        createdAt: new Date(Date.UTC(2026, 0, 1, 0, i)),
      })),
    });
    const { page } = await consoles.openAs(site.client, `nodeManage/nodesList/${node.id}`);
    await page.getByText('person 6').waitFor();
    await page.getByText('person 2').waitFor();
    expect(await page.getByText('person 1').count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('person 0').waitFor();
    await keepPicture(page, 'node-jobs-pages');
    await page.context().close();
  });

  test('lists all domains of a module, page by page', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await siteWith(rowsOf(MANY));
    const module = await build.module(site, 'customHeader');
    const made = await db.domain.findMany({ where: { siteId: site.id }, orderBy: { name: 'asc' } });
    await db.domainModule.createMany({
      data: made.map(({ id }) => ({ domainId: id, kind: 'customHeader', moduleId: module.id })),
    });
    const { page } = await consoles.openAs(site.owner, address(site).replace('domains', 'headers'));
    await page.getByRole('button', { name: `${MANY} domains` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('10 more domains use it').waitFor();
    await dialog.getByRole('button', { name: 'Show all' }).click();
    await dialog.getByRole('link', { name: made[0]?.name ?? '', exact: true }).waitFor();
    await keepPicture(page, 'domains-of-module');
    const next = dialog.getByRole('button', { name: 'Next page' });
    for (let page = 1; page < Math.ceil(MANY / 50); page += 1) {
      await expect.poll(() => next.isEnabled()).toBe(true);
      await next.click();
    }
    await dialog.getByRole('link', { name: made.at(-1)?.name ?? '', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: made.at(-1)?.name ?? '' }).waitFor();
    await page.context().close();
  });

  test('has pages for the events of a certificate, and a list of its domains', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await build.site();
    const certificate = await build.certificate(site, ['*.example.org'], { name: 'wild' });
    await db.certificateEvent.createMany({
      data: Array.from({ length: 130 }, (_, i) => ({
        certificateId: certificate.id,
        at: new Date(Date.UTC(2026, 0, 1, 0, i)),
        step: 'placed',
        detail: `step ${i}`,
      })),
    });
    const domain = { siteId: site.id, enabled: false, certificateId: certificate.id };
    await db.domain.createMany({
      data: Array.from({ length: 1003 }, (_, i) => ({ ...domain, name: `n${i}.example.org` })),
    });
    await build.domain({ site, name: 'other.example.net', enabled: false });
    const { page } = await consoles.openAs(site.owner, address(site).replace('domains', 'certs'));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'wild', exact: true }).click();
    await dialog.getByText('step 129').waitFor();
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('step 0', { exact: true }).waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(30);
    await keepPicture(page, 'certificate-events');
    await page.keyboard.press('Escape');

    await page.getByRole('row').filter({ hasText: 'wild' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Assign to domains' }).click();
    await dialog.getByText('3 more domains use this certificate and are not listed here.').waitFor();
    await dialog.getByRole('link', { name: '1,003 domains' }).click();
    await page.getByRole('button', { name: 'Certificate is wild' }).waitFor();
    await page.getByText('1–25 of 1,003').waitFor();
    await keepPicture(page, 'domains-of-certificate');
    await page.context().close();
  });

  test('shows how many more certificates cover the names of new domains', async () => {
    const { build } = consoles.app;
    const site = await build.site();
    const names = Array.from({ length: 104 }, (_, i) => `n${i}.${site.id.slice(-8)}.example.org`);
    for (const name of names) await build.certificate(site, [name], { name });
    await build.certificate(site, [`*.${site.id.slice(-8)}.example.org`], { name: 'wild' });
    const { page } = await consoles.openAs(site.owner, address(site, '&tab=new'), {
      expectedErrors: /status of 4\d\d/,
    });
    await page.getByRole('textbox', { name: 'Domains', exact: true }).fill(names.join('\n'));
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    await page.getByLabel('Address 1').fill('192.0.2.1');
    await next.click();
    await page.getByLabel('A certificate of this site', { exact: true }).first().click();
    await page.getByText('5 more certificates cover some of these names.').waitFor();
    expect(await page.getByRole('combobox', { name: 'A certificate of this site' }).inputValue()).toBe(
      'wild: 104 of 104',
    );
    await keepPicture(page, 'certificate-choices');
    await page.context().close();
  });

  test('shows the first nodes that do not block, how many more there are, and all of them', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const zone = await build.zone();
    const ipset = { enabled: true, timeout: 600, max: 1000 };
    await db.zone.update({ where: { id: zone.id }, data: { settings: { ipset } } });
    const names = Array.from({ length: 60 }, (_, i) => `node ${String(i).padStart(2, '0')}`);
    await db.edgeNode.createMany({
      data: names.map((name) => ({ zoneId: zone.id, name, ip: '192.0.2.1', joinedAt: new Date() })),
    });
    const made = await db.edgeNode.findMany({ where: { zoneId: zone.id }, select: { id: true } });
    const fault = 'nft: not found';
    await db.blockHolder.createMany({ data: made.map(({ id }) => ({ nodeId: id, revision: 0n, size: 0, fault })) });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=ipset`);
    await page.getByText('and 55 more').waitFor();
    expect(await page.getByText(fault).count()).toBe(5);
    await keepPicture(page, 'ipset-faults');
    await page.getByRole('button', { name: 'Show all nodes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('node 49').waitFor();
    expect(await dialog.getByText(fault).count()).toBe(50);
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('node 59').waitFor();
    expect(await dialog.getByText(fault).count()).toBe(10);
    await page.context().close();
  });

  test('offers every line there is', async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, `nodeManage/resolutionTitle?zone=${zone.id}`);
    await page.getByRole('button', { name: 'Add group' }).first().click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Lines' }).click();
    const option = page.getByRole('listbox', { name: 'Lines' }).getByRole('option', { name: 'Zambia' });
    await expect.poll(() => option.count()).toBe(1);
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
