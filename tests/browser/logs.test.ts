// The search of access logs and the panel of a request.
import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { delayFirstPages, searchInSmallSteps, searchToEnd } from '../support/assertions/long-search.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { addLogs, addSessions, logLine, sessionLine } from '../support/builders/traffic.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

const address = 'dataAnalysis/logger';
const hostile = `/<img src=x onerror=alert(1)>\u202egnp.exe\u0000`;
const newID = () => randomBytes(16).toString('hex');
const ids = { refused: newID(), origin: newID(), hostile: newID(), old: newID() };
const hit = { cache: 'HIT', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/141' };

let consoles: Consoles;
let site: BuiltSite;

beforeAll(async () => {
  consoles = await startConsoles();
  const { build, installation } = consoles.app;
  site = await build.site({ name: 'Glow Select' });
  const node = await build.node({ zone: site.zone });
  const shop = await build.domain({ site });
  const ago = (seconds: number) => Date.now() / 1000 - seconds;
  const own = { domain: shop.id, host: shop.name };
  await addLogs(installation.pool, node.id, [
    logLine(site.id, { ...own, id: ids.old, time: ago(7200), uri: '/two-hours-ago' }),
    // More than one page of the list.
    ...Array.from({ length: 130 }, (_, i) =>
      logLine(site.id, {
        ...own,
        ...hit,
        time: ago(3000 - i * 20),
        uri: `/img/product/${i}.webp`,
        ...(i % 9 === 0 && { status: 404, cache: 'MISS' }),
        ...(i % 14 === 0 && { status: 304, cache: 'REVALIDATED' }),
      }),
    ),
    logLine(site.id, {
      ...own,
      id: ids.origin,
      time: ago(90),
      uri: '/api/v2/catalog',
      args: 'page=2&sort=price',
      status: 504,
      cache: 'MISS',
      upstream: '203.0.113.24:443',
      upstreamTime: '1.204',
      requestTime: 1.23,
      referer: 'https://www.glow.tw/lookbook',
      address: '198.51.100.9',
    }),
    logLine(site.id, {
      ...own,
      id: ids.refused,
      time: ago(60),
      method: 'POST',
      uri: '/api/v2/checkout',
      status: 929,
      cause: 'antiHeader',
      rule: '0199f0e2-7c1b-7d20-8d0a-7c2f5a1b9e10',
      trail: '12.4|tokenAuth,pass,6.1,;antiHeader,929,2.3,0199f0e2-7c1b-7d20-8d0a-7c2f5a1b9e10',
      userAgent: 'sqlmap/1.8',
    }),
    logLine(site.id, {
      ...own,
      id: ids.hostile,
      time: ago(30),
      uri: hostile,
      status: 400,
      userAgent: '<script>alert(1)</script>\u2066',
      referer: `javascript:${'x'.repeat(400)}`,
    }),
  ]);
  await addSessions(installation.pool, node.id, [
    sessionLine(site.id, { time: ago(50), bytes: 52_000, sessionTime: 12.4 }),
    sessionLine(site.id, { time: ago(40), address: '198.51.100.9', status: 503, bytes: 0, upstream: '' }),
  ]);
}, 400_000);
afterAll(() => consoles.stop());

const rows = (page: Page) => page.locator('tbody tr[data-row]');
const row = (page: Page, id: string) => page.locator(`[data-row="${id}"]`);
const panel = (page: Page) => page.getByRole('region', { name: 'Request', exact: true });
const search = (page: Page) => page.getByRole('searchbox', { name: /Path, address/ });
const parameters = (page: Page) => new URL(page.url()).searchParams;

describe('the list of requests', () => {
  test('finds paths, addresses and statuses, and leaves out by a negative filter', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, address);
    await row(page, ids.refused).waitFor();
    await expect.poll(() => row(page, ids.old).count()).toBe(0);
    await page.keyboard.press('/');
    await page.keyboard.type('/api/');
    await page.getByText('Path contains /api/').waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByText('Other filters apply to the rows only').waitFor();
    await expect.poll(() => parameters(page).getAll('uri')).toEqual(['/api/']);

    await search(page).fill('5xx');
    await search(page).press('Enter');
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByRole('button', { name: /Status is 5xx/ }).click();
    await page.getByRole('radiogroup', { name: 'Operator' }).getByText('is not', { exact: true }).click();
    await row(page, ids.refused).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    await expect.poll(() => parameters(page).getAll('not.status')).toEqual(['5xx']);
    await page.keyboard.press('Escape');

    await search(page).fill('198.51.100.0/24');
    await search(page).press('Enter');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row(page, ids.hostile).waitFor();
    await page.context().close();
  });

  test('refuses a wrong value at its field', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, address);
    await row(page, ids.refused).waitFor();
    await page.keyboard.press('f');
    await page.getByRole('menuitem', { name: 'IP', exact: true }).click();
    await page.keyboard.type('192.0.2');
    await page.keyboard.press('Enter');
    await page.getByText('Wrong format: an IP address or a network').waitFor();
    await page.getByRole('textbox', { name: 'IP', exact: true }).fill('198.51.100.9');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page).count()).toBe(1);
    await expect.poll(() => parameters(page).getAll('remoteIP')).toEqual(['198.51.100.9']);
    await page.context().close();
  });

  test('reads older rows to the end of the period', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, address);
    await row(page, ids.refused).waitFor();
    await expect.poll(() => rows(page).count()).toBe(100);
    await page.getByRole('button', { name: 'Load older' }).scrollIntoViewIfNeeded();
    await page.getByText('No older requests in this period').waitFor();
    await expect.poll(() => rows(page).count()).toBe(133);
    const found = await rows(page).evaluateAll((all) => all.map((one) => one.dataset['row']));
    expect(new Set(found).size).toBe(133);
    await page.context().close();
  });

  test('shows how far a long search got, and continues it', { timeout: 240_000 }, async () => {
    searchInSmallSteps(consoles.app);
    const { page } = await consoles.openAs(site.owner, `${address}?last=15m&uri=catalog`);
    await row(page, ids.origin).waitFor();
    await page.getByText(/^Searched back to (?:\d\d\/\d\d )?\d\d:\d\d:\d\d$/).waitFor();
    await keepPicture(page, 'logs-long-search');
    await searchToEnd(page, 'No older requests in this period');
    expect(await rows(page).count()).toBe(1);
    await page.context().close();
  });

  test('says that a long search found nothing yet', { timeout: 240_000 }, async () => {
    searchInSmallSteps(consoles.app);
    const { page } = await consoles.openAs(site.owner, `${address}?last=24h&uri=absent`);
    await page.getByText('Last 24 hours · no requests found yet').waitFor();
    expect(await rows(page).count()).toBe(0);
    await page.context().close();
  });

  test('is reloaded during a long search', { timeout: 240_000 }, async () => {
    const { build, installation } = consoles.app;
    searchInSmallSteps(consoles.app);
    const other = await build.site();
    const node = await build.node({ zone: other.zone });
    const line = (uri: string, time: number) => logLine(other.id, { uri, time });
    await addLogs(installation.pool, node.id, [line('/first', Date.now() / 1000 - 90)]);
    const { page } = await consoles.openAs(other.owner, `${address}?last=24h&uri=/`);
    await rows(page).filter({ hasText: '/first' }).waitFor();
    await page.getByText(/^Searched back to/).waitFor();
    await addLogs(installation.pool, node.id, [line('/second', Date.now() / 1000)]);
    await delayFirstPages(page);
    await page.getByRole('button', { name: 'Refresh' }).click();
    await rows(page).filter({ hasText: '/second' }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(2);
  });

  test('searches at most one day, and narrows the time by dragging', { timeout: 240_000 }, async () => {
    const long = `${address}?from=2026-01-01T00:00:00Z&to=2026-01-03T00:00:00Z`;
    const { page } = await consoles.openAs(site.owner, long);
    await page.getByText('This period cannot be searched').waitFor();
    await page.keyboard.press('t');
    await page.getByText('At most one day after the start').waitFor();
    await page.getByRole('button', { name: 'Last 6 hours' }).click();
    await row(page, ids.old)
      .or(page.getByRole('button', { name: 'Load older' }))
      .first()
      .waitFor();

    const chart = page.getByRole('img', { name: /^Requests by status/ });
    await chart.waitFor();
    await expect.poll(() => chart.getAttribute('aria-label')).toMatch(/2xx 1\d\d, .*9xx 1$/);
    const box = await chart.boundingBox();
    if (!box) throw new Error('The chart has no place');
    await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 30, { steps: 4 });
    await page.mouse.up();
    await row(page, ids.old).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    const [from, to] = [parameters(page).get('from'), parameters(page).get('to')];
    expect(Date.parse(to ?? '') - Date.parse(from ?? '')).toBeGreaterThan(60 * 60_000);
    await page.context().close();
  });
});

