// The dashboards with traffic.
import type { Page } from 'playwright-core';
import { Cards, cardTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { Overview } from '@edgeloom/contract/overview/overview.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BuiltSite } from '../support/builders/build.ts';
import { addLogs, addTraffic, logLine } from '../support/builders/traffic.ts';
import { measurePageCost } from '../support/assertions/page-cost.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { setSessionCookies } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  site = await consoles.app.build.site();
  const { id } = await consoles.app.build.node({ zone: site.zone });
  await consoles.app.build.domain({ site });
  const { pool } = consoles.app.installation;
  await addTraffic(pool, id, site.id);
  await addLogs(pool, id, [
    logLine(site.id),
    logLine(site.id, { uri: '/catalog', bytes: 90_000 }),
    logLine(site.id, { address: '203.0.113.9', status: 929, cause: 'blacklist' }),
  ]);
}, 400_000);
afterAll(() => consoles.stop());

const panel = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) });

const PERIOD = /^\d{4}\/\d\d\/\d\d \d\d:\d\d – \d{4}\/\d\d\/\d\d \d\d:\d\d UTC/;

const looks = [
  ['user', 1440, 'light', 'en'],
  ['client', 1440, 'dark', 'zh-TW'],
  ['user', 390, 'light', 'zh-CN'],
] as const;
test.each(casesOfRun(looks, looks.length))('%s at %i px, %s, %s', async (kind, width, theme, language) => {
  const account = kind === 'user' ? site.owner : site.client;
  const { page } = await consoles.openAs(account, 'dashboard', { width, theme, language });
  await page.locator('canvas').first().waitFor();
  await page.locator('dl').getByText(/TB|GB/).first().waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, `dashboard-${kind}-${width}-${language}`);
  await page.context().close();
});

test.each([1440, 1100])('curves of cards are beside their figures at %i px, however long these are', async (width) => {
  const { page } = await consoles.openAs(site.owner, 'dashboard', { width });
  await page.route('**/statistics/info', async (route) => {
    const response = await route.fetch();
    const figures = Cards.parse(await response.json());
    const data = figures.data.map((card) => ({ ...card, value: card.type === cardTypes.hitRate ? 0.9999 : 999_989e9 }));
    await route.fulfill({ response, json: { ...figures, data } });
  });
  await page.reload();
  await page.locator('dl').getByText('999.99').first().waitFor();
  await expect.poll(() => page.locator('dl > div svg').count()).toBeGreaterThanOrEqual(3);
  const overlaps = await page.locator('dl > div:has(svg)').evaluateAll((cards) =>
    cards.flatMap((card) => {
      const curve = card.querySelector('svg')?.getBoundingClientRect() ?? new DOMRect();
      return [...card.querySelectorAll('dt, dd')].flatMap((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        const text = range.getBoundingClientRect();
        const isBeside = curve.left >= text.right || curve.top >= text.bottom || curve.bottom <= text.top;
        return isBeside ? [] : [part.textContent];
      });
    }),
  );
  expect(overlaps).toEqual([]);
  await keepPicture(page, `dashboard-long-figures-${width}`);
  await page.context().close();
});

test('each chart has its newest figures as text, and all of them as a table', async () => {
  const { page } = await consoles.openAs(site.owner, 'dashboard');
  const requests = panel(page, 'Requests');
  await requests.getByRole('img', { name: /^Requests: Total Requests [\d,]+$/ }).waitFor();
  // 80 % of at least 200 requests, and three misses.
  await panel(page, 'Cache hit rate')
    .getByRole('img', { name: /^Cache hit rate: Latest Cache hit rate (78|79|80)\.\d\d%$/ })
    .waitFor();
  await requests.getByText('Show as table').click();
  await expect.poll(() => requests.getByRole('row').count()).toBeGreaterThan(90);
  await page.context().close();
});

