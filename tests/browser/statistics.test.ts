// The statistics and security pages with stored requests.
import { blacklists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { BuiltSite } from '../support/builders/build.ts';
import { addLogs, addTraffic, logBatch, logLine, logStore, sessionLine } from '../support/builders/traffic.ts';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { horizontalOverflow, setSessionCookies } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { useOwnCountries } from '../support/services/own-countries.ts';

const HOUR_SECONDS = 3600;
let consoles: Consoles;
/** A day of traffic with many values. */
let busy: BuiltSite;
/** Four requests. */
let small: BuiltSite;
let shop: string;
let media: string;

beforeAll(async () => {
  consoles = await startConsoles();
  const { build, installation } = consoles.app;
  const { pool } = installation;
  busy = await build.site();
  await build.domain({ site: busy });
  const node = await build.node({ zone: busy.zone });
  await addTraffic(pool, node.id, busy.id);
  await addLogs(pool, node.id, manyLines(busy.id));

  small = await build.site();
  const [one, two] = [await build.domain({ site: small }), await build.domain({ site: small })];
  [shop, media] = [one.name, two.name];
  const { id } = await build.node({ zone: small.zone });
  const ago = (hours: number) => Date.now() / 1000 - hours * HOUR_SECONDS;
  await addLogs(pool, id, [
    logLine(small.id, { domain: one.id, host: shop, uri: '/x', bytes: 3000, cache: 'HIT' }),
    logLine(small.id, { domain: one.id, host: shop, uri: '/y', bytes: 1000, status: 404, address: '198.51.100.3' }),
    logLine(small.id, {
      domain: two.id,
      host: media,
      bytes: 500,
      status: 929,
      cause: 'blacklist',
      address: '2001:db8::1',
    }),
    logLine(small.id, { time: ago(30), domain: one.id, bytes: 7000 }),
  ]);
  const sessions = [
    sessionLine(small.id),
    sessionLine(small.id, { address: '198.51.100.3', status: 403 }),
    sessionLine(small.id, { address: '198.51.100.4', status: 403 }),
  ].join('');
  await logStore(pool).store(id, { ...logBatch(sessions, 0, 'sessions'), kind: 'sessions' }, new Date());
}, 400_000);
afterAll(() => consoles.stop());

/** Requests over a day: the first of each list is the most frequent. */
function manyLines(site: string): string[] {
  const pick = <Item>(items: readonly [Item, ...Item[]], i: number): Item =>
    items[Math.floor(items.length * ((i * 0.618) % 1) ** 2)] ?? items[0];
  const paths: [string, ...string[]] = [
    '/img/hero/winter-2026.avif',
    '/api/v2/catalog',
    '/static/app.4f1c.js',
    '/video/lookbook-03.m3u8',
    '/',
  ];
  const causes: [string, ...string[]] = ['antiCC', 'abuseIP', 'blacklist', 'tokenAuth'];
  return Array.from({ length: 600 }, (_, i) => {
    const isRefused = i % 9 === 0;
    return logLine(site, {
      time: Date.now() / 1000 - (i / 600) * 20 * HOUR_SECONDS,
      address: `${pick(['192.0.2', '198.51.100'], i)}.${pick([7, 21, 90, 113, 240], i + 3)}`,
      host: 'shop.example.com',
      uri: pick(paths, i + 1),
      method: pick(['GET', 'POST', 'HEAD'], i + 2),
      httpVersion: pick(['HTTP/2.0', 'HTTP/3.0', 'HTTP/1.1'], i + 5),
      referer: pick(['', 'https://www.example.org/sale', 'https://news.example.net/'], i + 7),
      bytes: 20_000 + ((i * 7919) % 90_000),
      status: isRefused ? 929 : pick([200, 200, 304, 404, 502], i + 4),
      cause: isRefused ? pick(causes, i) : i % 9 === 1 ? 'waf' : '',
      rule: i % 9 === 1 ? pick(['monitor/942100', 'monitor/941110', 'monitor/930120'], i) : '',
    });
  });
}

const panel = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) });
const card = (page: Page, name: string) => page.locator('dl > div').filter({ hasText: name });
const searchOf = (page: Page) => new URL(page.url()).searchParams;

