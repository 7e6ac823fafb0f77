// Cache and compression settings of a site.
import { get as ask } from 'node:http';
import { cacheRules, cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { preheat } from '@edgeloom/contract/preheat/preheat.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { horizontalOverflow, startProduct } from '../support/services/browser.ts';
import type { Product } from '../support/services/browser.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

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

const address = (rest: string) => `sitesManagement/sitesSetting/${product.summary.demo.siteID}/Demo?${rest}`;

/** Content-Encoding of the edge's response for a path. */
const encodingOf = (path: string) =>
  new Promise<string | undefined>((resolve, reject) => {
    const headers = { host: product.summary.demo.domain, 'accept-encoding': 'gzip, br' };
    ask({ host: '127.0.0.1', port: product.edgePort, path, headers }, (reply) => {
      reply.resume();
      resolve(reply.headers['content-encoding']);
    }).on('error', reject);
  });

test('a rule shows its advanced options, and a soft purge of a prefix shows receipts', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=cache'), { language: 'en', width: 1440 });
  const rule = page.locator('main ol > li').first();
  await expect.poll(() => rule.textContent()).toContain('varying by cookie');
  await rule.getByText('/shop/').dblclick();
  await page.getByLabel('Cookies that skip the cache').fill('session*, admin');
  await page.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => rule.textContent()).toContain('session* admin');
  await page.goto(`${product.summary.console}/user/${address('view=cache&tab=purge')}`);
  await page.getByText('Prefixes', { exact: true }).click();
  await page.getByLabel('Prefixes').last().fill(`http://${product.summary.demo.domain}/assets/`);
  await page.getByLabel('Soft purge: keep as stale').check();
  await page.getByRole('button', { name: 'Purge 1 prefix' }).click();
  await expect.poll(() => page.locator('main').textContent()).toContain('1 of 1 nodes');
  await expect.poll(() => page.locator('main table').textContent()).toContain('Prefix, soft');
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('a rule honours or overrides the origin, and its sentence shows which', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=cache'), { language: 'en', width: 1440 });
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
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('site settings list forwarded headers and the handling of cookies', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=cache&tab=settings'), {
    language: 'en',
    width: 1440,
  });
  await expect.poll(() => page.getByLabel('Check the content type').isChecked()).toBe(true);
  await page.getByLabel('Request headers to forward').fill('X-Forwarded-Host\nx-device');
  await page.getByRole('combobox', { name: 'Responses with Set-Cookie' }).click();
  await page.getByRole('option', { name: 'Cache without the cookie' }).click();
  await keepPicture(page, 'cache-settings');
  await page.getByRole('button', { name: 'Save' }).click();
  const user = await product.as('user');
  const setting = () => user(cacheSetting.get, { params: { siteId: product.summary.demo.siteID } });
  await expect
    .poll(setting)
    .toMatchObject({ passHeaders: ['x-forwarded-host', 'x-device'], setCookie: 'strip', checkContentType: true });
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('the domain page shows the rules that apply, and purges the domain alone', async () => {
  const { demo, console } = product.summary;
  const { page, browserErrors } = await product.openAs('user', address('view=domains'), {
    language: 'en',
    width: 1440,
  });
  await page.goto(`${console}/user/sitesManagement/sitesSetting/${demo.siteID}/Demo/${demo.domain}?tab=cache`);
  await expect.poll(() => page.getByRole('list', { name: 'Cache rules' }).textContent()).toContain('/shop/');
  await expect
    .poll(() => page.getByRole('link', { name: 'Manage rules' }).getAttribute('href'))
    .toContain('view=cache');
  await page.getByRole('button', { name: `Purge everything of ${demo.domain}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Purge 1 host' }).click();
  await expect.poll(() => page.locator('main').textContent()).toContain('1 of 1 nodes');
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('a prefetch shows a receipt of each node, and is counted in the rail at once', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=cache&tab=preheat'), {
    language: 'en',
    width: 1440,
  });
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
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('without Brotli, responses are compressed by gzip at the edge', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=gzip'), { language: 'en', width: 1440 });
  await page.getByLabel('Brotli').uncheck();
  const size = page.getByLabel('Minimum size');
  await size.fill('');
  await size.pressSequentially('0.5');
  await expect.poll(() => size.inputValue()).toBe('0.5 KiB');
  await size.fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await encodingOf(`/assets/loom.svg?${Date.now()}`)).toBe('gzip'));
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('images become WebP when the setting is enabled', async () => {
  const { page, browserErrors } = await product.openAs('user', address('view=gzip'), { language: 'en', width: 1440 });
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
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

const looks = [
  { language: 'zh-TW', width: 1440 },
  { language: 'en', width: 390 },
] as const;

// screens.test.ts checks these pages without an open rule. The long run opens each page in both looks.
test.each(casesOfRun(looks, looks.length))(
  'the pages have no violations in $language at $width px, light and dark',
  { timeout: 300_000 },
  async (look) => {
    const screen = await product.openAs('user', address('view=cache'), look);
    const { page } = screen;
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
      const at = address(view).replace('?tab', `/${product.summary.demo.domain}?tab`);
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
    expect(screen.browserErrors()).toEqual([]);
    await page.context().close();
  },
);
