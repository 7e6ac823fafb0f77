// A customer sets up challenges in the console, and the edge asks visitors.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { visit } from '../support/assertions/visit.ts';
import { horizontalOverflow, startProduct, type Product } from '../support/services/browser.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 400_000);
afterAll(() => product.stop());

test(
  'rules are edited, shown as sentences and enforced, and one switch challenges everyone',
  { timeout: 180_000 },
  async () => {
    const { siteID, domain } = product.summary.demo;
    const address = `sitesManagement/sitesSetting/${siteID}/Demo?view=challenges`;
    const { page } = await product.openAs('user', address);
    const statusOf = async (path: string) => (await visit(product.edgePort, domain, path)).status;
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
