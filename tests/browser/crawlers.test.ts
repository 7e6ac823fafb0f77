// A customer decides what crawlers may do, and writes a robots.txt.
import { crawlers } from '@edgeloom/contract/crawlers/crawlers.endpoints.ts';
import { robots } from '@edgeloom/contract/robots/robots.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

async function newSite() {
  const { build, as } = consoles.app;
  const site = await build.site();
  const { call } = as(site.owner);
  const address = `sitesManagement/sitesSetting/${site.id}/${site.name}?view=crawlers`;
  return { site, call, params: site.params, address };
}

const ruleOf = (page: Page, category: string) => page.getByRole('listitem', { name: category });
async function chooseAction(page: Page, category: string, action: string) {
  await ruleOf(page, category).getByRole('combobox', { name: 'Action' }).click();
  await page.getByRole('option', { name: action }).click();
}
const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();

test('categories get an action and a limit, are warned about, and show their matches of a day', async () => {
  const { site, call, params, address } = await newSite();
  const { build, installation } = consoles.app;
  const { rules: stored } = await call(crawlers.update, {
    params,
    body: { rules: [{ category: 'seo', action: 'block' }] },
  });
  const { id: nodeId } = await build.node({ zone: site.zone });
  const seo = stored.find(({ category }) => category === 'seo')?.id ?? '';
  const lines = [seo, `monitor/${seo}`].map((rule) => logLine(site.id, { cause: 'crawlers', rule }));
  await addLogs(installation.pool, nodeId, lines);

  const { page } = await consoles.openAs(site.owner, address, { language: 'en' });
  await expect.poll(() => ruleOf(page, 'SEO tools').innerText()).toMatch(/Matches, 24 h:\s*2/);
  const warning = page.getByText('Search engines will remove the pages of this site from their results.');
  await chooseAction(page, 'Search engines', 'Block with 403');
  await warning.waitFor();
  await ruleOf(page, 'Search engines').getByLabel('Monitor only').check();
  await warning.waitFor({ state: 'detached' });
  await chooseAction(page, 'AI training', 'Limit per minute');
  const perMinute = ruleOf(page, 'AI training').getByLabel('Requests per minute');
  await perMinute.fill('0');
  await save(page);
  await expect.poll(() => perMinute.getAttribute('aria-invalid')).toBe('true');
  await perMinute.fill('30');
  await keepPicture(page, 'crawlers');
  // Regression: a long number of matches moved the fields of its row.
  const starts = await page
    .getByRole('combobox', { name: 'Action' })
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().x));
  expect(new Set(starts).size).toBe(1);
  await save(page);
  const actions = async () => (await call(crawlers.get, { params })).rules.slice(0, 2);
  await expect.poll(actions).toMatchObject([
    { category: 'search', action: 'block', monitor: true },
    { category: 'aiTraining', action: 'limit', perMinute: 30, monitor: false },
  ]);
  await page.setViewportSize({ width: 360, height: 800 });
  await keepPicture(page, 'crawlers-narrow');
});

test('a limit that is not valid does not stop another action from being saved', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, address, { language: 'en' });
  await chooseAction(page, 'Search engines', 'Limit per minute');
  await ruleOf(page, 'Search engines').getByLabel('Requests per minute').fill('0');
  await chooseAction(page, 'Search engines', 'Block with 403');
  await save(page);
  const first = async () => (await call(crawlers.get, { params })).rules[0];
  await expect.poll(first).toMatchObject({ category: 'search', action: 'block', perMinute: 60 });
});

test('robots.txt is made from groups and a template, shown as text, and saved', async () => {
  const { site, call, params, address } = await newSite();
  const { page } = await consoles.openAs(site.owner, `${address}&tab=robots`, { language: 'en' });
  await page.getByText('The file is empty: everything is allowed.').waitFor();
  await page.getByRole('switch', { name: 'Serve this file' }).locator('xpath=..').click();
  await page.getByRole('button', { name: 'Add “no AI training”' }).click();
  await page.getByRole('button', { name: 'Add group' }).click();
  const second = page.getByRole('listitem', { name: 'Group 2' });
  await second.getByLabel('Disallowed paths').fill('private');
  await page.getByText('Correct the errors to see the file.').waitFor();
  await second.getByLabel('Disallowed paths').fill('/private/');
  await page.getByLabel('Sitemaps').fill('https://www.example.com/sitemap.xml');
  const preview = page.locator('pre');
  await expect.poll(() => preview.innerText()).toContain('User-agent: *\nDisallow: /private/');
  await keepPicture(page, 'robots');
  await save(page);
  await expect.poll(async () => (await call(robots.get, { params })).enabled).toBe(true);
  const { text } = await call(robots.get, { params });
  expect(text).toContain('User-agent: GPTBot\n');
  expect(text.trim()).toBe((await preview.innerText()).trim());
  await page.setViewportSize({ width: 360, height: 800 });
  await keepPicture(page, 'robots-narrow');
});
