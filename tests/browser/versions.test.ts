// A customer previews a change, sees the history and restores a version.
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { cors } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
let site: BuiltSite;
beforeAll(async () => {
  consoles = await startConsoles();
  site = await consoles.app.build.site();
}, 400_000);
afterAll(() => consoles.stop());

async function faultsOf(page: Page) {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await accessibilityViolations(page, { rules: rulesOf(colorScheme) });
    found.push(...violations.map((fault) => `${colorScheme} ${fault}`));
  }
  return found;
}

const looks = [
  { language: 'zh-TW', width: 1440, rollback: '還原到此版本', confirm: '還原', changes: '檢視變更' },
  { language: 'en', width: 390, rollback: 'Restore this version', confirm: 'Restore', changes: 'View changes' },
] as const;

// Each width has one of the two tests. The long run has both tests in both.
test.each(casesOfRun(looks, 2))(
  'a change is found and rolled back, in $language at $width px',
  { timeout: 240_000 },
  async (look) => {
    const siteId = site.id;
    const user = consoles.app.as(site.owner).call;
    const { data } = await user(rates.create, { params: { siteId }, body: { rates: [{ rate: 2048 }, { rate: 77 }] } });
    await user(rates.remove, { params: { siteId }, body: { ids: [data[0]?.id ?? ''] } });

    const list = `sitesManagement/sitesSetting/${siteId}/demo?view=versions`;
    const { page } = await consoles.openAs(site.owner, list, look);
    await page.locator('main [data-row]').first().waitFor();
    await keepPicture(page, `versions-${look.language}-${look.width}`);
    const menuOf = async (nth: number, name: string) => {
      await page.locator('main [data-row]').nth(nth).getByRole('button').last().click();
      await page.getByRole('menuitem', { name }).click();
    };
    await menuOf(0, look.changes);
    await page.locator('main del', { hasText: /2,048.KiB/ }).waitFor();
    await keepPicture(page, `versions-difference-${look.language}-${look.width}`);
    expect(await faultsOf(page)).toEqual([]);
    await expect.poll(() => horizontalOverflow(page)).toBe(0);
    await keepPicture(page, `versions-difference-dark-${look.language}-${look.width}`);
    await page.goBack();
    await page.locator('main [data-row]').first().waitFor();

    await menuOf(1, look.rollback);
    const shown = page.getByRole('dialog');
    await shown.locator('ins', { hasText: /2,048.KiB/ }).waitFor();
    await keepPicture(page, `versions-rollback-${look.language}-${look.width}`);
    expect(await faultsOf(page)).toEqual([]);
    await expect.poll(() => horizontalOverflow(page)).toBe(0);
    await shown.getByRole('button', { name: look.confirm, exact: true }).click();
    await shown.waitFor({ state: 'detached' });
    await eventually(async () => {
      const now = await user(rates.list, { params: { siteId } });
      expect(now.data.map(({ id }) => id)).toContain(data[0]?.id);
    });
    await page.context().close();
  },
);

test('any two versions are compared side by side', { timeout: 240_000 }, async () => {
  const siteId = site.id;
  const user = consoles.app.as(site.owner).call;
  for (const rate of [11, 22, 33]) await user(rates.create, { params: { siteId }, body: { rates: [{ rate }] } });
  const list = `sitesManagement/sitesSetting/${siteId}/demo?view=versions`;
  const { page } = await consoles.openAs(site.owner, list, { language: 'en', width: 1440 });
  const rows = page.locator('main [data-row]');
  await rows.first().getByText('1 bandwidth limit added').waitFor();
  for (const nth of [0, 2]) await rows.nth(nth).getByRole('checkbox').click();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByText('Items that differ: 2').waitFor();
  const [before, after] = [page.locator('main del'), page.locator('main ins')];
  await after.getByText(/22.KiB/).waitFor();
  await expect.poll(() => before.count()).toBe(0);
  await page.getByRole('button', { name: 'Swap' }).click();
  await before.getByText(/22.KiB/).waitFor();
  await expect.poll(() => after.count()).toBe(0);
  await keepPicture(page, 'versions-compared');
  await page.context().close();
});

