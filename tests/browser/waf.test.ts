// A customer sets up the firewall, and exempts a path from a rule by a link of the log.
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

test('a firewall is set up, and a proposed exception is added', async () => {
  const site = await consoles.app.build.site({ name: 'Shop' });
  const at = `sitesManagement/sitesSetting/${site.id}/Shop?view=waf`;
  const { page } = await consoles.openAs(site.owner, at, { language: 'en' });
  await page.getByRole('button', { name: 'Add firewall' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Main');
  await form.getByText('Refuse attacks').click();
  await form.getByRole('radiogroup', { name: 'Sensitivity' }).getByText('2').click();
  await form.getByRole('button', { name: 'Add exception' }).click();
  await form.getByLabel('Path begins with').fill('/editor');
  await keepPicture(page, 'waf-form');
  await form.getByRole('button', { name: 'Add firewall' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('Sensitivity 2').waitFor();
  await keepPicture(page, 'waf-page');
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
  await page.goto(`${page.url()}&rule=sqli-union-select&path=%2Fsearch`);
  await page.getByText('Rule sqli-union-select no longer applies').waitFor();
  await keepPicture(page, 'waf-exempt');
  await page.getByRole('button', { name: 'Add to “Main”' }).click();
  await page.getByText('2 exceptions').waitFor();
  const { call } = consoles.app.as(site.owner);
  expect((await call(wafs.list, { params: site.params, query: {} })).data).toMatchObject([
    {
      mode: 'block',
      paranoia: 2,
      exceptions: [
        { rule: null, path: '/editor', parameter: null },
        { rule: 'sqli-union-select', path: '/search', parameter: null },
      ],
    },
  ]);
});
