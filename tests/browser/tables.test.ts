// What every list can do: files of all rows, views, columns, and batches with a result for each row.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unique, type BuiltSite } from '../support/build.ts';
import { startConsoles, type Consoles } from '../support/consoles.ts';
import { keepPicture } from '../support/pictures.ts';

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

/** Straight into the tables: how domains are made is not what is looked at. */
async function siteWith(rows: readonly Row[]) {
  const site = await consoles.app.build.site();
  await consoles.app.installation.db.domain.createMany({
    data: rows.map(({ name, enabled = false, tags = [] }) => ({ siteId: site.id, name, enabled, tags })),
  });
  return site;
}

const address = (site: BuiltSite, more = '') => `sitesManagement/sitesSetting/${site.id}/x?view=domains${more}`;
const openList = async (site: BuiltSite, more = '', expects?: RegExp) => {
  const { page } = await consoles.openAs(site.owner, address(site, more), { ...(expects && { expects }) });
  await page.locator('tbody td').first().waitFor();
  return page;
};
const headsOf = (page: Page) => page.locator('thead th[scope="col"]').allTextContents();
const picked = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` });
const bulk = (page: Page) => page.getByRole('toolbar', { name: 'Actions for the selected rows' });

describe('a list', () => {
  test('becomes a file of all rows that match, whatever page is shown, and no cell of it is a formula', async () => {
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

  test('keeps the columns that were chosen, and their order', async () => {
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
    await page.getByRole('button', { name: 'As it was' }).click();
    await expect.poll(() => headsOf(page)).toEqual(before);
    await page.context().close();
  });

  test('is found again by the name of a saved view', async () => {
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

  test('is gone back through: searches, order and pages, forward too', async () => {
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

  test('that its reader does not fill says who does', async () => {
    const { build } = consoles.app;
    const tenant = await build.client();
    for (const [who, list, text] of [
      [await build.user(tenant), 'sitesManagement', 'Sites appear here once your operator has set them up.'],
      [tenant.client, 'nodeManage/domains', 'Domains are added inside a site.'],
    ] as const) {
      const { page } = await consoles.openAs(who, list);
      await expect.poll(() => page.getByText(text).count()).toBe(1);
      await page.context().close();
    }
  });
});

test('the sites of a product take over its groups, after a preview of how many', async () => {
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

describe('a batch', () => {
  test('is told beforehand, skips what it does not apply to, and can be undone', async () => {
    const [first, second, third] = [...rowsOf(2), ...rowsOf(1).map((row) => ({ ...row, enabled: true }))];
    const page = await openList(await siteWith([first, second, third].flatMap((row) => row ?? [])));
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Turn on' }).click();
    const preview = page.getByRole('dialog');
    await preview.getByText('1 skipped: It is so already').waitFor();
    await preview.getByRole('button', { name: 'Turn on' }).click();
    const results = page.getByRole('region', { name: 'Turn on' });
    await results.getByText('2 done').waitFor();
    expect(await results.getByText(third?.name ?? '').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);

    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk(page).getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);
    await page.context().close();
  });

  test('does what can be done, says why the rest was refused, and tries that again', async () => {
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

  test('may be of all rows that match, on other pages as well', async () => {
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

  test('takes a range, with the mouse and by keyboard', async () => {
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

test('what is refused as a whole names each entry, which leads to its row', async () => {
  const [mine, taken] = rowsOf(2).map((row) => ({ ...row, enabled: true }));
  const site = await siteWith([mine, taken].flatMap((row) => row ?? []));
  const page = await openList(site, '', /status of 409/);
  await page.getByRole('checkbox', { name: 'Select this page' }).click();
  await bulk(page).getByRole('button', { name: 'Turn off' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  const undo = page.getByRole('button', { name: 'Undo' });
  // A message stays while somebody points at it.
  await undo.hover();
  // The next owner has proven the name, so it is enabled there.
  const other = await consoles.app.build.site();
  const proof = { holderId: other.owner.id, name: taken?.name ?? '', provenAt: new Date() };
  await consoles.app.installation.db.nameProof.create({ data: proof });
  await consoles.app.installation.db.domain.create({
    data: { siteId: other.id, name: taken?.name ?? '', enabled: true },
  });
  await undo.click();
  const dialog = page.getByRole('dialog', { name: 'Multiple Errors' });
  await dialog.getByText('Unable To Enable Duplicate Domains (401001)').waitFor();
  await dialog.getByRole('button', { name: taken?.name ?? '' }).click();
  await expect.poll(() => page.locator('tbody tr:focus td[data-first]').allInnerTexts()).toEqual([taken?.name]);
  await page.context().close();
});

// The message lay over the button for as long as it stood there.
test.each([{ width: 1440 }, { width: 360 }])(
  'what was done is said beside what is done next, at $width px',
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
    const said = page.getByRole('region', { name: 'Messages' }).locator('[data-tone="ok"]');
    await said.waitFor();
    const boxOf = (part: typeof said) =>
      part.evaluate((element) => {
        const { left: x, top: y, width, height } = element.getBoundingClientRect();
        return { x, y, width, height };
      });
    const [message, button] = [await boxOf(said), await boxOf(add)];
    const isBeside = message.x + message.width <= button.x || message.y + message.height <= button.y;
    expect([isBeside, message, button]).toEqual([true, message, button]);
    expect(message.x).toBeGreaterThanOrEqual(0);
    expect(message.x + message.width).toBeLessThanOrEqual(look.width);
    await keepPicture(page, `message-${look.width}`);
    await page.context().close();
  },
);