test('figures are the stored ones, also as text, and each has its change', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics');
  await card(page, 'Traffic').getByText('4.50 KB').waitFor();
  await card(page, 'Traffic').getByText('−35.71% vs. the previous period').waitFor();
  await card(page, 'Requests').getByText('+200.00% vs. the previous period').waitFor();
  await card(page, 'Cache hit rate').getByText('33.33%').waitFor();
  await card(page, 'Cache hit rate').getByText('+33.33 points').waitFor();
  await card(page, 'Client addresses').getByText('3', { exact: true }).waitFor();

  await page.getByRole('img', { name: /^Traffic: Total Traffic 4\.50\sKB$/ }).waitFor();
  await page.getByRole('img', { name: 'Status codes: Total 2xx 1, 3xx 0, 4xx 1, 5xx 0, 9xx 1' }).waitFor();
  await page.getByRole('img', { name: 'Protocol: Total IPv4 2, IPv6 1' }).waitFor();
  await page.getByRole('switch', { name: 'Compare with the previous period' }).click();
  await page.getByRole('img', { name: /^Traffic: .*Previous period 7\.00\sKB$/ }).waitFor();
  await expect.poll(() => searchOf(page).get('compare')).toBe('1');

  await panel(page, 'Countries')
    .getByRole('listitem')
    .filter({ hasText: /^Taiwan1\d*33\.33%/ })
    .waitFor();
  const log = await panel(page, 'Countries')
    .getByRole('link', { name: 'Requests of Japan in the log' })
    .getAttribute('href');
  expect(log).toMatch(/^\/user\/dataAnalysis\/logger\?from=.+&to=.+&country=JP$/);
  await page.getByRole('radiogroup', { name: 'Sort by' }).getByText('Traffic').click();
  await panel(page, 'Countries').getByText('3.00 KB').waitFor();
  await panel(page, 'Block causes').getByText('Block list').waitFor();
  await page.context().close();
});

test('a click on a value filters the whole page, and on it again shows all', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics?range=sevenDays');
  const japan = panel(page, 'Countries').getByRole('link', { name: 'Japan', exact: true });
  await japan.click();
  await card(page, 'Requests').getByText('1', { exact: true }).waitFor();
  await card(page, 'Traffic').getByText('1.00 KB').waitFor();
  await page.getByRole('img', { name: 'Status codes: Total 2xx 0, 3xx 0, 4xx 1, 5xx 0, 9xx 0' }).waitFor();
  await expect.poll(() => panel(page, 'Domains').locator('tbody tr').count()).toBe(1);
  await panel(page, 'URLs').getByText(`${shop}/y`).waitFor();
  const chips = page.getByRole('region', { name: 'Filters' });
  await chips.getByText('Japan').waitFor();
  await expect.poll(() => page.getByRole('radio', { name: '7 d' }).count()).toBe(0);

  await panel(page, 'Status codes').getByRole('button', { name: /^2xx/ }).click();
  await expect.poll(() => [searchOf(page).get('country'), searchOf(page).get('status')]).toEqual(['JP', '2xx']);
  await card(page, 'Requests').getByText('0', { exact: true }).waitFor();
  await page.goBack();
  await japan.click();
  await card(page, 'Requests').getByText('4', { exact: true }).waitFor();
  await expect.poll(() => chips.count()).toBe(0);
  await page.context().close();
});

test('a chosen domain narrows the page', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics');
  await page.getByRole('button', { name: 'All sites' }).click();
  const field = page.getByRole('dialog').getByRole('combobox', { name: 'Domains' });
  // The opened panel focuses its first field, and a list that loses focus forgets its text.
  await page.locator('[role="dialog"] input:focus').waitFor();
  await field.click();
  await field.pressSequentially(media);
  await expect.poll(() => field.inputValue()).toBe(media);
  await page.getByRole('option', { name: media }).click();
  await page.keyboard.press('Escape');
  await card(page, 'Requests').getByText('1', { exact: true }).waitFor();
  await expect.poll(() => searchOf(page).getAll('domain')).toEqual([media]);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await card(page, 'Requests').getByText('3', { exact: true }).waitFor();
  await page.context().close();
});