describe('the panel of a request', () => {
  test('opens by keys, says what refused the request, and filters by its values', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, address);
    await row(page, ids.refused).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await panel(page).getByRole('heading', { name: 'Refused: Header rule' }).waitFor();
    await panel(page).getByText('A header rule matches the request.').waitFor();
    await panel(page).getByText('The visitor got status 929.').waitFor();
    await expect.poll(() => parameters(page).get('request')).toBe(ids.refused);
    await page.keyboard.press(']');
    await panel(page).getByText('203.0.113.24:443').first().waitFor();
    await expect.poll(() => panel(page).innerText()).toContain('page=2&sort=price');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.keyboard.press('[');
    await panel(page).getByText('sqlmap/1.8').hover();
    await panel(page).getByRole('button', { name: 'Filter: User-Agent contains sqlmap/1.8' }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'hidden' });
    await expect.poll(() => parameters(page).getAll('userAgent')).toEqual(['sqlmap/1.8']);
    await page.context().close();
  });

  test('opens from a link and by request ID, also when the list has no such row', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, `${address}?not.status=9xx&request=${ids.refused}`);
    await panel(page).getByText('/api/v2/checkout').first().waitFor();
    await row(page, ids.origin).waitFor();
    await expect.poll(() => row(page, ids.refused).count()).toBe(0);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: consoles.base.user });
    await panel(page).getByRole('button', { name: 'Copy link' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
    await panel(page).getByRole('button', { name: 'Copy as curl' }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain("--request 'POST'");

    await search(page).fill(ids.old);
    await search(page).press('Enter');
    await panel(page).getByText('/two-hours-ago').first().waitFor();
    await page.goBack();
    await panel(page).getByText('/api/v2/checkout').first().waitFor();
    await page.context().close();
  });

  test('is found by the palette, and says when there is no such request', { timeout: 240_000 }, async () => {
    const missing = newID();
    const { page } = await consoles.openAs(site.owner, 'dashboard', { expectedErrors: /404/ });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type(`!${missing}`);
    await page.getByRole('option', { name: /Open this request/ }).waitFor();
    await page.keyboard.press('Enter');
    await panel(page).getByText('No request with this ID').waitFor();
    await expect.poll(() => parameters(page).get('request')).toBe(missing);
    await page.context().close();
  });

  test('renders texts of visitors as text', { timeout: 240_000 }, async () => {
    const { page } = await consoles.openAs(site.owner, `${address}?request=${ids.hostile}`);
    await panel(page).getByText('U+202E').first().waitFor();
    const text = await panel(page).innerText();
    expect(text).toContain('<img src=x onerror=alert(1)>');
    expect(text).toContain('<script>alert(1)</script>');
    expect(text).toContain('U+2066');
    expect(text).not.toMatch(/[\u202e\u2066]/);
    await expect.poll(() => page.locator('main img, main script').count()).toBe(0);
    await expect.poll(() => panel(page).evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await page.context().close();
  });
});

