// An operator sells a traffic package and reads the report; the customer sees what is left.
import { readFile } from 'node:fs/promises';
import { monthOf } from '../support/builders/billing-months.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

const GB = 1_000_000_000;
const month = monthOf(Date.now());

/** A site that used 150 GB this month, at 0.25 NTD per GB. */
async function busySite() {
  const { build, installation } = consoles.app;
  const site = await build.site();
  await installation.db.product.update({ where: { id: site.productId }, data: { trafficPriceCents: 25 } });
  await build.trafficUsage(site, month.from, 150 * GB);
  return site;
}

const LIST = 'trafficPkgManagement/trafficPkgList';

test('an operator sells a package, and its report has the price of the rest', async () => {
  const site = await busySite();
  const { page } = await consoles.openAs(site.client, LIST, { language: 'en' });
  await page.getByRole('button', { name: 'Add traffic package' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Customer').click();
  await page.getByRole('option', { name: new RegExp(site.owner.email) }).click();
  await form.getByText('Monthly', { exact: true }).click();
  await form.getByLabel('Size').fill('100');
  await expect.poll(() => form.getByLabel('Size').inputValue()).toBe('100 GB');
  await form.getByRole('button', { name: /^(Add|Create|Save)/ }).click();
  await page
    .getByText(/of 100\.00/)
    .first()
    .waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'traffic-packages');

  // Sold from the start of the month on, the package covers what was used before.
  await consoles.app.installation.db.trafficPackage.updateMany({
    where: { ownerId: site.owner.id },
    data: { startsAt: new Date(month.from) },
  });
  await page.goto('/client/trafficPkgManagement/trafficReport');
  await page.getByRole('cell', { name: 'NTD 12.50' }).first().waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'traffic-report');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  const file = await readFile(await download.path());
  // UTF-8 for Excel.
  expect([...file.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const lines = file.toString().trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(`,${150 * GB},${100 * GB},${50 * GB},25,1250,NTD,false`);
  await page.context().close();

  for (const [width, language] of [
    [390, 'zh-TW'],
    [1440, 'zh-CN'],
  ] as const) {
    const own = await consoles.openAs(site.owner, LIST, { language, width });
    await own.page
      .getByText(/100\.00/)
      .first()
      .waitFor();
    await own.page.getByText('NTD 12.50').first().waitFor();
    expect(await own.page.getByRole('button', { name: /^新增/ }).count()).toBe(0);
    expect([await horizontalOverflow(own.page), await accessibilityViolations(own.page)]).toEqual([0, []]);
    await keepPicture(own.page, `own-traffic-${width}`);
    await own.page.context().close();
  }
});