test('the world map is drawn, and is text, a table, and files', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics');
  const map = panel(page, 'Visitors by country');
  await map.getByRole('img', { name: /^Visitors by country: Japan 1, Taiwan 1$/ }).waitFor();
  await map.locator('canvas').waitFor();
  await map.getByText('Show as table').click();
  await map.getByRole('row', { name: 'Taiwan 1 33.33%' }).waitFor();
  const save = async (kind: string) => {
    await page.getByRole('button', { name: 'Download Visitors by country' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText(kind).click()]);
    return readFile(await download.path());
  };
  expect((await save('Data as CSV')).toString()).toContain('Japan,1');
  expect((await save('Image as PNG')).subarray(1, 4).toString()).toBe('PNG');
  await page.context().close();
});

test('the bundled database of countries is credited only while it is in use', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics');
  const countries = panel(page, 'Countries');
  await countries.getByText('Country data:').waitFor();
  await page.getByText('Country data:').nth(1).waitFor();
  onTestFinished(await useOwnCountries(consoles.app.installation));
  await page.reload();
  await countries.getByText('Taiwan').waitFor();
  await page.getByRole('img', { name: /^Visitors by country: / }).waitFor();
  expect(await page.getByText('Country data:').count()).toBe(0);
});

test('the lists of the security page have blocked requests only', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/securityAnalysis');
  const addresses = panel(page, 'Addresses of blocked requests');
  await addresses.getByText('2001:db8::1').waitFor();
  await expect.poll(() => addresses.getByRole('listitem').count()).toBe(1);
  await panel(page, 'URLs of blocked requests').getByText(`${media}/`).waitFor();
  await panel(page, 'Block causes').getByText('Block list').waitFor();
  await page.getByText('Updated every 5 min').waitFor();
  await page.context().close();
});

test('an address is blocked from the security page, at a site that refused it', async () => {
  const { app } = consoles;
  const first = await app.build.site({ name: 'first-shop' });
  const second = await app.build.site({ name: 'second-shop', owner: first.owner, product: first.product });
  const { id: nodeId } = await app.build.node({ zone: first.zone });
  const refused = { status: 929, cause: 'blacklist' };
  await addLogs(app.installation.pool, nodeId, [
    logLine(first.id, { ...refused, address: '203.0.113.77' }),
    logLine(first.id, { ...refused, address: '203.0.113.78' }),
    logLine(first.id, { ...refused, address: '127.0.0.1' }),
    logLine(second.id, { ...refused, address: '203.0.113.78' }),
    logLine(second.id, { address: '203.0.113.77' }),
  ]);
  const listsOf = async ({ id }: { id: string }) =>
    (await app.as(first.owner).call(blacklists.list, { params: { siteId: id } })).data;
  const { page } = await consoles.openAs(first.owner, 'dataAnalysis/securityAnalysis', { width: 1440 });

  await page.getByRole('button', { name: 'Block 203.0.113.77' }).click();
  // Nodes never block their own machine.
  await panel(page, 'Addresses of blocked requests').getByText('127.0.0.1').waitFor();
  expect(await page.getByRole('button', { name: 'Block 127.0.0.1' }).count()).toBe(0);
  await page.getByText('Block at first-shop').waitFor();
  await page.getByRole('menuitem', { name: 'For 1 day' }).click();
  await page.getByText("203.0.113.77 is on the site's block list").waitFor();
  const [blocked] = await listsOf(first);
  expect(blocked).toMatchObject({ ips: ['203.0.113.77'], memo: 'From the security page' });
  expect(blocked?.expires).toHaveLength(1);

  await page.getByRole('button', { name: 'Block 203.0.113.78' }).click();
  await page.getByRole('menuitem', { name: 'first-shop' }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'security-block-1440');
  await page.getByRole('menuitem', { name: 'second-shop' }).click();
  await page.getByText('Block at second-shop').waitFor();
  await page.getByRole('menuitem', { name: 'Forever' }).click();
  await page.getByText("203.0.113.78 is on the site's block list").waitFor();
  expect(await listsOf(second)).toMatchObject([{ ips: ['203.0.113.78'], expires: [] }]);
  expect(await listsOf(first)).toHaveLength(1);

  const look = { width: 360, theme: 'dark', language: 'zh-TW' } as const;
  const phone = await consoles.openAs(first.owner, 'dataAnalysis/securityAnalysis', look);
  await phone.page.getByRole('button', { name: '封鎖 203.0.113.77' }).click();
  await phone.page.getByRole('menuitem', { name: '1 天', exact: true }).waitFor();
  expect(await accessibilityViolations(phone.page)).toEqual([]);
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'security-block-360-dark-zh-TW');

  const reader = await app.build.subUser(first.owner, [first], { permissions: ['statistics:read', 'site:read'] });
  const other = await consoles.openAs(reader, 'dataAnalysis/securityAnalysis');
  await panel(other.page, 'Addresses of blocked requests').getByText('203.0.113.77').waitFor();
  expect(await other.page.getByRole('button', { name: 'Block 203.0.113.77' }).count()).toBe(0);
});