test('shows list and panel on desktop, and two-line rows and a drawer on a phone', { timeout: 240_000 }, async () => {
  const dark = { theme: 'dark', language: 'zh-TW' } as const;
  const desk = await consoles.openAs(site.owner, `${address}?request=${ids.refused}`, dark);
  await desk.page.getByRole('heading', { name: '已拒絕：標頭規則' }).waitFor();
  await row(desk.page, ids.refused).waitFor();
  await desk.page.locator('canvas').waitFor();
  await keepPicture(desk.page, 'logs-1440-dark-zh-TW');
  expect(await accessibilityViolations(desk.page)).toEqual([]);
  await desk.page.context().close();

  const { page } = await consoles.openAs(site.owner, address, { width: 390, theme: 'light' });
  await row(page, ids.hostile).waitFor();
  await page.locator('canvas').waitFor();
  await expect.poll(() => horizontalOverflow(page)).toBeLessThanOrEqual(0);
  await keepPicture(page, 'logs-390-light');
  expect(await accessibilityViolations(page)).toEqual([]);
  await row(page, ids.origin).getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Request' });
  await drawer.getByText('203.0.113.24:443').first().waitFor();
  await keepPicture(page, 'logs-390-light-request');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.goBack();
  await drawer.waitFor({ state: 'hidden' });
  await page.context().close();
});

