// The frame around every screen: menus by permission, the site switcher, last places, time zone, announcements.
import { announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { casesOfRun } from '../support/builders/long-run.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  site = await consoles.app.build.site();
}, 400_000);
afterAll(() => consoles.stop());

const own = (view: string) => `sitesManagement/sitesSetting/${site.id}/x?view=${view}`;
const menuOf = (page: Page) => page.getByRole('complementary', { name: 'Menu' });
const entries = async (page: Page) => {
  await menuOf(page)
    .getByRole('link', { name: 'Dashboard' })
    .or(menuOf(page).getByRole('link', { name: 'Overview' }))
    .waitFor();
  return menuOf(page).locator('li a').allInnerTexts();
};

test('the site switcher searches among all sites', async () => {
  const { id, product, owner } = await consoles.app.build.site();
  const found = await consoles.app.build.site({ product, owner, name: 'zz-searched-for' });
  for (let i = 0; i < 60; i += 1) await consoles.app.build.site({ product, owner, name: `crowd-${i}` });
  const { page } = await consoles.openAs(owner, `sitesManagement/sitesSetting/${id}/x?view=jobs`);
  await page.getByRole('button', { name: /Switch site/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch site' });
  await dialog.getByRole('button', { name: 'crowd-1', exact: true }).waitFor();
  await expect.poll(() => dialog.getByRole('button', { name: found.name }).count()).toBe(0);
  await page.keyboard.type('searched');
  await dialog.getByRole('button', { name: found.name }).waitFor();
  await expect.poll(() => dialog.getByRole('button').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sitesSetting/${found.id}/**`);
  await page.context().close();
});

// It used to disappear: once the site was loaded, the menu scrolled to the current entry, and the switcher out of view.
test('the site switcher stays open while the menu of the site loads', async () => {
  const { page } = await consoles.openAs(site.owner, 'dashboard');
  const loaded = Promise.withResolvers<void>();
  await page.route(new RegExp(`/site/${site.id}$`), async (route) => {
    await loaded.promise;
    await route.continue();
  });
  await page.setViewportSize({ width: 1440, height: 600 });
  await page.goto(`/user/${own('jobs')}`);
  await page.getByRole('button', { name: /Switch site/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch site' });
  await dialog.getByRole('button', { name: site.name }).waitFor();
  loaded.resolve();
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  const entry = menuOf(page).getByRole('link', { name: 'Jobs', exact: true });
  await entry.waitFor();
  // The menu scrolls and the popover follows in the frames after its entries have appeared.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.keyboard.type(site.name);
  await expect.poll(() => dialog.getByLabel('Find a site').inputValue()).toBe(site.name);
  await dialog.getByRole('button', { name: site.name }).waitFor();
  await keepPicture(page, 'site-switcher');
});

describe('the menu shows only readable pages', () => {
  test('for an operator’s account with access to nodes', async () => {
    const tenant = { clientId: site.clientId, client: site.client };
    const sub = await consoles.app.build.subClient(tenant, [site.zone], { permissions: ['zone:read', 'node:read'] });
    const { page } = await consoles.openAs(sub, 'dashboard');
    const seen = await entries(page);
    expect(seen).toEqual(expect.arrayContaining(['Dashboard', 'Zones', 'Nodes']));
    for (const hidden of ['Products', 'Sites', 'Domains', 'Single sign-on']) expect(seen).not.toContain(hidden);
    // A menu group without entries is hidden.
    await expect.poll(() => menuOf(page).getByText('Products & sites').count()).toBe(0);
    await keepPicture(page, 'menu-of-an-operator-for-nodes');

    await menuOf(page).getByRole('link', { name: 'Zones' }).click();
    await page.getByRole('link', { name: site.zone.name }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Add zone' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('checkbox').count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: `Actions for ${site.zone.name}` }).count()).toBe(0);
    await page.context().close();
  });

  test('for a customer’s account that reads one site', async () => {
    const sub = await consoles.app.build.subUser(site.owner, [site], { permissions: ['site:read', 'cache:read'] });
    const { page } = await consoles.openAs(sub, own('overview'));
    const seen = await entries(page);
    expect(seen).toEqual(expect.arrayContaining(['Overview', 'Cache']));
    expect(seen).not.toContain('Domains');
    await expect.poll(() => menuOf(page).getByText('Protection').count()).toBe(0);
    await keepPicture(page, 'menu-of-a-customer-who-reads-one-site');
    await page.context().close();
  });

  test('and a link to a forbidden page names the missing permission', async () => {
    const sub = await consoles.app.build.subUser(site.owner, [site], { permissions: ['site:read'] });
    const { page } = await consoles.openAs(sub, own('domains'), { expectedErrors: /status of 403/ });
    await page.getByText('Your role cannot view this').waitFor();
    await page.getByText('domain:read').waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Add domains' }).count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, 'forbidden');
    await page.context().close();
  });

  test('for a root account, all of them', async () => {
    const { page } = await consoles.openAs(site.client, 'dashboard');
    expect(await entries(page)).toEqual(expect.arrayContaining(['Zones', 'Nodes', 'Products', 'Sites', 'Domains']));
    await keepPicture(page, 'menu-of-an-operator');
    await page.context().close();
  });
});

test('an unknown URL redirects to the start page with a message, and one of /admin/ to the 404 page', async () => {
  const { page } = await consoles.openAs(site.owner, 'no/such/page', { expectedErrors: /status of 404/ });
  await page.waitForURL('**/user/dashboard');
  await page.getByText('This page does not exist').waitFor();
  await page.goto('/elsewhere');
  await page.waitForURL('**/user/dashboard');
  for (const address of ['/admin/licenses', '/client/admin/x']) {
    await page.goto(address);
    await page.waitForURL('**/404');
    await page.getByRole('heading', { level: 1, name: '404' }).waitFor();
  }
  await expect.poll(() => menuOf(page).count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.context().close();
});

test('the current menu entry is in view after navigation and reload', async () => {
  const { page } = await consoles.openAs(site.client, 'dashboard');
  await page.setViewportSize({ width: 1440, height: 420 });
  const menu = page.getByRole('navigation', { name: 'Main menu' });
  const isSeen = () =>
    menu.evaluate((nav) => {
      const [inside, entry] = [nav, nav.querySelector('[aria-current="page"]')].map((it) =>
        it?.getBoundingClientRect(),
      );
      return inside && entry ? entry.top >= inside.top - 1 && entry.bottom <= inside.bottom + 1 : null;
    });
  await expect.poll(isSeen).toBe(true);
  await page.goto('/client/userManagement/announcementSetting');
  await page.getByRole('heading', { level: 1, name: 'Announcements' }).waitFor();
  await expect.poll(isSeen).toBe(true);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Announcements' }).waitFor();
  await expect.poll(isSeen).toBe(true);
  // The shortcut moves focus to the first entry, although focus was at the end of the menu.
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  await expect.poll(isSeen).toBe(true);
  await page.setViewportSize({ width: 1440, height: 330 });
  await expect.poll(isSeen).toBe(true);
  await page.context().close();
});

test('the last site and zone of a tab are reopened until sign-out', async () => {
  // Signing out ends the account's session, so this test uses its own account.
  const site = await consoles.app.build.site();
  const other = await consoles.app.build.zone({ tenant: { clientId: site.clientId, client: site.client } });
  const { page } = await consoles.openAs(site.client, `nodeManage/sitesSetting/${site.id}/x?view=jobs`, {
    // A poll that is in flight during the sign-out fails with 401.
    expectedErrors: /status of 401/,
  });
  await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  await page.goto(`/client/nodeManage/zonesList/${other.id}`);
  await page.getByRole('heading', { level: 1, name: other.name }).waitFor();
  await keepPicture(page, 'last-site');
  await menuOf(page)
    .getByRole('link', { name: `Last opened ${site.name}` })
    .click();
  await page.waitForURL(`**/sitesSetting/${site.id}/**`);
  await page.goto('/client/nodeManage/sitesSetting');
  await page.waitForURL(`**/sitesSetting/${site.id}/**`);
  await page.goto('/client/nodeManage/resolutionTitle');
  await expect.poll(() => page.getByRole('combobox', { name: 'Zone' }).inputValue()).toBe(other.name);
  // Another tab has no last site.
  const beside = await page.context().newPage();
  await beside.goto('/client/nodeManage/sitesSetting');
  await beside.waitForURL('**/client/nodeManage/sitesList');
  await beside.goto(`/client/nodeManage/sitesSetting/${site.id}/x?view=jobs`);
  await beside.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  const places = (tab: Page) =>
    tab.evaluate(() => Object.keys(sessionStorage).filter((key) => key.includes('last')).length);
  expect(await places(beside)).toBeGreaterThan(0);
  await page.getByRole('button', { name: /Account menu/ }).click();
  await page.getByText(/^Console \d+\.\d+/).waitFor();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('E-mail').waitFor();
  expect(await places(page)).toBe(0);
  // The sign-out of one tab is that of the others, whose last places go as well.
  await beside.getByLabel('E-mail').waitFor();
  expect(await places(beside)).toBe(0);
  await page.context().close();
});

test('times are shown in the selected time zone', async () => {
  const { page } = await consoles.openAs(site.client, 'nodeManage/zonesList');
  const shown = page.locator('tbody time').first();
  await shown.waitFor();
  const instant = new Date((await shown.getAttribute('datetime')) ?? '');
  await page.getByTitle('Time zone').click();
  const find = page.getByRole('textbox', { name: 'Find a time zone' });
  await find.fill('america/');
  // Regression: the list ended after a hundred time zones.
  await page.getByRole('button', { name: 'America/Yakutat', exact: true }).waitFor();
  await find.fill('tokyo');
  await page.keyboard.press('Enter');
  await page.getByText('UTC+9').waitFor();
  const there = new Date(instant.getTime() + 9 * 3_600_000).toISOString();
  await expect.poll(() => shown.innerText()).toBe(there.slice(0, 19).replace('T', ' ').replaceAll('-', '/'));
  await page.reload();
  await page.getByText('UTC+9').waitFor();
  await page.context().close();
});

/** The focused row's text after each key, or null. */
async function rowsAfter(page: Page, keys: readonly string[]): Promise<(string | null)[]> {
  const rows: (string | null)[] = [];
  for (const key of keys) {
    await page.keyboard.press(key);
    rows.push(await page.evaluate(() => document.activeElement?.closest('tr')?.textContent ?? null));
  }
  return rows;
}

describe.each(casesOfRun([1440, 1024, 390], 3))('an announcement at %i px', (width) => {
  test('moves the page down, leaves shortcuts to the page, and closes on Escape', async () => {
    const { app, openAs } = consoles;
    const tenant = await app.build.client();
    const zone = await app.build.zone({ tenant });
    const other = await app.build.zone({ tenant });
    await app.as(tenant.client).call(announcementSetting.create, {
      body: { title: 'Maintenance on Sunday', content: 'Purges may take longer.', start: '2026-01-01T00:00:00.000Z' },
    });
    const { page } = await openAs(tenant.client, 'nodeManage/zonesList', { width });
    const panel = page.getByRole('region', { name: 'Announcements' });
    const add = page.getByRole('button', { name: 'Add zone' });
    await panel.getByText('Maintenance on Sunday').waitFor();
    // The announcement opens once. After a reload only the dot remains.
    await page.reload();
    await page.getByRole('button', { name: 'Announcements, 1 unread' }).click();
    await panel.getByText('Maintenance on Sunday').waitFor();
    await page.getByRole('link', { name: zone.name }).waitFor();
    await page.getByRole('link', { name: other.name }).waitFor();
    await keepPicture(page, `announcement-${width}`);
    const [above, below] = [await panel.boundingBox(), await add.boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);

    const [first, second, third] = await rowsAfter(page, ['j', 'j', 'k']);
    // Phones show cards in place of rows.
    expect(second === first).toBe(width === 390);
    expect(third).toBe(first);
    await page.keyboard.press('/');
    await page.locator('input[type="search"]:focus').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    // Escape closes the overlay first.
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await panel.waitFor();
    await page.keyboard.press('c');
    await page.getByRole('dialog', { name: 'Add zone' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    const megaphone = page.getByRole('button', { name: 'Announcements, 0 unread' });
    await megaphone.waitFor();
    await page.reload();
    await megaphone.click();
    await page.locator('section:focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('button:focus[aria-label^="Announcements"]').waitFor();
    await expect.poll(() => panel.count()).toBe(0);
    await page.context().close();
  });
});

test('an announcement that opens by itself moves nothing on a phone', { timeout: 180_000 }, async () => {
  const { app, openAs } = consoles;
  const tenant = await app.build.client();
  await app.as(tenant.client).call(announcementSetting.create, {
    body: { title: 'Maintenance on Sunday', content: 'Purges may take longer.', start: '2026-01-01T00:00:00.000Z' },
  });
  const { page } = await openAs(tenant.client, 'dashboard', { width: 390 });
  const panel = page.getByRole('region', { name: 'Announcements' });
  await panel.getByText('Maintenance on Sunday').waitFor();
  await page.evaluate(() => localStorage.clear());
  // The page is shown after a second at the latest, which this test must not reach.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Animation.enable');
  await devtools.send('Animation.setPlaybackRate', { playbackRate: 0 });
  const isPageThere = Promise.withResolvers<void>();
  await page.route(/\/announcements(\?|$)/, async (route) => {
    await isPageThere.promise;
    await route.continue();
  });
  await page.reload();
  await page.locator('main h1').waitFor();
  await page.locator('main').getByText('Needs attention').waitFor();
  isPageThere.resolve();
  await panel.getByText('Maintenance on Sunday').waitFor();
  const shift = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) =>
          resolve(list.getEntries().reduce((sum, entry) => sum + Number(Reflect.get(entry, 'value')), 0)),
        ).observe({ type: 'layout-shift', buffered: true });
        // Without any shift there is no entry.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
      }),
  );
  expect(shift).toBeLessThanOrEqual(0.02);
  await page.context().close();
});