test('WAF rules have their names for accounts that may read the rules, and else their IDs', async () => {
  const { app } = consoles;
  const site = await app.build.site();
  const { id: nodeId } = await app.build.node({ zone: site.zone });
  const line = { status: 929, cause: 'waf' };
  await addLogs(app.installation.pool, nodeId, [
    logLine(site.id, { ...line, rule: 'sqli-union-select' }),
    logLine(site.id, { ...line, rule: 'rule-of-an-older-pack' }),
  ]);
  const address = 'dataAnalysis/securityAnalysis';
  const { page } = await consoles.openAs(site.owner, address);
  const rules = panel(page, 'WAF rules');
  const name = rules.getByRole('link', { name: 'UNION query · sqli-union-select', exact: true });
  await name.waitFor();
  expect(await name.evaluate(({ parentElement: cell }) => cell && cell.scrollWidth - cell.clientWidth)).toBe(0);
  await rules.getByRole('link', { name: 'rule-of-an-older-pack', exact: true }).waitFor();
  await rules.scrollIntoViewIfNeeded();
  await keepPicture(page, 'security-waf-rules');
  const filtered = await consoles.openAs(site.owner, `${address}?wafMonitored=sqli-union-select`);
  const chips = filtered.page.getByRole('region', { name: 'Filters' });
  await chips.getByText('UNION query · sqli-union-select').waitFor();

  const reader = await app.build.subUser(site.owner, [site], { permissions: ['statistics:read'] });
  const other = await consoles.openAs(reader, address);
  await panel(other.page, 'WAF rules').getByRole('link', { name: 'sqli-union-select', exact: true }).waitFor();
  expect(await other.page.getByText('UNION query').count()).toBe(0);
});

test('the security page lists WAF rules that only monitor, and a click shows their requests', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  await addLogs(installation.pool, node.id, [
    logLine(site.id),
    logLine(site.id, { cause: 'waf', rule: 'monitor/942100', uri: '/login' }),
  ]);
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/securityAnalysis');
  await panel(page, 'WAF rules').getByText('No data yet').waitFor();
  await panel(page, 'WAF rules (monitor only)').getByRole('link', { name: '942100' }).click();
  await page.getByRole('region', { name: 'Filters' }).getByText('942100').waitFor();
  await expect.poll(() => searchOf(page).get('wafMonitored')).toBe('942100');
  await page.context().close();
});

test('an operator finds the requests without a site, and a customer has no such choice', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  await addLogs(installation.pool, node.id, [
    logLine(site.id),
    logLine(site.id),
    logLine(site.id),
    logLine('', { status: 903, host: 'unknown.example', uri: '/nobody', bytes: 70 }),
  ]);
  const { page } = await consoles.openAs(site.client, 'dataAnalysis/statistics');
  await card(page, 'Requests').getByText('3', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'All sites' }).click();
  await page.getByRole('checkbox', { name: 'Requests without a site' }).click();
  await card(page, 'Requests').getByText('1', { exact: true }).waitFor();
  await expect.poll(() => searchOf(page).get('noSite')).toBe('1');
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'statistics-no-site');
  await page.keyboard.press('Escape');
  await panel(page, 'URLs').getByText('unknown.example/nobody').waitFor();
  await panel(page, 'Domains').getByText('Without a domain').waitFor();
  const link = page.getByRole('link', { name: 'Requests of unknown.example/nobody in the log' });
  expect(await link.getAttribute('href')).toContain('noSite=true');
  // The live rate and the lists of the security page are of these requests, too.
  await page.goto('/client/dataAnalysis/securityAnalysis?noSite=1');
  await panel(page, 'URLs of blocked requests').getByText('unknown.example/nobody').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => searchOf(page).get('noSite')).toBeNull();

  const customer = await consoles.openAs(site.owner, 'dataAnalysis/statistics?noSite=1');
  await card(customer.page, 'Requests').getByText('3', { exact: true }).waitFor();
  await customer.page.getByRole('button', { name: 'All sites' }).click();
  await customer.page.getByRole('dialog').getByRole('combobox', { name: 'Domains' }).waitFor();
  expect(await customer.page.getByText('Requests without a site').count()).toBe(0);
});

