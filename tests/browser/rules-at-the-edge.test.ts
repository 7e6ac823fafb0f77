// A customer changes how the edge treats requests, in the console, and sees the effect at the edge of one product.
// Each test has a path, a header or a code of its own. Later tests must expect settings that stay for all visitors:
// allowed referrers, the 403 page, gzip without Brotli at each size, WebP, and stored responses without Set-Cookie.
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { preheat } from '@edgeloom/contract/preheat/preheat.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { visit } from '../support/assertions/visit.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { horizontalOverflow, startProduct, type Product } from '../support/services/browser.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
  const user = await product.as('user');
  await user(cacheRules.create, {
    params: { siteId: product.summary.demo.siteID },
    body: {
      rules: [
        {
          type: 'prefix',
          value: ['/shop/'],
          cacheTime: 600,
          honourOrigin: true,
          minTime: 60,
          maxTime: 3600,
          browserTime: 60,
          cookies: 'listed',
          cookieNames: ['lang', 'currency'],
          passCookies: ['session*'],
          stripCookies: true,
          staleWhileRevalidate: 30,
          priority: 5,
        },
      ],
    },
  });
}, 400_000);
afterAll(() => product.stop());

/** Addresses of the site and of its domain in the console. */
const sitePage = () => `sitesManagement/sitesSetting/${product.summary.demo.siteID}/Demo`;
const setting = (query: string) => `${sitePage()}?${query}`;
const domainPage = (tab: string) => `${sitePage()}/${product.summary.demo.domain}?tab=${tab}`;
const assetUrl = () => `http://${product.summary.demo.domain}:${product.edgePort}/assets/loom.svg`;

const visitDemo = (path: string, headers: Record<string, string> = {}) =>
  visit(product.edgePort, product.summary.demo.domain, path, '127.0.0.1', headers);
const statusOf = async (path: string, headers?: Record<string, string>) => (await visitDemo(path, headers)).status;

const rows = (page: Page, list: string) => page.getByRole('list', { name: list }).getByRole('listitem');
const publish = async (page: Page) => {
  await page.getByRole('button', { name: 'Publish' }).click();
  // The bar disappears with the unsaved changes; the message may be from an earlier publish.
  await page.getByText('Rules published').waitFor();
  await page.getByRole('button', { name: 'Publish' }).waitFor({ state: 'detached' });
};

test(
  'hotlink rules of a domain and a site are edited, shown as sentences, ordered and enforced',
  { timeout: 300_000 },
  async () => {
    const { page } = await product.openAs('user', domainPage('hotlink'));

    await page.getByRole('button', { name: 'Add referrer rule' }).click();
    await page.getByLabel('Hosts').fill('https://friend.example/page, **.partner.example');
    await page.getByRole('button', { name: 'Add header rule' }).click();
    await page.getByLabel('Header', { exact: true }).fill('User-Agent');
    await page.getByRole('textbox', { name: 'Value' }).fill('BadBot/1');
    await keepPicture(page, 'hotlink-editing');
    await publish(page);

    const sentence =
      'IF any URL AND comes neither from this domain nor from friend.example **.partner.example THEN refuse with 403';
    const referer = async () => (await rows(page, 'Allowed referrers').first().innerText()).replace(/\s/g, '');
    await expect.poll(referer).toContain(sentence.replace(/\s/g, ''));
    await eventually(async () => expect(await statusOf('/', { referer: 'https://thief.example/' })).toBe(403));
    expect(await statusOf('/', { referer: 'https://friend.example/' })).not.toBe(403);
    // Header rules are saved by another request, so they may reach the edge later.
    await eventually(async () => expect(await statusOf('/', { 'user-agent': 'BadBot/1' })).toBe(403));

    // Adds a second rule and moves it up by keyboard.
    await page.getByRole('button', { name: 'Add referrer rule' }).click();
    await page.getByLabel('Condition').first().click();
    await page.getByRole('option', { name: 'Path starts with' }).click();
    await page.getByRole('textbox', { name: 'Values' }).fill('/public/');
    await page.getByRole('button', { name: 'Move rule 2: drag, or Alt ↑ / ↓' }).press('Alt+ArrowUp');
    await expect.poll(() => rows(page, 'Allowed referrers').first().innerText()).toContain('/public/');
    await publish(page);
    await keepPicture(page, 'hotlink-domain');

    await page.goto(`/user/${setting('view=hotlink')}`);
    await page.getByRole('button', { name: 'Add header rule' }).click();
    await page.getByLabel('Header', { exact: true }).fill('X-Scan');
    await page.getByRole('combobox', { name: 'Comparison' }).click();
    await page.getByRole('option', { name: 'is present' }).click();
    await publish(page);
    await keepPicture(page, 'hotlink-site');
    await eventually(async () => expect(await statusOf('/', { 'x-scan': '1' })).toBe(403));
  },
);

