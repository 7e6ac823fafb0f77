// How pages load: few requests, then a skeleton, an empty page, an error or a timeout.
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { setSessionCookies } from '../support/services/browser.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
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
    expect(scriptKilobytes).toBeLessThanOrEqual(305);
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
  expect(requested).not.toContain('toUpstream');
  await page.getByRole('heading', { name: 'Requests to origins' }).scrollIntoViewIfNeeded();
  await expect.poll(() => requested).toContain('toUpstream');
  await page.context().close();
});

test('a page whose chunk is missing after an upgrade shows an error, and the frame stays', async () => {
  const { page } = await consoles.openAs(site.client, 'dashboard', { expectedErrors: /status of 404|module script/ });
  await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
  await page.route(/\/assets\/pages-/, (route) => route.fulfill({ status: 404 }));
  await menuOf(page).getByRole('link', { name: 'Zones' }).click();
  await page.getByText('A new version of the console is available').waitFor();
  await expect.poll(() => menuOf(page).isVisible()).toBe(true);
  await page.context().close();
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
    await page.clock.install();
    await page.reload();
    await page.getByRole('link', { name: new RegExp(node.name) }).waitFor();
    await page.context().setOffline(true);
    const hasTime = async () => {
      await page.clock.fastForward('00:05');
      return page.getByText(/^as of \d\d:\d\d:\d\d$/).count();
    };
    await expect.poll(hasTime, { timeout: 180_000 }).toBe(1);
    await expect.poll(() => page.getByRole('link', { name: new RegExp(node.name) }).count()).toBe(1);
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
    await page
      .getByText('The server did not respond within 5 minutes. It may still be working on this. Your settings stay')
      .waitFor();
    await keepPicture(page, 'call-timeout');
    await page.context().close();
  });

  longTest('offers to reload after two minutes without a chunk', async () => {
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

  const files: [string, RegExp][] = [
    ['its main script', /assets\/index-.*\.js$/],
    ['its words', /assets\/words-.*\.js$/],
  ];
  test.each(casesOfRun(files, files.length))(
    'as the first load, %s, says so and offers to reload',
    async (_, files) => {
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
    },
  );

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