// Regression: the button beside it left half of an address.
test('addresses of the security page are whole at 1100 px, and each list says of what its shares are', async () => {
  const site = await consoles.app.build.site();
  const node = await consoles.app.build.node({ zone: site.zone });
  const address = '101.101.101.101';
  const refused = Array.from({ length: 3 }, () =>
    logLine(site.id, { status: 929, cause: 'blacklist', address, host: 'shop.example.com' }),
  );
  await addLogs(consoles.app.installation.pool, node.id, [...refused, logLine(site.id)]);
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/securityAnalysis', { width: 1100 });
  const addresses = panel(page, 'Addresses of blocked requests');
  await page.getByRole('button', { name: `Block ${address}` }).waitFor();
  const name = addresses.getByRole('link', { name: address, exact: true });
  expect(await name.evaluate(({ parentElement: cell }) => cell && cell.scrollWidth - cell.clientWidth)).toBe(0);
  await addresses.getByText('Share of blocked requests').waitFor();
  await addresses.getByText('100.00%').waitFor();
  const causes = panel(page, 'Block causes');
  await causes.getByText('Share of all requests').waitFor();
  await causes.getByText('75.00%').waitFor();
  await keepPicture(page, 'security-1100');
  await addresses.scrollIntoViewIfNeeded();
  await keepPicture(page, 'security-1100-addresses');
  const look = { width: 1440, theme: 'dark', language: 'zh-TW' } as const;
  const wide = await consoles.openAs(site.owner, 'dataAnalysis/securityAnalysis', look);
  await wide.page.getByText('占封鎖請求的比例').first().waitFor();
  await keepPicture(wide.page, 'security-shares-1440-dark-zh-TW');
});

test('the live rate reads only new steps once a minute, and nothing in a hidden tab', async () => {
  const site = await consoles.app.build.site();
  const node = await consoles.app.build.node({ zone: site.zone });
  const screen = await consoles.open('user');
  const { page } = screen;
  await setSessionCookies(screen, consoles.base.user, site.owner);
  await page.clock.install();
  // Notes calls in a hidden and in a visible tab.
  await page.addInitScript(() => {
    const { fetch } = globalThis;
    globalThis.fetch = (url, ...rest) => {
      const path = url instanceof Request ? url.url : url.toString();
      if (path.endsWith('/statistics/qps')) sessionStorage.setItem(`qps ${document.visibilityState}`, 'called');
      return fetch(url, ...rest);
    };
  });
  const asked: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/statistics/qps')) asked.push(request.postDataJSON());
  });
  await page.goto('/user/dataAnalysis/securityAnalysis');
  const live = panel(page, 'Live requests per second');
  await live.getByText('No data yet').waitFor();
  await expect.poll(() => asked).toEqual([{}]);

  await addLogs(consoles.app.installation.pool, node.id, [logLine(site.id), logLine(site.id)]);
  const isDrawn = async () => {
    await page.clock.fastForward('01:00');
    return live.getByRole('img', { name: /^Live requests per second: Latest .* [\d.]+$/ }).count();
  };
  await expect.poll(isDrawn, { timeout: 60_000 }).toBe(1);
  await keepPicture(page, 'security-live');

  const hasCalled = (state: string) => page.evaluate((name) => sessionStorage.getItem(name) !== null, `qps ${state}`);
  const show = (state: 'hidden' | 'visible') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      globalThis.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await show('hidden');
  await page.evaluate(() => sessionStorage.removeItem('qps visible'));
  await page.clock.fastForward('01:01');
  await page.clock.fastForward('01:01');
  const before = asked.length;
  await show('visible');
  await expect.poll(() => asked.length).toBeGreaterThan(before);
  await expect.poll(() => hasCalled('visible')).toBe(true);
  expect(await hasCalled('hidden')).toBe(false);
  // A tab that is shown again reads only new steps, too.
  expect(asked.slice(1)).toEqual(asked.slice(1).map(() => ({ from: expect.any(String) })));

  const lastAfterSixHours = async () => {
    await page.clock.fastForward('06:00:00');
    return asked.at(-1);
  };
  // The first forwarding may fall into a call, whose response is then as new as the clock.
  await expect.poll(lastAfterSixHours).toEqual({});
  await page.context().close();
});