// statistics.test.ts shows the matches of stored requests. Those of a visitor arrive after some seconds.
longTest('a hotlink rule shows that it refused a visitor', async () => {
  const { siteID: siteId } = product.summary.demo;
  const user = await product.as('user');
  const { data } = await user(siteAntiHeaders.create, {
    params: { siteId },
    body: { antiHeaders: [{ name: 'X-Counted', operator: 'exists' }] },
  });
  const ruleID = data[0]?.id ?? '';
  await eventually(async () => expect(await statusOf('/', { 'x-counted': '1' })).toBe(403));
  const matches = async () => (await user(statistics.rules, { params: { siteId } })).data;
  const counted = { ruleID, requests: 1, wouldBlock: 0 };
  await eventually(async () => expect(await matches()).toContainEqual(counted), { within: 60_000 });
  const { page } = await product.openAs('user', setting('view=hotlink'));
  const rule = page.locator(`[data-rule="${ruleID}"]`);
  await rule.getByText(/^1\s+Matches, 24 h$/).waitFor();
  await keepPicture(page, 'hotlink-matches');
});

test('an invalid hotlink rule shows an error at its field and is not published', { timeout: 180_000 }, async () => {
  const { page } = await product.openAs('user', domainPage('hotlink'));
  await page.getByRole('button', { name: 'Add referrer rule' }).click();
  await page.getByLabel('Hosts').fill('not a host!');
  await page.getByLabel('Action', { exact: true }).first().click();
  await page.getByRole('option', { name: 'Redirect (302)' }).click();
  await page.getByLabel('Redirect to').fill('javascript:alert(1)');
  await page.getByLabel('Redirect to').blur();
  await page.getByRole('button', { name: 'Publish' }).click();
  await eventually(async () => expect(await page.getByText('Wrong format').count()).toBe(2));
  await page.getByRole('button', { name: 'Discard' }).click();
});

test('request limits are edited, shown as sentences and enforced', { timeout: 120_000 }, async () => {
  const { page } = await product.openAs('user', setting('view=limits'));
  await page.getByRole('button', { name: 'Add frequency limit' }).click();
  await page.getByLabel('Path matches').fill('^/limited');
  await page.getByLabel('Requests').fill('2');
  await page.getByLabel('Within').fill('3600');
  await page.getByRole('button', { name: 'Add rate limit' }).click();
  await page.getByRole('combobox', { name: 'Count by' }).last().click();
  await page.getByRole('option', { name: 'Request header' }).click();
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => page.getByLabel('Header', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Header', { exact: true }).fill('X-Api-Key');
  await page.getByRole('button', { name: 'Add concurrency limit' }).click();
  await page.getByLabel('Concurrent requests').fill('20');
  await keepPicture(page, 'limits-editing');
  await publish(page);

  const sentence = async (list: string) => (await rows(page, list).first().innerText()).replace(/\s+/g, ' ');
  await expect.poll(() => sentence('Frequency limits')).toContain('at most 2 requests in 3,600 s per address');
  expect(await sentence('Rate limits')).toContain('per value of X-Api-Key');
  expect(await sentence('Concurrency limits')).toContain('at most 20 requests at the same time per address');
  await eventually(async () => expect(await statusOf('/limited')).toBe(929));
  expect(await statusOf('/')).not.toBe(929);
  await keepPicture(page, 'limits');
});

test('a request is simulated as a browser and as a crawler, with a link to the blocking rule', async () => {
  const user = await product.as('user');
  await user(siteAntiHeaders.create, {
    params: { siteId: product.summary.demo.siteID },
    body: { antiHeaders: [{ name: 'User-Agent', operator: 'contains', value: 'Googlebot', action: 'deny' }] },
  });
  const { page } = await product.openAs('user', setting('view=simulate'), { expectedErrors: /400/ });
  const urlField = page.getByRole('combobox', { name: 'URL' });
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => urlField.getAttribute('aria-invalid')).toBe('true');
  await urlField.fill('https://nobody.example.com/');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => page.locator('main form').textContent()).toMatch(/domain/i);
  await urlField.fill(assetUrl());
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Browser' }).click();
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => page.locator('main output').textContent()).toMatch(/200/);
  await expect.poll(() => page.locator('main ol').textContent()).toContain('Cache lookup');
  for (const width of casesOfRun([1440, 360], 2, 1))
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => horizontalOverflow(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityViolations(page, { rules: rulesOf(colorScheme) })).toEqual([]);
      await keepPicture(page, `simulate-en-${width}-${colorScheme}`);
    }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('button', { name: 'Crawler' }).click();
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => page.locator('main output').textContent()).toContain('The edge responds with 403');
  await page.locator('main ol li').last().getByRole('link').click();
  await expect.poll(() => page.url()).toContain('view=hotlink');
});

