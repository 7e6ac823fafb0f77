// A customer adds hotlink rules and request limits in the console, and the edge enforces them.
import { request } from 'node:http';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProduct, type Product } from '../support/services/browser.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 400_000);
afterAll(() => product.stop());

/** Status of a visitor's request. */
const visit = (headers: Record<string, string>, path = '/') =>
  new Promise<number>((resolve, reject) => {
    const { domain } = product.summary.demo;
    request({ port: product.edgePort, host: '127.0.0.1', path, headers: { ...headers, host: domain } })
      .on('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
      .on('error', reject)
      .end();
  });

const rows = (page: Page, list: string) => page.getByRole('list', { name: list }).getByRole('listitem');
const publish = async (page: Page) => {
  await page.getByRole('button', { name: 'Publish' }).click();
  // The bar disappears with the unsaved changes; the message may be from an earlier publish.
  await page.getByText('Rules published').waitFor();
  await page.getByRole('button', { name: 'Publish' }).waitFor({ state: 'detached' });
};

test(
  'rules of a domain and a site are edited, shown as sentences, ordered and enforced',
  { timeout: 300_000 },
  async () => {
    const { siteID, domain } = product.summary.demo;
    const own = `sitesManagement/sitesSetting/${siteID}/Demo`;
    const { page } = await product.openAs('user', `${own}/${domain}?tab=hotlink`);

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
    await eventually(async () => expect(await visit({ referer: 'https://thief.example/' })).toBe(403));
    expect(await visit({ referer: 'https://friend.example/' })).not.toBe(403);
    // Header rules are saved by another request, so they may reach the edge later.
    await eventually(async () => expect(await visit({ 'user-agent': 'BadBot/1' })).toBe(403));

    // Adds a second rule and moves it up by keyboard.
    await page.getByRole('button', { name: 'Add referrer rule' }).click();
    await page.getByLabel('Condition').first().click();
    await page.getByRole('option', { name: 'Path starts with' }).click();
    await page.getByRole('textbox', { name: 'Values' }).fill('/public/');
    await page.getByRole('button', { name: 'Move rule 2: drag, or Alt ↑ / ↓' }).press('Alt+ArrowUp');
    await expect.poll(() => rows(page, 'Allowed referrers').first().innerText()).toContain('/public/');
    await publish(page);
    await keepPicture(page, 'hotlink-domain');

    await page.goto(`/user/${own}?view=hotlink`);
    await page.getByRole('button', { name: 'Add header rule' }).click();
    await page.getByLabel('Header', { exact: true }).fill('X-Scan');
    await page.getByRole('combobox', { name: 'Comparison' }).click();
    await page.getByRole('option', { name: 'is present' }).click();
    await publish(page);
    await keepPicture(page, 'hotlink-site');
    await eventually(async () => expect(await visit({ 'x-scan': '1' })).toBe(403));

    const rule = page.locator('main ol > li').filter({ hasText: 'X-Scan' });
    const ruleID = await rule.getAttribute('data-rule');
    const user = await product.as('user');
    const matches = async () => (await user(statistics.rules, { params: { siteId: siteID } })).data;
    await eventually(async () => expect(await matches()).toContainEqual({ ruleID, requests: 1 }), { within: 60_000 });
    await page.reload();
    await rule.getByText(/^1\s+Matches, 24 h$/).waitFor();
    await keepPicture(page, 'hotlink-matches');
  },
);

test('an invalid rule shows an error at its field and is not published', { timeout: 180_000 }, async () => {
  const { siteID, domain } = product.summary.demo;
  const { page } = await product.openAs('user', `sitesManagement/sitesSetting/${siteID}/Demo/${domain}?tab=hotlink`);
  await page.getByRole('button', { name: 'Add referrer rule' }).click();
  await page.getByLabel('Hosts').fill('not a host!');
  await page.getByLabel('Action', { exact: true }).first().click();
  await page.getByRole('option', { name: 'Redirect (302)' }).click();
  await page.getByLabel('Redirect to').fill('javascript:alert(1)');
  await page.getByLabel('Redirect to').blur();
  await page.getByRole('button', { name: 'Publish' }).click();
  await eventually(async () => expect(await page.getByText('Wrong format').count()).toBe(2));
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.context().close();
});

test('request limits are edited, shown as sentences and enforced', { timeout: 120_000 }, async () => {
  const { siteID } = product.summary.demo;
  const { page } = await product.openAs('user', `sitesManagement/sitesSetting/${siteID}/Demo?view=limits`);
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
  await keepPicture(page, 'limits-editing');
  await publish(page);

  const sentence = async (list: string) => (await rows(page, list).first().innerText()).replace(/\s+/g, ' ');
  await expect.poll(() => sentence('Frequency limits')).toContain('at most 2 requests in 3,600 s per address');
  expect(await sentence('Rate limits')).toContain('per value of X-Api-Key');
  await eventually(async () => expect(await visit({}, '/limited')).toBe(929));
  expect(await visit({})).not.toBe(929);
  await keepPicture(page, 'limits');
});