test('a period is shown as wide as the sums that are kept of it', async () => {
  // After a week there are no sums of minutes any more, only those of five. Requests are kept for eight days.
  const hour = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS - 180 * HOUR_SECONDS;
  const after = (minutes: number) => new Date((hour + minutes * 60) * 1000).toISOString();
  const period = new URLSearchParams({ range: 'custom', from: after(1), to: after(122) });
  for (const name of ['statistics', 'l4AttackAnalysis', 'securityAnalysis']) {
    const { page } = await consoles.openAs(small.owner, `dataAnalysis/${name}?${period}`);
    await expect.poll(() => page.getByText(/ \d\d:00 – \S+ \d\d:05 /).count()).toBe(1);
    await page.context().close();
  }
});

test('layer-4 sessions are shown by outcome and country', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/l4AttackAnalysis');
  await card(page, 'Blocked').getByText('2 sessions').waitFor();
  await card(page, 'Allowed').getByText('1 session', { exact: true }).waitFor();
  await page.getByRole('img', { name: /^Sources of blocked sessions: Japan / }).waitFor();
  await panel(page, 'Top countries, blocked')
    .getByRole('listitem')
    .filter({ hasText: /^Japan.*100\.00%$/ })
    .waitFor();
  await page.getByRole('radiogroup', { name: 'Sessions shown' }).getByText('Allowed').click();
  await expect.poll(() => page.getByRole('img', { name: /^Sources of allowed sessions: Taiwan / }).count()).toBe(1);
  await page.context().close();
});

test('an operator sees the packets that kernels dropped, and a customer does not', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const none = { packets: 0, bytes: 0, perSecond: 0 };
  const dropped = { since: '2026-01-01T00:00:00Z', blocked: none, blacklist: none, risk: none };
  const syn = { packets: 90_000, bytes: 5_400_000, perSecond: 0 };
  const before = new Date(Date.now() - 10 * 60_000);
  await logStore(installation.pool).addKernelDrops([{ nodeId: node.id, dropped: { ...dropped, syn } }], before);
  const { page } = await consoles.openAs(site.client, 'dataAnalysis/l4AttackAnalysis');
  const chart = panel(page, 'Packets dropped by the kernel, per second');
  await chart.getByText('Show as table').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await chart.scrollIntoViewIfNeeded();
  await keepPicture(page, 'kernel-drops');
  await chart.getByText('Show as table').click();
  // 90,000 packets in five minutes.
  await chart.getByRole('cell', { name: '300', exact: true }).waitFor();
  await page.goto(`/client/dataAnalysis/l4AttackAnalysis?site=${site.id}`);
  await card(page, 'Blocked').waitFor();
  expect(await chart.count()).toBe(0);

  const customer = await consoles.openAs(site.owner, 'dataAnalysis/l4AttackAnalysis');
  await card(customer.page, 'Blocked').waitFor();
  expect(await customer.page.getByText('Packets dropped by the kernel').count()).toBe(0);
});