test('a pasted curl command is judged with its body, explained, and passes after an exception', async () => {
  const user = await product.as('user');
  const { siteID: siteId, domain } = product.summary.demo;
  const params = { siteId, kind: 'waf' } as const;
  const domainIDs = (await user(domains.list, { params, query: {} })).data.map(({ id }) => id);
  const created = await user(wafs.create, { params, body: { modules: [{ name: 'Main', mode: 'block' }] } });
  const moduleID = created.data[0]?.id ?? null;
  await user(domainModules.assign, { params, body: { domainIDs, moduleID } });
  onTestFinished(async () => {
    await user(domainModules.assign, { params, body: { domainIDs, moduleID: null } });
  });
  const { page } = await product.openAs('user', setting('view=waf'));
  await page.getByRole('button', { name: 'Simulate request' }).click();
  const drawer = page.getByRole('dialog', { name: 'Simulate request' });
  const paste = (text: string) =>
    drawer.getByRole('combobox', { name: 'URL' }).evaluate((field, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', pasted);
      field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, text);
  const url = `http://${domain}:${product.edgePort}/form`;
  await paste(`curl '${url}' --data @file`);
  await drawer.getByText('--data reads a file').waitFor();
  await paste(`curl '${url}' \\\n -H 'User-Agent: Mozilla/5.0' --data-raw 'id=1+union+select+2,3'`);
  await expect.poll(() => drawer.getByRole('textbox', { name: 'Body' }).inputValue()).toBe('id=1+union+select+2,3');
  const simulateAgain = () => drawer.getByRole('button', { name: 'Simulate', exact: true }).click();
  await eventually(async () => {
    await simulateAgain();
    await expect.poll(() => drawer.locator('output').textContent()).toContain('The edge responds with 403');
  });
  const finding = drawer.getByRole('region', { name: 'What the firewall found' });
  await expect.poll(() => finding.locator('mark').first().textContent()).toContain('union');
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 });
    await expect.poll(() => horizontalOverflow(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, `simulate-waf-${width}`);
    await finding.scrollIntoViewIfNeeded();
    await keepPicture(page, `simulate-waf-finding-${width}`);
  }
  await drawer.getByRole('button', { name: 'Add exception' }).click();
  await page.getByText('Exception added to').waitFor();
  await eventually(async () => {
    await simulateAgain();
    await expect.poll(() => drawer.locator('output').textContent()).toContain('Fetched from the origin');
  });
});

test('an unsaved change is simulated before it is saved', async () => {
  const user = await product.as('user');
  const params = { siteId: product.summary.demo.siteID };
  const { page } = await product.openAs('user', setting('view=rates'));
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByRole('textbox', { name: 'Values' }).last().fill('svg');
  await page.getByRole('textbox', { name: 'At most' }).last().fill('1234');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  const shown = page.getByRole('dialog', { name: 'Review changes' });
  await shown.getByText('Simulate with unsaved changes').click();
  await shown.getByLabel('URL').fill(assetUrl());
  await shown.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => shown.locator('ol').textContent()).toMatch(/At most 1,234.KiB\/s.*not saved yet/);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'simulate-draft');
  await statusOf('/');
  // Until the request is in the log, there may be none to replay.
  await eventually(async () => {
    await shown.getByRole('button', { name: 'Replay the last hour' }).click();
    const counts = shown.getByText(/Would have blocked [\d,]+ of [1-9]/);
    await counts.waitFor({ timeout: 5000 });
    // Other tests make requests that are blocked. The one for / is not.
    const [, blocked, total] = /blocked (\S+) of (\S+)/.exec((await counts.textContent()) ?? '') ?? [];
    expect(Number(blocked?.replaceAll(',', ''))).toBeLessThan(Number(total?.replaceAll(',', '')));
  });
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'replay-draft');
  expect((await user(rates.list, { params })).data).toEqual([]);
});

