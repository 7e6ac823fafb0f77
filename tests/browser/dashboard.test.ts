// The dashboards with traffic.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BuiltSite } from '../support/builders/build.ts';
import { addTraffic } from '../support/builders/traffic.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  site = await consoles.app.build.site();
  const { id } = await consoles.app.build.node({ zone: site.zone });
  await addTraffic(consoles.app.installation.pool, id, site.id);
}, 400_000);
afterAll(() => consoles.stop());

const panel = (page: Page, name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) });

test.each([
  ['user', 1440, 'light', 'en'],
  ['client', 1440, 'dark', 'zh-TW'],
  ['user', 390, 'light', 'zh-CN'],
] as const)('%s at %i px, %s, %s', async (kind, width, theme, language) => {
  const account = kind === 'user' ? site.owner : site.client;
  const { page } = await consoles.openAs(account, 'dashboard', { width, theme, language });
  await page.locator('canvas').first().waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, `dashboard-${kind}-${width}-${language}`);
  await page.context().close();
});

test('each chart has its newest figures as text, and all of them as a table', async () => {
  const { page } = await consoles.openAs(site.owner, 'dashboard');
  const requests = panel(page, 'Requests');
  await requests.getByText(/^Requests [\d,]+$/).waitFor();
  await panel(page, 'Cache hit rate')
    .getByText(/^Cache hit rate (79|80)\.\d\d%$/)
    .waitFor();
  await requests.getByText('Show as table').click();
  await expect.poll(() => requests.getByRole('row').count()).toBeGreaterThan(90);
  await page.context().close();
});