test('the list of sites has a line of the last 24 hours beside the traffic', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site({ name: 'with-traffic' });
  const other = await build.site({ name: 'without-traffic', owner: site.owner, product: site.product });
  const node = await build.node({ zone: site.zone });
  const ago = (hours: number) => Date.now() / 1000 - hours * HOUR_SECONDS;
  await addLogs(
    installation.pool,
    node.id,
    [1, 2, 3, 5, 8].map((hours) => logLine(site.id, { time: ago(hours), bytes: 1000 * hours })),
  );
  for (const [account, address] of [
    [site.owner, 'sitesManagement'],
    [site.client, 'nodeManage/sitesList'],
  ] as const) {
    const { page } = await consoles.openAs(account, 'dashboard');
    const asked: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/statistics/sites/bandwidth')) asked.push(request.postDataJSON());
    });
    await page.goto(`/${account.kind}/${address}`);
    const row = page.getByRole('row').filter({ hasText: 'with-traffic' }).first();
    await row.locator('svg[viewBox="0 0 60 26"] path').waitFor();
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'without-traffic' }).count()).toBe(1);
    // Each call has all rows of the page.
    const siteIDs = [site.id, other.id].toSorted();
    expect(asked.length).toBeGreaterThan(0);
    expect(asked).toEqual(asked.map(() => ({ siteIDs })));
    await keepPicture(page, `sites-sparks-${account.kind}`);
  }
});

test('domains are ranked by a chosen column and exported', async () => {
  const { page } = await consoles.openAs(small.owner, 'dataAnalysis/statistics');
  const rank = panel(page, 'Domains');
  const first = () => rank.locator('tbody tr').first();
  await first().getByText(shop).waitFor();
  await rank.getByRole('button', { name: 'Traffic' }).click();
  await first().getByText(media).waitFor();
  await expect.poll(() => searchOf(page).get('sort')).toBe('traffic');
  await rank.getByText('1–2 of 2').waitFor();

  const [download] = await Promise.all([page.waitForEvent('download'), rank.getByText('Export CSV').click()]);
  const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toContain(media);
  expect(lines[2]).toContain(`${shop},2,4000,0.5`);
  await page.context().close();
});

test('dragging on a chart zooms, Back returns, and only valid report intervals are offered', async () => {
  const { page } = await consoles.openAs(busy.owner, 'dataAnalysis/statistics');
  await page.getByText('6 h', { exact: true }).click();
  await expect.poll(() => searchOf(page).get('range')).toBe('sixHours');
  const step = page.getByLabel('Report interval');
  await expect
    .poll(() => step.locator('option').allTextContents())
    .toEqual(['Every minute', 'Every 5 min', 'Every 15 min', 'Every hour']);

  const chart = panel(page, 'Bandwidth').locator('canvas');
  await chart.waitFor();
  const box = await chart.boundingBox();
  if (!box) throw new Error('The chart has no size');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => searchOf(page).get('range')).toBe('custom');
  const minutes = (Date.parse(searchOf(page).get('to') ?? '') - Date.parse(searchOf(page).get('from') ?? '')) / 60_000;
  expect(minutes).toBeGreaterThan(40);
  expect(minutes).toBeLessThan(110);
  await page.getByLabel('From', { exact: true }).waitFor();
  await expect.poll(() => step.inputValue()).toBe('1');

  await page.goBack();
  await expect.poll(() => searchOf(page).get('range')).toBe('sixHours');
  await page.getByLabel('From', { exact: true }).waitFor({ state: 'detached' });
  await page.context().close();
});

test('a chart is also a table and a file', async () => {
  // "1 h" begins with a quarter of an hour, and has 46 to 60 minutes.
  const hour = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS;
  const [from, to] = [hour - HOUR_SECONDS, hour].map((seconds) => new Date(seconds * 1000).toISOString());
  const { page } = await consoles.openAs(busy.owner, `dataAnalysis/statistics?range=custom&from=${from}&to=${to}`);
  const traffic = panel(page, 'Traffic');
  await traffic.getByText('Show as table').click();
  await expect.poll(() => traffic.getByRole('row').count()).toBe(61);
  const save = async (kind: string) => {
    await page.getByRole('button', { name: 'Download Traffic', exact: true }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByText(kind).click()]);
    return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
  };
  const csv = await save('Data as CSV');
  expect(csv.name).toMatch(/^Traffic .*\.csv$/);
  expect(csv.content.toString().trim().split('\r\n')).toHaveLength(61);
  const png = await save('Image as PNG');
  expect(png.content.subarray(1, 4).toString()).toBe('PNG');
  await page.context().close();
});

