// A customer sees what was changed, and has it back.
import AxeBuilder from '@axe-core/playwright';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overhang, startProduct, type Product } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { keepPicture } from '../support/pictures.ts';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.stop());

const looks = [
  { language: 'zh-TW', width: 1440, rollback: '還原到此版本', confirm: '還原', changes: '查看變更' },
  { language: 'en', width: 390, rollback: 'Roll back to this', confirm: 'Roll back', changes: 'What changed' },
] as const;

test.each(looks)('a change is found and rolled back, in $language at $width px', { timeout: 240_000 }, async (look) => {
  const { siteID: siteId } = product.summary.demo;
  const user = await product.as('user');
  const { data } = await user(rates.create, { params: { siteId }, body: { rates: [{ rate: 2048 }, { rate: 77 }] } });
  await user(rates.remove, { params: { siteId }, body: { ids: [data[0]?.id ?? ''] } });

  const screen = await product.openAs('user', `sitesManagement/sitesSetting/${siteId}/demo?view=versions`, look);
  const { page } = screen;
  await page.locator('main [data-row]').first().waitFor();
  await keepPicture(page, `versions-${look.language}-${look.width}`);
  const menuOf = async (nth: number, name: string) => {
    await page.locator('main [data-row]').nth(nth).getByRole('button').last().click();
    await page.getByRole('menuitem', { name }).click();
  };
  await menuOf(0, look.changes);
  const shown = page.getByRole('dialog');
  await shown.locator('del', { hasText: '2048' }).waitFor();
  await keepPicture(page, `versions-difference-${look.language}-${look.width}`);
  const faults = async () => {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).analyze();
      found.push(...violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html ?? ''}`));
    }
    return found;
  };
  expect(await faults()).toEqual([]);
  await keepPicture(page, `versions-difference-dark-${look.language}-${look.width}`);
  await page.keyboard.press('Escape');
  await shown.waitFor({ state: 'detached' });

  await menuOf(1, look.rollback);
  await shown.locator('ins', { hasText: '2048' }).waitFor();
  await keepPicture(page, `versions-rollback-${look.language}-${look.width}`);
  expect(await faults()).toEqual([]);
  expect(await overhang(page)).toBe(0);
  await shown.getByRole('button', { name: look.confirm, exact: true }).click();
  await shown.waitFor({ state: 'detached' });
  await eventually(async () => {
    const now = await user(rates.list, { params: { siteId } });
    expect(now.data.map(({ id }) => id)).toContain(data[0]?.id);
  });
  await page.context().close();
});