test('a request is simulated beside the rules of a domain, and its rule is one click away', async () => {
  const { page } = await product.openAs('user', domainPage('origins'));
  await page.getByRole('button', { name: 'Simulate request' }).click();
  const drawer = page.getByRole('dialog', { name: 'Simulate request' });
  const urlField = drawer.getByRole('combobox', { name: 'URL' });
  await expect.poll(() => urlField.inputValue()).toBe(`https://${product.summary.demo.domain}/`);
  await urlField.fill(`http://${product.summary.demo.domain}:${product.edgePort}/shop/1`);
  await drawer.getByRole('button', { name: 'Simulate', exact: true }).click();
  await drawer.getByRole('link', { name: '/shop/' }).first().waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'simulate-drawer');
  await drawer.getByRole('link', { name: '/shop/' }).first().click();
  await drawer.waitFor({ state: 'detached' });
  await expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).search).toContain(setting('view=cache'));
});

test(
  'an error page is previewed, published, served to a visitor, disabled and removed',
  { timeout: 300_000 },
  async () => {
    const { siteID: siteId } = product.summary.demo;
    const user = await product.as('user');
    const rule = { name: 'X-Robot', operator: 'exists' } as const;
    await user(siteAntiHeaders.create, { params: { siteId }, body: { antiHeaders: [rule] } });
    const { page } = await product.openAs('user', setting('view=errors'));
    const response = async () => {
      const { status, body } = await visitDemo('/', { 'x-robot': '1' });
      return `${status} ${body}`;
    };
    await page.getByRole('button', { name: 'Add error page' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByRole('combobox', { name: 'Code' }).click();
    await page.getByRole('option', { name: '403 Forbidden' }).click();
    const html =
      '<style>h1 { color: rgb(1, 2, 3) } body { background: url(https://x.example/y.png) }</style><h1>Not from there</h1>' +
      '<p style="color: rgb(4, 5, 6)">or anywhere</p><img src="https://x.example/z.png" onerror="parent.pwned = 1">' +
      '<script>parent.pwned = 1</script><a href="https://x.example/">away</a><meta http-equiv="refresh" content="0;url=https://x.example/">';
    await form.getByRole('textbox', { name: 'Content' }).fill(html);
    const preview = page.frameLocator('iframe');
    await preview.getByRole('heading', { name: 'Not from there' }).waitFor();
    const colour = (selector: string) =>
      preview.locator(selector).evaluate((element) => getComputedStyle(element).color);
    await eventually(async () =>
      expect([await colour('h1'), await colour('p')]).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)']),
    );
    await expect.poll(() => page.evaluate(() => Reflect.get(window, 'pwned') ?? null)).toBeNull();
    await form.getByRole('switch', { name: "Only for the edge's own errors" }).check({ force: true });
    await keepPicture(page, 'error-page-form');
    await form.getByRole('button', { name: 'Add error page' }).click();
    await form.waitFor({ state: 'hidden' });
    await eventually(async () => expect(await response()).toBe(`403 ${html}`));
    await keepPicture(page, 'error-pages');

    const { data } = await user(errorPages.list, { params: { siteId } });
    const made = { code: 403, type: 'content', value: html, enabled: true, edgeOnly: true };
    expect(data).toMatchObject([made]);
    await page.locator('tbody tr').first().getByRole('button').last().click();
    await page.getByRole('menuitem', { name: 'Turn off' }).click();
    await eventually(async () =>
      expect(await response()).toContain('The owner of this site does not allow this request.'),
    );
    await page.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => expect(await response()).toBe(`403 ${html}`));
    expect(await user(errorPages.list, { params: { siteId } })).toMatchObject({ data: [made] });
  },
);