test('key figures have their change, and top values lead to the statistics of only these requests', async () => {
  const { page } = await consoles.openAs(site.owner, 'dashboard');
  const traffic = page.locator('dl > div').filter({ hasText: 'Traffic' });
  await traffic.getByText(/^[\d.]+\sGB$/).waitFor();
  await page.getByText('1 site · 1 domain').waitFor();
  await page.getByText(PERIOD).waitFor();
  await panel(page, 'Countries').getByRole('link', { name: 'Taiwan', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Statistics' }).waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('?range=oneDay&country=TW');
  await page.locator('dl > div').filter({ hasText: 'Requests' }).getByText('2', { exact: true }).waitFor();
  await page.context().close();
});

test('a site that was first visited a minute ago has figures by the minute, from its first data on', async () => {
  const young = await consoles.app.build.site();
  const { id } = await consoles.app.build.node({ zone: young.zone });
  const screen = await consoles.open('user');
  const { page } = screen;
  await setSessionCookies(screen, consoles.base.user, young.owner);
  await page.clock.install();
  await page.goto('/user/dashboard');
  await panel(page, 'Bandwidth').getByText('No data yet').waitFor();
  await addLogs(consoles.app.installation.pool, id, [logLine(young.id), logLine(young.id, { status: 404 })]);
  const isYoung = async () => {
    await page.clock.fastForward('00:10');
    return panel(page, 'Bandwidth').getByText('Every minute').count();
  };
  await expect.poll(isYoung, { timeout: 60_000 }).toBe(1);
  await panel(page, 'Status codes')
    .getByRole('img', { name: /2xx 1, .*4xx 1/ })
    .waitFor();
  await page.locator('dl > div').filter({ hasText: 'Requests' }).getByText('2', { exact: true }).waitFor();
  await expect.poll(() => panel(page, 'Bandwidth').getByText('No data yet').count()).toBe(0);
  await panel(page, 'Bandwidth')
    .getByText(/^Data since \d\d:\d\d$/)
    .waitFor();
  await panel(page, 'Requests').getByRole('img', { name: 'Requests: Total Requests 2' }).waitFor();
  for (const name of ['Traffic', 'Requests', 'Status codes'])
    await panel(page, name).getByText('Every minute').waitFor();
  await keepPicture(page, 'dashboard-young');
  await page.context().close();
  // Regression: charts far below were requested while those above had no height yet.
  for (const account of [young.owner, young.client]) {
    const cold = await consoles.open(account.kind);
    await setSessionCookies(cold, consoles.base[account.kind], account);
    const { requests } = await measurePageCost(cold.page, `/${account.kind}/dashboard`, (opened) =>
      opened.locator('canvas').first().waitFor(),
    );
    const charts = requests.filter((request) => /\/api\/v1\/\w+\/charts\//.test(request));
    expect(charts.length, requests.join('\n')).toBeLessThanOrEqual(4);
    await cold.page.context().close();
  }
});

test('blocked requests have tabs of their own', async () => {
  const { page } = await consoles.openAs(site.owner, 'dashboard');
  await page.getByRole('link', { name: 'Blocked', exact: true }).click();
  await panel(page, 'Block causes').getByText('Block list').waitFor();
  await panel(page, 'Client addresses').getByText('203.0.113.9').waitFor();
  await page.getByRole('link', { name: 'WAF', exact: true }).click();
  await expect.poll(() => panel(page, 'WAF rules').count()).toBe(1);
  await page.context().close();
});

test('a new operator sees the first steps and what is done, and dismisses them in every browser', async () => {
  const tenant = await consoles.app.build.client();
  const { page } = await consoles.openAs(tenant.client, 'dashboard');
  const steps = page.getByRole('region', { name: 'First steps' });
  const zone = steps.getByRole('listitem').filter({ hasText: 'share one configuration' });
  await steps.getByText('0 of 6 done').waitFor();
  await page.getByText('Nothing to watch yet.').waitFor();
  expect(await page.getByText('All clear.').count()).toBe(0);
  // Only what can be done now is a link.
  expect(await steps.getByRole('link').allTextContents()).toEqual(['Add zone']);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'dashboard-first-steps');

  await steps.getByRole('link', { name: 'Add zone' }).press('Enter');
  const form = page.getByRole('dialog', { name: 'Add zone' });
  await form.getByLabel('Name').waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'hidden' });
  await consoles.app.build.zone({ tenant });
  await page.goBack();
  await steps.getByText('1 of 6 done').waitFor();
  expect(await zone.getByRole('img', { name: 'Done', exact: true }).count()).toBe(1);
  expect(await steps.getByRole('link').allTextContents()).toEqual(['Install node', 'Add group', 'Add product']);

  await steps.getByRole('button', { name: 'Dismiss' }).press('Enter');
  await page.getByText('First steps dismissed').waitFor();
  await expect.poll(() => steps.count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await page.getByRole('button', { name: 'Undo' }).click();
  await steps.getByRole('button', { name: 'Dismiss' }).click();
  await expect.poll(() => steps.count()).toBe(0);
  await page.context().close();

  const other = await consoles.openAs(tenant.client, 'dashboard', { width: 390 });
  await other.page.getByText('Nothing to watch yet.').waitFor();
  expect(await other.page.getByText('First steps').count()).toBe(0);
  await other.page.context().close();
});

test('the first page of an administrator has operators with licenses, and the health of the system', async () => {
  const { build, installation } = consoles.app;
  const { id, name } = await installation.db.client.findUniqueOrThrow({ where: { id: site.clientId } });
  const endsAt = new Date('2031-05-06T07:08:09Z');
  await installation.db.license.create({ data: { clientId: id, siteLimit: 1200, endsAt } });
  // No publisher runs here.
  await installation.db.outbox.deleteMany();
  const { page } = await consoles.openAs(await build.admin(), '');
  await page.waitForURL('**/admin/dashboard');
  const operators = await installation.db.account.count({ where: { kind: 'client', isRoot: true } });
  const figure = page.locator('dl > div').filter({ hasText: 'Operators' });
  await figure.getByText(String(operators), { exact: true }).waitFor();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  await expect.poll(() => row.innerText()).toMatch(/1 of 1,200\s+1\s+1\s+2031\/05\/06/);
  const system = page.getByRole('region', { name: 'System' });
  await system.scrollIntoViewIfNeeded();
  await system.getByText('Database (PostgreSQL)').waitFor();
  await system.getByText('All changes are published').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'dashboard-admin');
  await page.getByText(PERIOD).waitFor();
  await row.getByRole('link').click();
  await page.waitForURL(`**/userManagement/users/${site.client.id}`);

  await page.route('**/api/v1/health', (route) => {
    const checks = { nats: { ok: false, tookMs: 3, error: 'not reachable' } };
    return route.fulfill({ json: { status: 'degraded', version: '0', checks } });
  });
  await page.route('**/api/v1/admin/overview', async (route) => {
    const response = await route.fetch();
    const found: unknown = await response.json();
    const waitingChanges = { count: 12, delaySeconds: 7200 };
    await route.fulfill({ response, json: { ...Object(found), waitingChanges } });
  });
  await page.goto('/admin/dashboard');
  await system.scrollIntoViewIfNeeded();
  await system.getByText('Not reachable').waitFor();
  await system.getByText('12 changes have waited for up to 2 h').waitFor();
  expect(await system.getByText('All changes are published').count()).toBe(0);
  await keepPicture(page, 'dashboard-admin-waiting');
  await page.context().close();
});

// Regression: during an upgrade, the page of the new release failed with an API of the release before.
test('the first page of an administrator shows the reports of an API of another release', async () => {
  const { page } = await consoles.openAs(await consoles.app.build.admin(), '');
  await page.route('**/api/v1/admin/overview', async (route) => {
    const response = await route.fetch();
    const found = Overview.omit({ waitingChanges: true }).parse(await response.json());
    const queues = [{ queue: 'laterWork', due: 3, delaySeconds: 7200 }];
    await route.fulfill({ response, json: { ...found, failingDocuments: 0, queues } });
  });
  await page.goto('/admin/dashboard');
  const system = page.getByRole('region', { name: 'System' });
  await system.scrollIntoViewIfNeeded();
  await system.getByText('All changes are published').waitFor();
  const late = system.getByRole('listitem').filter({ hasText: 'laterWork' });
  await expect.poll(() => late.innerText()).toMatch(/3 waiting, for up to 2\sh/);
  await keepPicture(page, 'dashboard-admin-other-release');
  await page.context().close();
});
