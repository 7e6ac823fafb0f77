// The request simulator in the customer console.
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { horizontalOverflow, startProduct } from '../support/services/browser.ts';
import type { Product } from '../support/services/browser.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
  const user = await product.as('user');
  await user(siteAntiHeaders.create, {
    params: { siteId: product.summary.demo.siteID },
    body: { antiHeaders: [{ name: 'User-Agent', operator: 'contains', value: 'Googlebot', action: 'deny' }] },
  });
}, 400_000);
afterAll(() => product.stop());

const address = () => `sitesManagement/sitesSetting/${product.summary.demo.siteID}/Demo?view=simulate`;
const url = () => `http://${product.summary.demo.domain}:${product.edgePort}/assets/loom.svg`;

test('a request is simulated as a browser and as a crawler, with a link to the blocking rule', async () => {
  const { page, browserErrors } = await product.openAs('user', address(), {
    language: 'en',
    width: 1440,
    expectedErrors: /400/,
  });
  const urlField = page.getByRole('combobox', { name: 'URL' });
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => urlField.getAttribute('aria-invalid')).toBe('true');
  await urlField.fill('https://nobody.example.com/');
  await page.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => page.locator('main form').textContent()).toMatch(/domain/i);
  await urlField.fill(url());
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
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});

test('an unsaved change is simulated before it is saved', async () => {
  const user = await product.as('user');
  const params = { siteId: product.summary.demo.siteID };
  const { page, browserErrors } = await product.openAs('user', address().replace('simulate', 'rates'), {
    language: 'en',
    width: 1440,
  });
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByRole('textbox', { name: 'Values' }).last().fill('svg');
  await page.getByRole('textbox', { name: 'At most' }).last().fill('1234');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  const shown = page.getByRole('dialog', { name: 'Review changes' });
  await shown.getByText('Simulate with unsaved changes').click();
  await shown.getByLabel('URL').fill(url());
  await shown.getByRole('button', { name: 'Simulate' }).click();
  await expect.poll(() => shown.locator('ol').textContent()).toMatch(/At most 1,234.KiB\/s.*not saved yet/);
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'simulate-draft');
  expect((await user(rates.list, { params })).data).toEqual([]);
  expect(browserErrors()).toEqual([]);
  await page.context().close();
});