test('layer-4 sessions have a tab, with filters by outcome and address', { timeout: 240_000 }, async () => {
  const { page } = await consoles.openAs(site.owner, address);
  await row(page, ids.refused).waitFor();
  await page.getByRole('link', { name: 'Layer-4 sessions' }).click();
  const table = page.getByRole('region', { name: 'Layer-4 sessions' });
  await table.getByText('198.51.100.9').waitFor();
  await expect.poll(() => table.locator('tbody tr').count()).toBe(2);
  await keepPicture(page, 'layer-4-sessions');
  await page.getByRole('combobox', { name: 'Outcome' }).click();
  await page.getByRole('option', { name: 'Allowed' }).click();
  await expect.poll(() => table.locator('tbody tr').count()).toBe(1);
  await expect.poll(() => parameters(page).get('outcome')).toBe('allowed');
  await page.getByRole('textbox', { name: 'IP' }).fill('198.51.100.0/24');
  await page.getByRole('textbox', { name: 'IP' }).press('Enter');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => table.locator('tbody tr').count()).toBe(2);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.context().close();
});

test('a request shows the steps that decided about it', { timeout: 240_000 }, async () => {
  const { page } = await consoles.openAs(site.owner, `${address}?request=${ids.refused}`);
  const steps = panel(page).getByRole('region', { name: 'Decisions' }).getByRole('listitem');
  await expect.poll(() => steps.count()).toBe(3);
  await expect.poll(() => steps.nth(2).innerText()).toContain('refused with 929');
  await expect.poll(() => steps.nth(1).innerText()).toContain('6.1');
  await keepPicture(page, 'decision-trail');
  await page.context().close();
});

test('switching tabs keeps period and site, and drops other filters', { timeout: 240_000 }, async () => {
  const { build } = consoles.app;
  const chosen = await build.site({ name: 'Chosen shop' });
  const period = 'from=2026-11-20T05:00:00.000Z&to=2026-11-20T06:00:00.000Z';
  const { page } = await consoles.openAs(chosen.owner, `${address}?${period}&siteIDs=${chosen.id}&status=5xx`);
  for (const [tab, name] of [
    ['waf', 'Firewall'],
    ['sessions', 'Layer-4 sessions'],
    ['requests', 'Requests'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Details' }).getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Site is Chosen shop' }).waitFor();
    await expect
      .poll(() => Object.fromEntries(parameters(page)))
      .toEqual({ ...Object.fromEntries(new URLSearchParams(period)), siteIDs: chosen.id, tab });
  }
  await page.context().close();
});

test('an operator finds requests without a site', { timeout: 240_000 }, async () => {
  const { build, installation } = consoles.app;
  const own = await build.site();
  const node = await build.node({ zone: own.zone });
  const [nobody, known] = [newID(), newID()];
  const unknown = { status: 903, host: 'unknown.example', uri: '/nobody' };
  await addLogs(installation.pool, node.id, [logLine('', { ...unknown, id: nobody }), logLine(own.id, { id: known })]);
  const { page } = await consoles.openAs(own.client, `${address}?siteIDs=${own.id}`);
  await row(page, known).waitFor();
  expect(await row(page, nobody).count()).toBe(0);
  await page.locator('[data-add-filter]').click();
  await page.getByRole('menuitem', { name: 'Requests without a site' }).click();
  await row(page, nobody).waitFor();
  expect(await rows(page).count()).toBe(1);
  await expect.poll(() => Object.fromEntries(parameters(page))).toEqual({ noSite: 'true' });
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'no-site');
  await page.getByRole('button', { name: 'Remove the filter Requests without a site' }).click();
  await row(page, known).waitFor();
  await page.context().close();
});

test('the tabs name the site that selects their rows, and clear it', { timeout: 240_000 }, async () => {
  const { build, installation } = consoles.app;
  const chosen = await build.site({ name: 'Chosen shop' });
  const other = await build.site({ owner: chosen.owner, product: chosen.product });
  const node = await build.node({ zone: chosen.zone });
  await addLogs(installation.pool, node.id, [logLine(other.id, { cause: 'waf', rule: 'sqli-union-select' })]);
  await addSessions(installation.pool, node.id, [sessionLine(other.id)]);
  for (const tab of ['waf', 'sessions']) {
    const { page } = await consoles.openAs(chosen.owner, `${address}?tab=${tab}&siteIDs=${chosen.id}`);
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Site is Chosen shop' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => page.getByRole('table').locator('tbody tr').count()).toBe(1);
    expect(parameters(page).getAll('siteIDs')).toEqual([]);
    await page.context().close();
  }
});
