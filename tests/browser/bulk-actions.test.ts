// Actions on selected rows: preview, results per row, and undo.
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BuiltZone } from '../support/builders/build.ts';
import { bulkActions, domainsOf, openList, rowsOf, siteWith } from '../support/builders/domain-lists.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

const widths = casesOfRun([1440, 1280, 1024, 768, 390], 5);

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

/** Presses Ctrl Z in an editor with a shadow root. False if the page used the keys. */
async function isUndoLeftToEditor(page: Page) {
  await page.evaluate(() => {
    const host = document.body.appendChild(document.createElement('div'));
    host.id = 'editor';
    const editor = host.attachShadow({ mode: 'open' }).appendChild(document.createElement('div'));
    editor.contentEditable = 'true';
    editor.focus();
    window.addEventListener('keydown', (event) => (host.dataset['used'] = String(event.defaultPrevented)));
  });
  await page.keyboard.press('Control+z');
  return page.locator('#editor').evaluate((host) => {
    host.remove();
    return host.dataset['used'] === 'false';
  });
}

const picked = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}` });

describe('a bulk action', () => {
  test('is previewed, skips rows that it does not apply to, and can be undone', async () => {
    const [first, second, third] = [...rowsOf(2), ...rowsOf(1).map((row) => ({ ...row, enabled: true }))];
    const page = await openList(
      consoles,
      await siteWith(
        consoles,
        [first, second, third].flatMap((row) => row ?? []),
      ),
    );
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    const preview = page.getByRole('dialog');
    await bulkActions(page).getByRole('button', { name: 'Remove' }).click();
    await preview.getByText('This cannot be undone.').waitFor();
    await preview.getByRole('button', { name: 'Keep' }).click();
    await bulkActions(page).getByRole('button', { name: 'Turn on' }).click();
    await preview.getByText('1 skipped: No change needed').waitFor();
    await preview.getByRole('button', { name: 'Turn on' }).click();
    const results = page.getByRole('region', { name: 'Turn on' });
    await results.getByText('2 done').waitFor();
    await expect.poll(() => results.getByText(third?.name ?? '').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);

    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'Turn off' }).click();
    await expect.poll(() => preview.innerText()).not.toContain('cannot be undone');
    await preview.getByRole('button', { name: 'Turn off' }).click();
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(0);
    await page.getByText('3 domains turned off').waitFor();
    // In an editor the same keys undo its text, also inside a shadow root.
    expect(await isUndoLeftToEditor(page)).toBe(true);
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);
    await page.context().close();
  });

  // Regression: "Undo" disabled rows that had been enabled before.
  test('leaves enabled rows enabled when undone by shortcut after its message has closed', async () => {
    const [on, off, taken] = [...rowsOf(1).map((row) => ({ ...row, enabled: true })), ...rowsOf(2)];
    const site = await siteWith(
      consoles,
      [on, off, taken].flatMap((row) => row ?? []),
    );
    const page = await openList(consoles, site, '', /status of 409/);
    await page.clock.install();
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('region', { name: 'Turn on' }).getByText('2 done').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The message closes automatically, but the shortcut works as long as the page is open.
    await page.clock.fastForward('00:15');
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await page.getByText('Undone').waitFor();
    const switches = page.getByRole('switch', { checked: true });
    await expect.poll(() => switches.count()).toBe(1);
    await expect
      .poll(() => page.locator('tbody tr', { has: switches }).locator('td[data-first]').innerText())
      .toBe(on?.name);

    await page.context().close();
  });

  test('restores the tags of each row', async () => {
    const page = await openList(
      consoles,
      await siteWith(
        consoles,
        rowsOf(2).map((row, i) => ({ ...row, tags: [`own-${i}`] })),
      ),
    );
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'Tags' }).click();
    await page.getByRole('dialog').locator('input:not([type="hidden"])').first().fill('common');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const cells = page.locator('tbody').getByText('own-');
    await page.locator('tbody').getByText('common').first().waitFor();
    await expect.poll(() => cells.count()).toBe(0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(async () => (await cells.allInnerTexts()).toSorted()).toEqual(['own-0', 'own-1']);
    await page.context().close();
  });

  // Regression: the last actions were outside the viewport.
  test.each(widths)('shows every action at %i px, and Esc takes it away', async (width) => {
    const site = await siteWith(consoles, rowsOf(30));
    const { page } = await consoles.openAs(site.owner, domainsOf(site, '&pageSize=25'), { width });
    await page
      .getByRole('checkbox', { name: /^Select h/ })
      .first()
      .waitFor();
    if (width > 768) await page.getByRole('checkbox', { name: 'Select this page' }).click();
    else for (const box of await page.getByRole('checkbox', { name: /^Select h/ }).all()) await box.click();
    const bar = bulkActions(page);
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
    const elsewhere = await siteWith(consoles, [{ name: taken?.name ?? '', enabled: true }]);
    const page = await openList(
      consoles,
      await siteWith(
        consoles,
        [good, taken].flatMap((row) => row ?? []),
      ),
      '',
      /status of 409/,
    );
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'Turn on' }).click();
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
    const page = await openList(consoles, await siteWith(consoles, rowsOf(60)));
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'Select all 60 that match' }).click();
    await bulkActions(page).getByText('60 selected').waitFor();
    await bulkActions(page).getByRole('button', { name: 'Remove' }).click();
    const question = page.getByRole('dialog', { name: 'Remove 60 domains?' });
    await question.getByRole('textbox').fill('60');
    await question.getByRole('button', { name: 'Remove 60 domains' }).click();
    await expect.poll(() => page.getByText('No domains yet').count()).toBe(1);
    await page.context().close();
  });

  // Regression: the bar and the message disappeared with the focus, and the next key went to the page.
  test('gives focus back to the rows when its bar or its undo message disappears', async () => {
    const page = await openList(
      consoles,
      await siteWith(
        consoles,
        rowsOf(3).map((row) => ({ ...row, enabled: true })),
      ),
      '&sort=name',
    );
    const names = await page.locator('tbody tr td[data-first]').allInnerTexts();
    const focused = () => page.locator('tbody tr:focus td[data-first]').allInnerTexts();
    const last = [names[2]];
    const select = async () => {
      for (const name of [names[1], names[2]]) await picked(page, name ?? '').press('Space');
    };
    await select();
    await bulkActions(page).getByRole('button', { name: 'Tags' }).focus();
    await page.keyboard.press('Escape');
    await expect.poll(focused).toEqual(last);
    await select();
    await bulkActions(page).getByRole('button', { name: 'Clear selection' }).press('Enter');
    await expect.poll(focused).toEqual(last);
    await select();
    await bulkActions(page).getByRole('button', { name: 'Turn off' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).press('Enter');
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await expect.poll(focused).toEqual(last);
    await undo.press('Enter');
    await expect.poll(focused).toEqual(last);
    await expect.poll(() => page.getByRole('switch', { checked: true }).count()).toBe(3);
    await select();
    await bulkActions(page).getByRole('button', { name: 'Turn off' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).press('Enter');
    await undo.waitFor();
    await expect.poll(() => bulkActions(page).count()).toBe(0);
    await select();
    await bulkActions(page).getByRole('button', { name: 'Remove' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove 2 domains' }).press('Enter');
    await expect.poll(focused).toEqual([names[0]]);
    await page.context().close();
  });

  test('selects a range by mouse and by keyboard', async () => {
    const page = await openList(consoles, await siteWith(consoles, rowsOf(9)), '&sort=name');
    const names = await page.locator('tbody tr td[data-first]').allInnerTexts();
    await picked(page, names[1] ?? '').click();
    await picked(page, names[4] ?? '').click({ modifiers: ['Shift'] });
    await bulkActions(page).getByText('4 selected').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('tbody tr').first().focus();
    for (const key of ['x', 'j', 'j', 'X']) await page.keyboard.press(key);
    await expect.poll(() => bulkActions(page).getByText('3 selected').count()).toBe(1);
    await page.context().close();
  });
});

test('with an undo error for one row restores the others, and names that row', async () => {
  const [mine, taken] = rowsOf(2).map((row) => ({ ...row, enabled: true }));
  const site = await siteWith(
    consoles,
    [mine, taken].flatMap((row) => row ?? []),
  );
  const page = await openList(consoles, site, '', /status of 409/);
  await page.getByRole('checkbox', { name: 'Select this page' }).click();
  await bulkActions(page).getByRole('button', { name: 'Turn off' }).click();
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
  test.each(casesOfRun(settings, settings.length))('gives each its own value back: %s', async (name, column, fill) => {
    const { page, stored } = await nodesIn();
    const before = await stored();
    await page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulkActions(page).getByRole('button', { name: 'More' }).click();
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
  const site = await siteWith(consoles, [taken, free]);
  const target = await consoles.app.build.site({ owner: site.owner, product: site.product });
  await consoles.app.build.domain({ site: target, name: taken.name, enabled: false });
  const page = await openList(consoles, site, '', /status of 4/);
  await page.getByRole('checkbox', { name: 'Select this page' }).click();
  await bulkActions(page).getByRole('button', { name: 'More' }).click();
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

test('several sites get one expiry, and their tags are replaced', async () => {
  const site = await consoles.app.build.site({ name: 'alpha' });
  const beside = await consoles.app.build.site({ name: 'beta', product: site.product });
  const { db } = consoles.app.installation;
  const { page } = await consoles.openAs(site.client, 'nodeManage/sitesList');
  const form = page.getByRole('dialog');
  const choose = async (label: string) => {
    for (const name of ['alpha', 'beta']) await picked(page, name).check();
    await bulkActions(page).getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: label }).click();
  };
  await choose('Set expiry');
  await form.getByLabel('Expiry').fill('2099-01-01T00:00');
  await keepPicture(page, 'sites-expiry');
  await page.keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
  const rows = () =>
    db.site.findMany({ where: { id: { in: [site.id, beside.id] } }, select: { expiresAt: true, tags: true } });
  expect((await rows()).map(({ expiresAt }) => expiresAt?.getUTCFullYear())).toEqual([2099, 2099]);
  await choose('Set tags');
  await form.getByLabel('Tags').fill('vip');
  await page.keyboard.press('Enter');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect((await rows()).map(({ tags }) => tags)).toEqual([['vip'], ['vip']]);
  await page.context().close();
});

// Regression: the other limits of sites that differ became those of the product.
test('one limit of several sites is set, and the limits in which they differ stay', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site({ name: 'gamma' });
  const beside = await build.site({ name: 'delta', product: site.product });
  await installation.db.site.update({ where: { id: site.id }, data: { domainLimit: 5 } });
  await installation.db.site.update({ where: { id: beside.id }, data: { domainLimit: 9 } });
  const { page } = await consoles.openAs(site.client, 'nodeManage/sitesList');
  for (const name of ['gamma', 'delta']) await picked(page, name).check();
  await bulkActions(page).getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Set limits' }).click();
  const form = page.getByRole('dialog');
  await expect.poll(() => form.getByRole('combobox', { name: 'Domain limit' }).inputValue()).toBe('Leave unchanged');
  await form.getByRole('combobox', { name: 'Concurrent requests' }).click();
  await page.getByRole('option', { name: 'Own limit' }).click();
  await form.getByRole('textbox', { name: 'Own limit: Concurrent requests' }).fill('50');
  await keepPicture(page, 'site-limits');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'hidden' });
  const rows = await installation.db.site.findMany({
    where: { id: { in: [site.id, beside.id] } },
    select: { domainLimit: true, maxConnections: true },
    orderBy: { domainLimit: 'asc' },
  });
  expect(rows).toEqual([
    { domainLimit: 5, maxConnections: 50 },
    { domainLimit: 9, maxConnections: 50 },
  ]);
});