const previews = [
  { language: 'zh-CN', width: 1440, preview: '预览更改', keep: '继续编辑' },
  { language: 'en', width: 390, preview: 'Review', keep: 'Keep editing' },
] as const;

test.each(casesOfRun(previews, 2, 1))(
  'the effect of saving is previewed, in $language at $width px',
  { timeout: 240_000 },
  async (look) => {
    const siteId = site.id;
    const user = consoles.app.as(site.owner).call;
    const setting = await user(compression.get, { params: { siteId } });
    const at = (view: string) => `sitesManagement/sitesSetting/${siteId}/demo?view=${view}`;
    const { page } = await consoles.openAs(site.owner, at('gzip'), look);
    await page.locator('[name=minBytes]').fill('2048');
    await expect.poll(() => horizontalOverflow(page)).toBe(0);
    await keepPicture(page, `preview-bar-${look.language}-${look.width}`);
    await page.getByRole('button', { name: look.preview, exact: true }).click();
    const shown = page.getByRole('dialog');
    await shown.locator('ins').first().waitFor();
    await keepPicture(page, `preview-${look.language}-${look.width}`);
    expect(await faultsOf(page)).toEqual([]);
    await expect.poll(() => horizontalOverflow(page)).toBe(0);
    await keepPicture(page, `preview-dark-${look.language}-${look.width}`);
    await shown.getByRole('button', { name: look.keep }).click();
    await shown.waitFor({ state: 'detached' });
    expect(await user(compression.get, { params: { siteId } })).toEqual(setting);
    await page.context().close();
  },
);

test(
  'rule lists and drawers have a preview, with errors at their fields, and are saved from the preview',
  { timeout: 240_000 },
  async () => {
    const siteId = site.id;
    const user = consoles.app.as(site.owner).call;
    const at = (view: string) => `sitesManagement/sitesSetting/${siteId}/demo?view=${view}`;
    const { page, browserErrors } = await consoles.openAs(site.owner, at('rates'), {
      language: 'en',
      width: 1440,
      expectedErrors: /409/,
    });
    await page.getByRole('button', { name: 'Add limit' }).click();
    await page.getByRole('textbox', { name: 'Values' }).last().fill('mp4');
    await page.getByRole('textbox', { name: 'At most' }).last().fill('1234');
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'Review changes' });
    await shown.locator('ins', { hasText: /1,234.KiB/ }).waitFor();
    const listed = async () => (await user(rates.list, { params: { siteId } })).data.map(({ rate }) => rate);
    expect(await listed()).not.toContain(1234);
    await shown.getByRole('button', { name: 'Publish' }).click();
    await eventually(async () => expect(await listed()).toContain(1234));

    await user(cors.create, {
      params: { siteId },
      body: { cors: [{ name: 'Taken', allowOrigins: ['https://a.example'] }] },
    });
    await page.goto(page.url().replace('view=rates', 'view=cors'));
    await page.getByRole('button', { name: 'Add CORS module' }).first().click();
    const drawer = page.getByRole('dialog', { name: 'Add CORS module' });
    await drawer.locator('[name=name]').fill('Taken');
    await drawer.locator('[name=allowOrigins]').fill('https://b.example');
    await drawer.getByRole('button', { name: 'Review', exact: true }).click();
    await drawer.locator('[name=name][aria-invalid=true]').waitFor();
    await drawer.locator('[name=name]').fill('Free');
    await drawer.getByRole('button', { name: 'Review', exact: true }).click();
    await shown.locator('ins', { hasText: 'https://b.example' }).waitFor();
    await keepPicture(page, 'preview-over-drawer');
    expect(await faultsOf(page)).toEqual([]);
    // Regression: it saved the form of the drawer below.
    await page.keyboard.press('Control+s');
    await shown.getByRole('button', { name: 'Keep editing' }).click();
    await shown.waitFor({ state: 'detached' });
    await expect.poll(() => drawer.locator('[name=name]').inputValue()).toBe('Free');
    const names = async () => (await user(cors.list, { params: { siteId } })).data.map(({ name }) => name);
    expect(await names()).toEqual(['Taken']);
    expect(browserErrors().filter((text) => !text.includes('409'))).toEqual([]);
    await page.context().close();
  },
);
