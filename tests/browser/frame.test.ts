// The frame around every screen: menus by permission, empty and failed pages, accessible overlays.
import { announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { casesOfRun } from '../support/builders/long-run.ts';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { setSessionCookies } from '../support/services/browser.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { measurePageCost } from '../support/assertions/page-cost.ts';
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

// Earlier the sign-in page took 47 requests and 230 KB of script, and a dashboard 171 requests.
describe.each(['user', 'client', 'admin'] as const)('a cold visit of the %s console', (kind) => {
  const isSeen = (name: RegExp) => (page: Page) => page.getByRole('heading', { level: 1, name }).waitFor();

  test('loads its sign-in form with few requests and little script', async () => {
    const { page } = await consoles.open(kind);
    const { requests, scriptKilobytes } = await measurePageCost(page, `/${kind}/login`, isSeen(/Sign in/));
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(12);
    expect(scriptKilobytes).toBeLessThanOrEqual(150);
    await page.context().close();
  });

  test('loads the dashboard with few requests and little script', async () => {
    const account = { user: site.owner, client: site.client, admin: await consoles.app.build.admin() }[kind];
    const screen = await consoles.open(kind);
    await setSessionCookies(screen, consoles.base[kind], account);
    const { page } = screen;
    const { requests, scriptKilobytes } = await measurePageCost(page, `/${kind}/dashboard`, isSeen(/Dashboard/));
    expect(requests.length, requests.join('\n')).toBeLessThanOrEqual(25);
    expect(scriptKilobytes).toBeLessThanOrEqual(310);
    await page.context().close();
  });
});

test('a phone loads the charts of the dashboard as the reader scrolls to them', async () => {
  const screen = await consoles.open('client', { width: 390 });
  await setSessionCookies(screen, consoles.base.client, site.client);
  const { page } = screen;
  const requested: string[] = [];
  page.on('request', (request) => requested.push(/\/charts\/(\w+)/.exec(request.url())?.[1] ?? ''));
  await page.goto('/client/dashboard');
  await page.getByText('Nothing was measured in this period', { exact: false }).waitFor();
  expect(requested).toContain('bandwidth');
  expect(requested).not.toContain('status');
  await page.getByRole('heading', { name: 'Status codes' }).scrollIntoViewIfNeeded();
  await expect.poll(() => requested).toContain('status');
  await page.context().close();
});

test('the site switcher searches among all sites', async () => {
  const { id, product, owner } = await consoles.app.build.site();
  const found = await consoles.app.build.site({ product, owner, name: 'zz-searched-for' });
  for (let i = 0; i < 60; i += 1) await consoles.app.build.site({ product, owner, name: `crowd-${i}` });
  const { page } = await consoles.openAs(owner, `sitesManagement/sitesSetting/${id}/x?view=jobs`);
  await page.getByRole('button', { name: /Switch site/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Switch site' });
  await dialog.getByRole('button', { name: 'crowd-1', exact: true }).waitFor();
  expect(await dialog.getByRole('button', { name: found.name }).count()).toBe(0);
  await page.keyboard.type('searched');
  await dialog.getByRole('button', { name: found.name }).waitFor();
  expect(await dialog.getByRole('button').count()).toBe(1);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/sitesSetting/${found.id}/**`);
  await page.context().close();
});

test('a page whose chunk is missing after an upgrade shows an error, and the frame stays', async () => {
  const { page } = await consoles.openAs(site.client, 'dashboard', { expectedErrors: /status of 404|module script/ });
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
  await page.route(/\/assets\/pages-/, (route) => route.fulfill({ status: 404 }));
  await menuOf(page).getByRole('link', { name: 'Zones' }).click();
  await page.getByText('A new version of the console is available').waitFor();
  expect(await menuOf(page).isVisible()).toBe(true);
  await page.context().close();
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
    expect(await menuOf(page).getByText('Products & sites').count()).toBe(0);
    await keepPicture(page, 'menu-of-an-operator-for-nodes');

    await menuOf(page).getByRole('link', { name: 'Zones' }).click();
    await page.getByRole('link', { name: site.zone.name }).waitFor();
    expect(await page.getByRole('button', { name: 'Add zone' }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: `Actions for ${site.zone.name}` }).count()).toBe(0);
    await page.context().close();
  });

  test('for a customer’s account that reads one site', async () => {
    const sub = await consoles.app.build.subUser(site.owner, [site], { permissions: ['site:read', 'cache:read'] });
    const { page } = await consoles.openAs(sub, own('overview'));
    const seen = await entries(page);
    expect(seen).toEqual(expect.arrayContaining(['Overview', 'Cache']));
    expect(seen).not.toContain('Domains');
    expect(await menuOf(page).getByText('Protection').count()).toBe(0);
    await keepPicture(page, 'menu-of-a-customer-who-reads-one-site');
    await page.context().close();
  });

  test('and a link to a forbidden page names the missing permission', async () => {
    const sub = await consoles.app.build.subUser(site.owner, [site], { permissions: ['site:read'] });
    const { page } = await consoles.openAs(sub, own('domains'), { expectedErrors: /status of 403/ });
    await page.getByText('Your role cannot view this').waitFor();
    await page.getByText('domain:read').waitFor();
    expect(await page.getByRole('link', { name: 'Add domains' }).count()).toBe(0);
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

describe('a page without data', () => {
  test('explains its purpose when empty', async () => {
    const { page } = await consoles.openAs(site.owner, own('domains'));
    await page.getByText('No domains yet').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  });

  test('shows nothing at first, then a skeleton', async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard');
    let answer = () => {};
    await page.route('**/site/*/domains*', async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    await page.goto(`/user/${own('domains')}`);
    await page.getByRole('heading', { level: 1, name: 'Domains' }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    answer();
    await page.getByText('No domains yet').waitFor();
    await page.context().close();
  });

  test('reports an unreachable server, and reloads when the network returns', async () => {
    const { page } = await consoles.openAs(site.owner, own('overview'), {
      expectedErrors: /ERR_INTERNET_DISCONNECTED/,
    });
    await menuOf(page).getByRole('link', { name: 'Jobs' }).waitFor();
    // The page's script is loaded; its API request fails.
    await menuOf(page).getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await menuOf(page).getByRole('link', { name: 'Domains' }).click();
    await page.getByText('No domains yet').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('searchbox').fill('anything');
    await page.getByText('Domains could not be loaded').waitFor();
    await page.getByText('The server does not respond').waitFor();
    await page.getByText('This page reloads automatically').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, 'failed');
    // The page reloads without input when the network is back.
    await page.context().setOffline(false);
    await page.getByText('Nothing matches').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  });

  test('whose server is unreachable retries automatically, and at once when its tab becomes visible', async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard', { expectedErrors: /ERR_CONNECTION_REFUSED/ });
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await page.clock.install();
    const domains = new RegExp(`/site/${site.id}/domains(\\?|$)`);
    await page.route(domains, (route) => route.abort('connectionrefused'));
    await page.goto(`/user/${own('domains')}`);
    await page.getByText('This page reloads automatically').waitFor();
    // From here on, time passes only by these steps; retries are at most a minute apart.
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
    const retried = page.waitForEvent('requestfailed', (request) => domains.test(request.url()));
    await page.clock.runFor(61_000);
    await retried;
    await page.unroute(domains);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
    const shown = async () => {
      await page.clock.runFor(5);
      return page.getByText('No domains yet').count();
    };
    await expect.poll(shown).toBe(1);
    await page.context().close();
  });

  test('shows its head at once, which keeps focus until the data arrives', async () => {
    const node = await consoles.app.build.node({ zone: site.zone });
    const { page } = await consoles.openAs(site.client, 'nodeManage/nodesList', { expectedErrors: /status of 500/ });
    const held: Route[] = [];
    await page.route(new RegExp(`/client/node/${node.id}$`), (route) => void held.push(route));
    await page.getByRole('link', { name: new RegExp(node.name) }).click();
    const head = page.getByRole('heading', { level: 1, name: 'Nodes', exact: true });
    await head.waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    await expect.poll(() => head.evaluate((it) => it === document.activeElement)).toBe(true);
    expect(await accessibilityViolations(page)).toEqual([]);
    await expect.poll(() => held.length).toBeGreaterThan(0);
    for (const route of held.splice(0)) await route.continue();
    const named = page.getByRole('heading', { level: 1, name: node.name });
    await named.waitFor();
    await expect.poll(() => named.evaluate((it) => it === document.activeElement)).toBe(true);

    await page.unroute(new RegExp(`/client/node/${node.id}$`));
    await page.route(new RegExp(`/client/node/${node.id}$`), (route) => route.fulfill({ status: 500, body: '' }));
    await page.reload();
    await page.getByRole('heading', { level: 2, name: 'Nodes could not be loaded' }).waitFor();
    await head.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  });

  test('with live data keeps its rows while the server is unreachable, and shows their time', async () => {
    const node = await consoles.app.build.node({ zone: site.zone });
    const { page } = await consoles.openAs(site.client, 'nodeManage/nodesList', {
      expectedErrors: /ERR_INTERNET_DISCONNECTED/,
    });
    await page.getByRole('link', { name: new RegExp(node.name) }).waitFor();
    await page.context().setOffline(true);
    await page.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor({ timeout: 180_000 });
    expect(await page.getByRole('link', { name: new RegExp(node.name) }).count()).toBe(1);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  });
});

describe('a timeout', () => {
  test('ends a call after five minutes with an error', async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard');
    await page.clock.install();
    const held: Route[] = [];
    await page.route('**/site/*/domains*', (route) => void held.push(route));
    await page.goto(`/user/${own('domains')}`);
    await expect.poll(() => held.length).toBe(1);
    await page.clock.fastForward('05:01');
    await page.getByText('The server did not respond within 5 minutes').waitFor();
    await keepPicture(page, 'call-timeout');
    await page.context().close();
  });

  test('offers to reload after two minutes without a chunk', async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard');
    await page.clock.install();
    await page.reload();
    await menuOf(page).getByRole('link', { name: 'Roles' }).waitFor();
    const held: Route[] = [];
    await page.route(/assets\/pages-.*\.js$/, (route) => void held.push(route));
    await menuOf(page).getByRole('link', { name: 'Roles' }).click();
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.getByRole('progressbar', { name: 'Loading' }).waitFor();
    await page.clock.fastForward('02:01');
    await page.getByText('did not load within 2 minutes').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.unroute(/assets\/pages-.*\.js$/);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'Roles' }).waitFor();
    await page.context().close();
  });

  test.each([
    ['its main script', /assets\/index-.*\.js$/],
    ['its words', /assets\/words-.*\.js$/],
  ])('as the first load, %s, says so and offers to reload', async (_, files) => {
    const { page } = await consoles.open('user', { expectedErrors: /took too long/ });
    await page.clock.install();
    const held: Route[] = [];
    await page.route(files, (route) => void held.push(route));
    await page.goto('/user/login', { waitUntil: 'commit' });
    await expect.poll(() => held.length).toBeGreaterThan(0);
    // The first script of the page, which starts the timeout, may run after the browser has requested the others.
    await page.locator('html[data-mantine-color-scheme]').waitFor({ state: 'attached' });
    await page.clock.fastForward('02:01');
    await page.getByText('The console did not load within 2 minutes.').waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, 'not-started');
    await page.getByRole('button', { name: 'Reload' }).click();
    // Removing the route releases the held requests.
    await page.unroute(files);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  test('of a change of language keeps the language and shows an error', async () => {
    const { page } = await consoles.open('user');
    await page.clock.install();
    await page.goto('/user/login');
    const held: Route[] = [];
    await page.route(/assets\/words-.*\.js$/, (route) => void held.push(route));
    await page.getByRole('button', { name: '简体中文' }).click();
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.clock.fastForward('02:01');
    await page.getByText('did not load within 2 minutes').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.context().close();
  });

  test('of the palette shows an error, and the next opening retries', async () => {
    const { page } = await consoles.openAs(site.owner, 'dashboard');
    const dashboard = page.getByRole('heading', { level: 1, name: 'Dashboard' });
    await dashboard.waitFor();
    const held: Route[] = [];
    const chunks = /assets\/pages-.*\.js$/;
    await page.route(chunks, (route) => void held.push(route));
    await page.clock.install();
    await page.keyboard.press('Control+k');
    await expect.poll(() => held.length).toBeGreaterThan(0);
    await page.clock.fastForward('02:01');
    await page.getByText('did not load within 2 minutes').waitFor();
    await dashboard.waitFor();
    await page.unroute(chunks);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run' }).waitFor();
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
  expect(await menuOf(page).count()).toBe(0);
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

describe.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 390],
] as const)('overlays are accessible, %s at %i px', (theme, width) => {
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

test('a success message lets clicks through to the content below', async () => {
  const { page } = await consoles.openAs(site.client, 'nodeManage/zonesList');
  const drawer = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  await drawer.getByLabel('Name', { exact: true }).fill('Under a message');
  await drawer.getByRole('button', { name: 'Add zone' }).click();
  const message = page.getByLabel('Messages').getByText('Create Success!');
  const pressed = await message.evaluate((shown) => {
    const { x, y, width, height } = shown.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2)?.closest('[aria-label="Messages"]') ?? null;
  });
  expect(pressed).toBeNull();
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

describe.each(casesOfRun([1440, 1024, 390], 2))('an announcement at %i px', (width) => {
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
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);

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
    expect(await panel.count()).toBe(0);
    await page.context().close();
  });
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

  test.each(['domains', 'cache', 'versions'])('on the %s of a site', { timeout: 240_000 }, async (view) => {
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
      await page.getByRole('menuitem', { name: item }).press('Enter');
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
    expect(await page.getByRole('dialog').count()).toBe(1);
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
    await page.getByRole('menuitem', { name: 'Remove' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove three' }).press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => page.locator('tbody tr:focus td[data-first]').allInnerTexts()).toEqual(['two']);
    await page.context().close();
  });
});
