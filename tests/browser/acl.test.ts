// A customer builds access rules, moves them by keys, and writes a script.
import { acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { casesOfRun } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

async function customer() {
  const site = await consoles.app.build.site({ name: 'Shop' });
  const at = `sitesManagement/sitesSetting/${site.id}/Shop`;
  return { site, at, params: site.params, call: consoles.app.as(site.owner).call };
}

test('a rule is built from conditions, read as a sentence, and moved by keys', async () => {
  const { site, at, params, call } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=access`, { language: 'en' });
  await page.getByRole('button', { name: 'Add rule set' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Staff');
  await form.getByLabel('Name of rule 1').fill('Office only');
  await form.getByLabel('Value of condition 1').fill('/admin');
  await form.getByRole('button', { name: 'Add condition' }).click();
  await form.getByRole('combobox', { name: 'Field of condition 2' }).click();
  await page.getByRole('option', { name: 'address', exact: true }).click();
  await form.getByRole('combobox', { name: 'Operator of condition 2' }).click();
  await page.getByRole('option', { name: 'is none of' }).click();
  await form.getByLabel('Value of condition 2').fill('192.0.2.0/24\n198.51.100.1');
  await form.getByRole('button', { name: 'Add rule', exact: true }).click();
  await form.getByLabel('Name of rule 2').fill('Logins');
  await form.getByLabel('Value of condition 1').fill('/login');
  await form.getByLabel('Only log').check();
  await keepPicture(page, 'acl-form');
  await form.locator('[data-n="2"] button').first().press('Alt+ArrowUp');
  await form.getByRole('button', { name: 'Add rule set' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByText('Office only').waitFor();
  const { data } = await call(acls.list, { params, query: {} });
  expect(data[0]?.rules).toMatchObject([
    { name: 'Logins', monitor: true, conditions: [{ field: 'path', value: '/login' }] },
    {
      name: 'Office only',
      action: 'deny',
      conditions: [
        { field: 'path', operator: 'startsWith', value: '/admin' },
        { field: 'ip', operator: 'notIn', value: ['192.0.2.0/24', '198.51.100.1'], join: 'and' },
      ],
    },
  ]);
  await keepPicture(page, 'acl-page');
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
});

test('an error of a script is shown with its line, and a corrected script is stored', async () => {
  const { site, at, params, call } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=scripts`, { language: 'en' });
  await page.getByRole('button', { name: 'Add script' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Night');
  const editor = form.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText('local a = 1\nos.exit()');
  await form.getByText('Line 2, column 1').waitFor();
  await keepPicture(page, 'acl-script-error');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText('return deny()');
  await form.getByRole('button', { name: 'Add script' }).click();
  await page.getByText('return deny()').first().waitFor();
  expect((await call(luaAcls.list, { params, query: {} })).data).toMatchObject([{ script: 'return deny()' }]);
});

const looks = [
  ['zh-TW', 'light', 1440],
  ['zh-CN', 'dark', 1440],
  ['en', 'dark', 360],
] as const;
test.each(casesOfRun(looks, looks.length, 2))('the form fits in %s, %s, %i px', async (language, colours, width) => {
  const { site, at, params, call } = await customer();
  const conditions = [
    { field: 'path', operator: 'startsWith' as const, value: '/admin' },
    { field: 'header:x-key', operator: 'in' as const, value: ['a', 'b'], join: 'or' as const },
  ];
  const rule = { name: 'Staff', conditions, action: 'redirect302' as const, target: '/login', monitor: true };
  await call(acls.create, { params, body: { modules: [{ name: 'Rules', rules: [rule] }] } });
  const { page } = await consoles.openAs(site.owner, `${at}?view=access`, { language });
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: colours });
  await page.getByText('/admin').waitFor();
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
  await page.locator('li header button').nth(1).click();
  const form = page.getByRole('dialog');
  await form.locator('[data-n="1"] button[aria-expanded]').click();
  await form.locator('textarea').waitFor();
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
  await keepPicture(page, `acl-form-${language}-${width}`);
});
