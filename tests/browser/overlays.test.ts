// Menus, drawers, dialogs and messages: accessible, closed by Escape, and out of the way.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { chooseByKeyboard } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  site = await consoles.app.build.site();
}, 400_000);
afterAll(() => consoles.stop());

const own = (view: string) => `sitesManagement/sitesSetting/${site.id}/x?view=${view}`;

const looks = [
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
] as const;

describe.each(casesOfRun(looks, looks.length))('overlays are accessible, %s at %i px', (theme, width) => {
  const look = { theme, width };
  const isPhone = width < 500;
  const rules = rulesOf(theme);

  test('menus and pickers', { timeout: 300_000 }, async () => {
    const { page } = await consoles.openAs(site.client, 'nodeManage/sitesList', look);
    await page.getByRole('link', { name: site.name }).waitFor();
    const found: Record<string, string[]> = {};
    const lookAt = async (what: string) => {
      found[what] = await accessibilityViolations(page, { rules });
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    };
    const opening: [string, () => Promise<void>][] = [
      ['filters', () => page.getByRole('button', { name: 'Filter', exact: true }).click()],
      ['row', () => page.getByRole('button', { name: `Actions for ${site.name}` }).click()],
      ...(isPhone
        ? ([
            ['sheet', () => page.getByRole('button', { name: 'Open the menu' }).click()],
            [
              'account',
              async () => {
                await page.getByRole('button', { name: 'Open the menu' }).click();
                await page.getByRole('button', { name: /Account menu/ }).click();
                await page.getByRole('menuitemradio', { name: '繁體中文' }).waitFor();
              },
            ],
          ] as [string, () => Promise<void>][])
        : ([
            ['language', () => page.getByRole('button', { name: /^Language/ }).click()],
            ['theme', () => page.getByRole('button', { name: /^Theme/ }).click()],
            ['help', () => page.getByRole('button', { name: 'Help' }).click()],
            ['account', () => page.getByRole('button', { name: /Account menu/ }).click()],
            ['time zone', () => page.getByTitle('Time zone').click()],
            ['columns', () => page.getByRole('button', { name: 'Columns' }).click()],
            ['views', () => page.getByRole('button', { name: 'Save view' }).click()],
            ['page size', () => page.getByRole('button', { name: /^Per page/ }).click()],
          ] as [string, () => Promise<void>][])),
    ];
    for (const [what, open] of opening) {
      await open();
      await page.locator('[role="menu"], [role="dialog"]').first().waitFor();
      await lookAt(what);
    }
    expect(found).toEqual(Object.fromEntries(opening.map(([what]) => [what, []])));
    await page.context().close();
  });

  test('drawers, dialogs and messages', { timeout: 300_000 }, async () => {
    const { page } = await consoles.openAs(site.client, 'nodeManage/zonesList', {
      ...look,
      expectedErrors: /status of 409/,
    });
    await page.getByRole('link', { name: site.zone.name }).waitFor();
    await page.getByRole('button', { name: 'Add zone' }).first().click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Half a zone');
    const inDrawer = await accessibilityViolations(page, { rules });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    const asked = await accessibilityViolations(page, { rules });
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('button', { name: `Actions for ${site.zone.name}` }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('dialog', { name: `Remove ${site.zone.name}?` }).waitFor();
    const removing = await accessibilityViolations(page, { rules });
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Remove ${site.zone.name}` })
      .click();
    await page
      .getByText(/^Request ID|reqID/)
      .first()
      .waitFor();
    const refused = await accessibilityViolations(page, { rules });
    expect({ inDrawer, asked, removing, refused }).toEqual({ inDrawer: [], asked: [], removing: [], refused: [] });
    await page.context().close();
  });
});

test('Ctrl S saves the form of a drawer, and shows the errors of an invalid one', async () => {
  const { page } = await consoles.openAs(site.client, 'nodeManage/zonesList');
  const drawer = page.getByRole('dialog');
  const add = page.getByRole('button', { name: 'Add zone' }).first();
  await add.click();
  await drawer.getByLabel('Name', { exact: true }).fill('Saved by a key');
  await page.keyboard.press('Control+s');
  await page.getByRole('link', { name: 'Saved by a key' }).waitFor();
  await expect.poll(() => drawer.count()).toBe(0);
  // An invalid form stays, and shows its error.
  await add.click();
  await drawer.getByLabel('Name', { exact: true }).focus();
  await page.keyboard.press('Control+s');
  await drawer.locator('[aria-invalid="true"]:focus').waitFor();
  await page.context().close();
});

test('a success message lets clicks through to the content below', async () => {
  const { page } = await consoles.openAs(site.client, 'nodeManage/zonesList');
  const drawer = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  await drawer.getByLabel('Name', { exact: true }).fill('Under a message');
  await drawer.getByRole('button', { name: 'Add zone' }).click();
  const message = page.getByLabel('Messages').getByText('Added');
  const pressed = await message.evaluate((shown) => {
    const { x, y, width, height } = shown.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2)?.closest('[aria-label="Messages"]') ?? null;
  });
  expect(pressed).toBeNull();
  await page.context().close();
});

// Regression: "Turn on" appeared in the place of "Turn off", and turned the domain on without a question.
test.each([1440, 390])('an open row menu at %i px keeps its items when the row changes', async (width) => {
  const { id, name } = await consoles.app.build.domain({ site });
  const { page } = await consoles.openAs(site.owner, own('domains'), { width });
  await page.clock.install();
  await page.reload();
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  const items = page.getByRole('menuitem');
  const turnOff = await items.filter({ hasText: 'Turn off' }).elementHandle();
  const before = await items.allInnerTexts();

  const body = { ids: [id], enabled: false };
  await consoles.app.as(site.owner).call(domains.status, { params: site.params, body });
  const isOn = async () => {
    await page.clock.fastForward('00:30');
    return page.getByRole('switch', { name: `${name} is on`, includeHidden: true }).isChecked();
  };
  await expect.poll(isOn).toBe(false);
  expect(await items.allInnerTexts()).toEqual(before);
  // A new element would not have the focus.
  expect(await turnOff?.evaluate((element) => element.isConnected)).toBe(true);
  await chooseByKeyboard(page, 'Turn off');
  await page.getByText('No change needed').waitFor();
  await page.context().close();
});

describe('Escape closes an overlay and returns focus', () => {
  const over = (page: Page) =>
    page.locator('[role="dialog"], [role="menu"], [role="listbox"]').filter({ visible: true });
  const closeOver = async (page: Page, message = '') => {
    await over(page).first().waitFor();
    const hasFocus = () => over(page).evaluateAll((all) => all.some((one) => one.contains(document.activeElement)));
    await expect.poll(hasFocus, { message }).toBe(true);
    await page.keyboard.press('Escape');
    await expect.poll(() => over(page).count(), { message }).toBe(0);
  };
  /** Accessible name of the focused element. */
  const focused = (page: Page) =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
    });

  const views = ['domains', 'cache', 'versions'];
  test.each(casesOfRun(views, views.length))('on the %s of a site', { timeout: 240_000 }, async (view) => {
    await consoles.app.build.domain({ site });
    const { page } = await consoles.openAs(site.owner, own(view));
    await page.locator('main h1').waitFor();
    await page.waitForLoadState('networkidle');
    const openers = page.locator('button[aria-haspopup]:enabled').filter({ visible: true });
    const names: string[] = [];
    for (const opener of await openers.all()) {
      await opener.focus();
      const name = await focused(page);
      names.push(name);
      await page.keyboard.press('Enter');
      await closeOver(page, name);
      // The clock's text changes between the two reads.
      const hasFocus = () => opener.evaluate((element) => element === document.activeElement);
      await expect.poll(hasFocus, { message: name }).toBe(true);
    }
    expect(names.length).toBeGreaterThan(5);
    await page.context().close();
  });

  test('from a row: its menu, its form and its confirmation dialog', async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, 'nodeManage/zonesList');
    const menu = `Actions for ${zone.name}`;
    await page.locator('tbody tr').focus();
    for (const item of ['Edit', 'Remove']) {
      await page.getByRole('button', { name: menu }).focus();
      await page.keyboard.press('Enter');
      await chooseByKeyboard(page, item);
      await page.getByRole('dialog').waitFor();
      await closeOver(page);
      await expect.poll(() => focused(page), { message: item }).toBe(menu);
    }
    // Escape closes the innermost overlay first: the select, then the drawer.
    await page.locator('main h1').focus();
    for (const [key, back] of [
      ['c', 'Zones'],
      ['?', 'Zones'],
      ['Control+k', 'Zones'],
    ] as const) {
      await page.keyboard.press(key);
      await closeOver(page);
      await expect.poll(() => focused(page), { message: key }).toContain(back);
    }
    await page.context().close();
  });

  test('a select before the drawer that contains it', async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, 'nodeManage/productsList');
    const add = page.locator('main header').getByRole('button', { name: 'Add product' });
    await add.press('Enter');
    await page.getByRole('combobox', { name: 'Zone' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: zone.name }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('option').filter({ visible: true }).count()).toBe(0);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(1);
    await closeOver(page);
    await expect.poll(() => focused(page)).toBe('Add product');
    await page.context().close();
  });

  // Regression: removing a row lost the focus.
  test('removing a row moves focus to its neighbour', async () => {
    const tenant = await consoles.app.build.client();
    for (const name of ['one', 'three', 'two']) await consoles.app.build.zone({ tenant, name });
    const { page } = await consoles.openAs(tenant.client, 'nodeManage/zonesList');
    const rows = page.locator('tbody tr');
    await rows.nth(1).focus();
    await page.keyboard.press('.');
    await chooseByKeyboard(page, 'Remove');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove three' }).press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => page.locator('tbody tr:focus td[data-first]').allInnerTexts()).toEqual(['two']);
    await page.context().close();
  });
});