test('a second error page for the same code is rejected with a message', { timeout: 180_000 }, async () => {
  const { siteID: siteId } = product.summary.demo;
  const user = await product.as('user');
  const made = { code: 504, type: 'redirect', value: 'https://status.example.com/' } as const;
  await user(errorPages.create, { params: { siteId }, body: { errorPages: [made] } });
  const { page } = await product.openAs('user', setting('view=errors'), { expectedErrors: /status of 409/ });
  await page.getByRole('button', { name: 'Add error page' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByRole('combobox', { name: 'Code' }).click();
  await page.getByRole('option', { name: /^504/ }).click();
  await form.getByRole('button', { name: 'Add error page' }).click();
  const message = page.getByText('This code already has a page').first();
  await eventually(async () => expect(await message.isVisible()).toBe(true));
});

test('a cache rule shows its advanced options, and a soft purge of a prefix shows receipts', async () => {
  const { page } = await product.openAs('user', setting('view=cache'));
  const rule = page.locator('main ol > li').first();
  await expect.poll(() => rule.textContent()).toContain('varying by cookie');
  await rule.getByText('/shop/').dblclick();
  await page.getByLabel('Cookies that skip the cache').fill('session*, admin');
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => rule.textContent()).toContain('session* admin');
  await page.goto(`${product.summary.console}/user/${setting('view=cache&tab=purge')}`);
  await page.getByText('Prefixes', { exact: true }).click();
  await page.getByLabel('Prefixes').last().fill(`http://${product.summary.demo.domain}/assets/`);
  await page.getByLabel('Soft purge: keep as stale').check();
  await page.getByRole('button', { name: 'Purge 1 prefix' }).click();
  await expect.poll(() => page.locator('main').textContent()).toContain('1 of 1 nodes');
  await expect.poll(() => page.locator('main table').textContent()).toContain('Prefix, soft');
});

test('a cache rule honours or overrides the origin, and its sentence shows which', async () => {
  const { page } = await product.openAs('user', setting('view=cache'));
  const rule = page.locator('main ol > li').first();
  await rule.getByText('/shop/').dblclick();
  await page.getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: 'Use origin headers' }).click();
  await page.getByLabel('Cache even if the origin forbids it').check();
  await keepPicture(page, 'cache-rule-override');
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => rule.textContent()).toContain('cache by origin headers');
  await expect.poll(() => rule.textContent()).toContain('even if the origin forbids it');
  const user = await product.as('user');
  const rules = () => user(cacheRules.list, { params: { siteId: product.summary.demo.siteID } });
  await expect
    .poll(async () => (await rules()).data[0])
    .toMatchObject({ cacheTime: 0, honourOrigin: true, overrideOrigin: true });
});

test('cache settings list forwarded headers and the handling of cookies', async () => {
  const { page } = await product.openAs('user', setting('view=cache&tab=settings'));
  await expect.poll(() => page.getByLabel('Check the content type').isChecked()).toBe(true);
  await page.getByLabel('Request headers to forward').fill('X-Forwarded-Host\nx-device');
  await page.getByRole('combobox', { name: 'Responses with Set-Cookie' }).click();
  await page.getByRole('option', { name: 'Cache without the cookie' }).click();
  await keepPicture(page, 'cache-settings');
  await page.getByRole('button', { name: 'Save' }).click();
  const user = await product.as('user');
  const readSettings = () => user(cacheSetting.get, { params: { siteId: product.summary.demo.siteID } });
  await expect
    .poll(readSettings)
    .toMatchObject({ passHeaders: ['x-forwarded-host', 'x-device'], setCookie: 'strip', checkContentType: true });
});

