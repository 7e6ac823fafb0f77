// An operator's default error pages, settings and health.
import { defaultErrorPages } from '@edgeloom/contract/default-error-pages/default-error-pages.endpoints.ts';
import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { horizontalOverflow, type Screen } from '../support/services/browser.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  consoles = await startConsoles();
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

async function faultsOf({ page, browserErrors }: Screen): Promise<string[]> {
  const wide = await horizontalOverflow(page);
  return [...(await accessibilityViolations(page)), ...(wide > 0 ? [`${wide} px too wide`] : []), ...browserErrors()];
}

test('a default error page is added with a preview, and listed', async () => {
  const { client } = await consoles.app.build.client();
  const screen = await consoles.openAs(client, 'systemManagement/errorSetting', { theme: 'light', language: 'en' });
  const { page } = screen;
  await page.getByRole('button', { name: 'Add error page' }).first().click();
  await page.getByLabel('Content').fill('<h1>Back at noon</h1>');
  await page.frameLocator('iframe[title^="Preview"]').getByText('Back at noon').waitFor();
  await keepPicture(page, 'default-error-page-form');
  await page.getByRole('dialog').getByRole('button', { name: 'Add error page' }).click();
  await page.getByRole('cell', { name: '502' }).waitFor();
  await keepPicture(page, 'default-error-pages');
  expect(await faultsOf(screen)).toEqual([]);
  const { data } = await consoles.app.as(client).call(defaultErrorPages.list);
  expect(data).toMatchObject([{ code: 502, value: '<h1>Back at noon</h1>', edgeOnly: true, enabled: true }]);
});

test('restricted networks are saved in their section of the settings', async () => {
  const site = await consoles.app.build.site();
  const { call } = consoles.app.as(site.client);
  const screen = await consoles.openAs(site.client, 'systemManagement/systemSetting', {
    theme: 'dark',
    language: 'en',
  });
  const { page } = screen;
  const part = page.getByRole('region', { name: 'Restricted origin networks' }).first();
  await part.getByLabel('Networks').fill('198.51.100.0/24');
  await part.getByRole('button', { name: 'Save' }).click();
  await eventually(async () =>
    expect(await call(systemSetting.restrictGroupCIDRs)).toEqual({ cidrs: ['198.51.100.0/24'] }),
  );
  await keepPicture(page, 'system-setting');
  expect(await faultsOf(screen)).toEqual([]);
});

test('a sub-account reads the settings that only the root account changes', async () => {
  const site = await consoles.app.build.site();
  const permissions = ['setting:read' as const, 'setting:write' as const];
  const sub = await consoles.app.build.subClient(site, [{ id: site.zoneId }], { permissions });
  const screen = await consoles.openAs(sub, 'systemManagement/systemSetting', { theme: 'light', language: 'en' });
  for (const name of ['Links in mails', 'Two-step sign-in']) {
    const part = screen.page.getByRole('region', { name }).first();
    await part.getByText('Only the root account can change this.').waitFor();
    expect(await part.getByRole('button', { name: 'Save' }).count()).toBe(0);
  }
  await keepPicture(screen.page, 'system-setting-of-sub-account');
  // It may not read the mail server and the single sign-on.
  expect(screen.browserErrors().filter((error) => !error.includes('403'))).toEqual([]);
});

test('the health page says what does not work', async () => {
  const { app } = consoles;
  const site = await app.build.site();
  await app.installation.db.certificate.create({ data: { siteId: site.id, name: 'a', names: [], status: 'fail' } });
  const screen = await consoles.openAs(site.client, 'systemManagement/health', { theme: 'light', language: 'en' });
  await screen.page.getByText('Something does not work').waitFor();
  await screen.page.getByText('1 could not be issued').waitFor();
  await keepPicture(screen.page, 'system-health');
  expect(await faultsOf(screen)).toEqual([]);
});