test('a hotlink rule shows its matches of the last 24 hours', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const [matched, unmatched] = [await build.antiHeader(site), await build.antiHeader(site)];
  const node = await build.node({ zone: site.zone });
  const refused = { status: 403, cause: 'antiHeader', rule: matched.id, trail: `4|antiHeader,403,4,${matched.id}` };
  const ago = (hours: number) => Date.now() / 1000 - hours * HOUR_SECONDS;
  await addLogs(installation.pool, node.id, [
    logLine(site.id, refused),
    logLine(site.id, { ...refused, time: ago(20) }),
    logLine(site.id, { ...refused, time: ago(30) }),
  ]);
  const { page } = await consoles.openAs(site.owner, `sitesManagement/sitesSetting/${site.id}/x?view=hotlink`);
  const rule = ({ id }: { id: string }) => page.locator(`[data-rule="${id}"]`);
  await rule(matched)
    .getByText(/^2\s+Matches, 24 h$/)
    .waitFor();
  await expect.poll(() => rule(unmatched).innerText()).toMatch(/\b0\s+Matches, 24 h/);
});

// Regression: the overview said that no statistics are stored, whatever the traffic was.
test('the overview of a site shows the 95th percentile of its bandwidth', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const { page } = await consoles.openAs(site.owner, `sitesManagement/sitesSetting/${site.id}/x`, { language: 'en' });
  const percentile = page.locator('dl > div').filter({ hasText: '95th-percentile bandwidth in 30 days' }).locator('dd');
  await expect.poll(() => percentile.innerText()).toBe('—');
  // 8,000 bits per second for five minutes.
  await addLogs(installation.pool, node.id, [logLine(site.id, { bytes: 300_000 })]);
  await page.reload();
  await expect.poll(() => percentile.innerText()).toBe('8.00\u00A0Kbps');
  await page.context().close();
});

test('a site that was never measured has calm panels and no figures', async () => {
  const { owner } = await consoles.app.build.site();
  const { page } = await consoles.openAs(owner, 'dataAnalysis/statistics');
  await panel(page, 'Bandwidth').getByText('No data yet').waitFor();
  await card(page, 'Traffic').getByText('—').waitFor();
  await panel(page, 'Domains').getByText('No data yet').waitFor();
  await expect.poll(() => page.locator('canvas').count()).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.context().close();
});

const looks = [
  ['user', 'dataAnalysis/statistics', 1440, 'light', 'en'],
  ['client', 'dataAnalysis/statistics?compare=1&range=sixHours', 1440, 'dark', 'zh-TW'],
  ['user', 'dataAnalysis/statistics', 390, 'light', 'zh-CN'],
  ['user', 'dataAnalysis/securityAnalysis?range=oneDay', 1440, 'dark', 'zh-TW'],
  ['client', 'dataAnalysis/securityAnalysis', 390, 'light', 'en'],
  ['user', 'dataAnalysis/statistics?country=TW', 360, 'dark', 'zh-TW'],
] as const;
// `npm test` opens one page wide, and the other one narrow.
test.each(casesOfRun(looks, 4))('%s %s at %i px, %s, %s', async (kind, path, width, theme, language) => {
  const account = kind === 'user' ? busy.owner : busy.client;
  const { page, browserErrors } = await consoles.openAs(account, path, { width, theme, language });
  await page.locator('canvas').first().waitFor();
  await page.getByRole('listitem').filter({ hasText: /%$/ }).first().waitFor();
  const name = `${path.replace(/^.*\/|\?.*$/g, '')}-${width}-${language}`;
  await keepPicture(page, name);
  expect(await accessibilityViolations(page, { rules: rulesOf(theme) })).toEqual([]);
  const overflow = await page.evaluate(
    () =>
      [document.documentElement, ...document.querySelectorAll('main')].filter(
        (one) => one.scrollWidth > one.clientWidth,
      ).length,
  );
  expect(overflow).toBe(0);
  await page.locator('h2').last().scrollIntoViewIfNeeded();
  await page.getByRole('listitem').filter({ hasText: /%$/ }).last().waitFor();
  await keepPicture(page, `${name}-end`);
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});