test('the domain page shows the cache rules that apply, and purges the domain alone', async () => {
  const { demo, console } = product.summary;
  const { page } = await product.openAs('user', setting('view=domains'));
  await page.goto(`${console}/user/sitesManagement/sitesSetting/${demo.siteID}/Demo/${demo.domain}?tab=cache`);
  await expect.poll(() => page.getByRole('list', { name: 'Cache rules' }).textContent()).toContain('/shop/');
  await expect
    .poll(() => page.getByRole('link', { name: 'Manage rules' }).getAttribute('href'))
    .toContain('view=cache');
  await page.getByRole('button', { name: `Purge everything of ${demo.domain}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Purge 1 host' }).click();
  await expect.poll(() => page.locator('main').textContent()).toContain('1 of 1 nodes');
});

test('a prefetch shows a receipt of each node, and is counted in the rail at once', async () => {
  const { page } = await product.openAs('user', setting('view=cache&tab=preheat'));
  const { demo } = product.summary;
  const user = await product.as('user');
  const urls = [`http://${demo.domain}:${product.edgePort}/assets/loom.svg`];
  await user(preheat.start, { params: { siteId: demo.siteID }, body: { urls } });
  // Without polling, only the action itself refreshes the number of jobs.
  await page.addInitScript((longestMs) => {
    const { setInterval: start } = window;
    Reflect.set(window, 'setInterval', (run: () => void, ms: number) => (ms > longestMs ? 0 : start(run, ms)));
  }, 10_000);
  await page.reload();
  const tray = page.getByRole('button', { name: /^Jobs/ });
  const jobs = async () => Number(/\d+$/.exec(await tray.innerText())?.[0]);
  const before = await jobs();
  await page.getByLabel('URLs').fill(urls.join('\n'));
  await page.getByRole('button', { name: 'Prefetch' }).click();
  await expect.poll(() => page.locator('main').textContent()).toContain('1 of 1 nodes');
  await expect.poll(jobs).toBe(before + 1);
});

test('text is compressed by Brotli or gzip, and without Brotli by gzip alone', async () => {
  const { page } = await product.openAs('user', setting('view=gzip'));
  const headersFor = async (accepted: string) =>
    (await visitDemo(`/?${Date.now()}`, { 'accept-encoding': accepted })).headers;
  const encodedAs = (encoding: string) => ({
    'content-encoding': encoding,
    vary: expect.stringMatching(/accept-encoding/i),
  });
  // A new site has Brotli, but the page of the demo is smaller than its minimum size.
  await expect.poll(() => page.getByLabel('Brotli').isChecked()).toBe(true);
  const size = page.getByLabel('Minimum size');
  await size.fill('');
  await size.pressSequentially('0.5');
  await expect.poll(() => size.inputValue()).toBe('0.5 KiB');
  await size.fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await headersFor('gzip, deflate, br')).toMatchObject(encodedAs('br')));
  expect(await headersFor('gzip')).toMatchObject(encodedAs('gzip'));

  await page.getByLabel('Brotli').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await headersFor('gzip, br')).toMatchObject(encodedAs('gzip')));
});

// `flows/webp.test.ts` has the images of visitors.
test('WebP is saved with a quality and a largest image, and a quality above 100 is rejected', async () => {
  const { page } = await product.openAs('user', setting('view=gzip'));
  await page.getByLabel('WebP').check();
  await page.getByLabel('Quality').fill('101');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByLabel('Quality').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Quality').fill('60');
  await page.getByLabel('Largest image').fill('500');
  await page.getByRole('button', { name: 'Save' }).click();
  const user = await product.as('user');
  const readSettings = () => user(compression.get, { params: { siteId: product.summary.demo.siteID } });
  await expect.poll(readSettings).toMatchObject({ webp: true, webpQuality: 60, webpMaxBytes: 512_000 });
});

const looks = [
  { language: 'zh-TW', width: 1440 },
  { language: 'en', width: 390 },
] as const;

// screens.test.ts checks these pages without an open rule. The long run opens each page in both looks.
test.each(casesOfRun(looks, looks.length))(
  'the cache pages have no violations in $language at $width px, light and dark',
  { timeout: 300_000 },
  async (look) => {
    const { page } = await product.openAs('user', setting('view=cache'), look);
    const faults: string[] = [];
    const views = [
      'view=cache',
      'view=cache&tab=current',
      'view=cache&tab=purge',
      'view=cache&tab=preheat',
      'view=cache&tab=settings',
      'view=gzip',
      'tab=cache',
    ];
    for (const view of casesOfRun(views, views.length)) {
      const at = setting(view).replace('?tab', `/${product.summary.demo.domain}?tab`);
      await page.goto(`${product.summary.console}/user/${at}`);
      await page.locator('main h1').waitFor();
      if (view === 'view=cache') {
        const rule = page.locator('main ol > li').first();
        await rule.waitFor();
        await rule.getByText('/shop/').dblclick();
        await page.getByPlaceholder('session*').waitFor();
      } else await page.locator('main form, main h2').first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await keepPicture(
          page,
          `cache-${view.replaceAll(/[^a-z]+/g, '-')}-${look.language}-${look.width}-${colorScheme}`,
        );
        const violations = await accessibilityViolations(page, { rules: rulesOf(colorScheme) });
        faults.push(...violations.map((fault) => `${view} ${colorScheme} ${fault}`));
      }
      if ((await horizontalOverflow(page)) > 0) faults.push(`${view} is wider than the window`);
    }
    expect(faults).toEqual([]);
  },
);

test('a URL is purged in three clicks and one input, and each node reports its receipt', async () => {
  const { page } = await product.openAs('user', 'sitesManagement');
  await page.locator('main h1').waitFor();
  const effort = { clicks: 0, inputs: 0 };
  const press = async (key: string) => {
    effort.clicks += 1;
    await page.keyboard.press(key);
  };
  await press('Control+k');
  effort.inputs += 1;
  await page.locator('#palette-input:focus').waitFor();
  await page.keyboard.insertText(`http://${product.summary.demo.domain}/assets/loom.svg`);
  await page.getByRole('option', { name: /^Purge this URL/ }).waitFor();
  await press('Enter');
  await page.getByText('1 of 1 nodes').waitFor();
  await page.getByText('Demo node', { exact: true }).waitFor();
  expect(effort.clicks).toBeLessThanOrEqual(3);
  expect(effort.inputs).toBe(1);
});

test('a whole host is purged only after a confirmation', async () => {
  const { page } = await product.openAs('user', 'sitesManagement');
  await page.locator('main h1').waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('#palette-input:focus').waitFor();
  await page.keyboard.insertText(`http://${product.summary.demo.domain}/`);
  await page
    .getByRole('option', { name: /^Purge this host/ })
    .first()
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const question = page.getByRole('dialog', { name: /^Purge everything of/ });
  await question.getByRole('button', { name: 'Purge this host' }).click();
  await page.getByText('1 of 1 nodes').waitFor();
  await expect.poll(() => question.count()).toBe(0);
});

test(
  'challenge rules are edited, shown as sentences and enforced, and one switch challenges everyone',
  { timeout: 180_000 },
  async () => {
    const { siteID } = product.summary.demo;
    const address = setting('view=challenges');
    const { page } = await product.openAs('user', address);
    const rules = page.getByRole('list', { name: 'Challenge rules' }).getByRole('listitem');

    await page.getByRole('button', { name: 'Add challenge rule' }).click();
    await page.getByLabel('Path matches').fill('^/api/');
    await page.getByRole('combobox', { name: 'Challenge' }).click();
    await page.getByRole('option', { name: 'No challenge' }).click();
    await page.getByRole('button', { name: 'Add challenge rule' }).click();
    await page.getByLabel('Path matches').last().fill('^/login');
    await page.getByRole('combobox', { name: 'One address sends' }).click();
    await page.getByRole('option', { name: 'Every visitor, at once' }).click();
    await page.getByRole('combobox', { name: 'Challenge' }).last().click();
    await page.getByRole('option', { name: 'Picture code' }).click();
    expect(await accessibilityViolations(page)).toEqual([]);
    await keepPicture(page, 'site-anti-cc-editing');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('Rules published').waitFor();
    const sentence = async (n: number) => (await rules.nth(n).innerText()).replace(/\s+/g, '');
    await expect.poll(() => sentence(1)).toContain('^/loginTHENPicturecodeforeveryvisitor');
    await eventually(async () => expect(await statusOf('/login')).toBe(978));
    expect(await statusOf('/')).not.toBe(978);

    await page.getByRole('button', { name: 'Challenge everyone' }).click();
    await page.getByText('Every visitor is challenged until').waitFor();
    await eventually(async () => expect(await statusOf('/')).toBe(978));
    expect(await statusOf('/api/v1')).not.toBe(978);
    await keepPicture(page, 'site-anti-cc-attack');
    await page.getByRole('button', { name: 'End now' }).click();
    await page.getByRole('button', { name: 'Challenge everyone' }).waitFor();
    await eventually(async () => expect(await statusOf('/')).not.toBe(978));

    const small = await product.openAs('user', address, { width: 360, theme: 'dark', language: 'zh-TW' });
    await small.page.getByText('新增驗證規則').waitFor();
    await expect.poll(() => horizontalOverflow(small.page)).toBeLessThanOrEqual(0);
    await keepPicture(small.page, 'site-anti-cc-narrow');
    const call = await product.as('user');
    const { data } = await call(antiCCs.list, { params: { siteId: siteID } });
    await call(antiCCs.remove, { params: { siteId: siteID }, body: { ids: data.map(({ id }) => id) } });
  },
);
