// Licenses in the consoles: offers, issuing to an operator, its banner, and offline licenses.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { testDir } from '../support/services/test-dir.ts';

let consoles: Consoles;
let site: BuiltSite;

beforeAll(async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyFile = path.join(await testDir(), 'license-key.pem');
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  consoles = await startConsoles({
    LICENSE_KEYS: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    LICENSE_SIGNING_KEY: keyFile,
  });
  site = await consoles.app.build.site();
}, 400_000);
afterAll(() => consoles.stop());

test('an administrator makes an offer and issues it to an operator, who sees it and its end', async () => {
  const { build, installation } = consoles.app;
  const { name } = await installation.db.client.findUniqueOrThrow({ where: { id: site.clientId } });
  const admin = await build.admin();
  const { page } = await consoles.openAs(admin, 'licenses');
  await page.getByText('No offers yet').waitFor();
  await keepPicture(page, 'licenses-empty');
  await page.getByRole('button', { name: 'Add offer' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add offer' });
  await form.getByLabel('Name').fill('Starter');
  await form.getByLabel('Term').fill('20');
  await form.getByLabel('Sites').fill('1200');
  await keepPicture(page, 'licenses-offer-form');
  await form.getByRole('button', { name: 'Add offer' }).click();
  await page.getByRole('row').filter({ hasText: 'Starter' }).getByText('20 days').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'licenses-offers');

  await page.getByRole('link', { name: 'Operators', exact: true }).click();
  const row = page.getByRole('row').filter({ hasText: name });
  await row.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Issue license' }).click();
  const issue = page.getByRole('dialog', { name: 'Issue license' });
  await issue.getByLabel('Offer').click();
  await page.getByRole('option', { name: 'Starter · 20 days' }).click();
  await keepPicture(page, 'licenses-issue');
  await issue.getByRole('button', { name: 'Issue license' }).click();
  await row.getByText('1 of 1,200').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'licenses-operators');

  await page.goto(`/admin/userManagement/users/${site.client.id}?tab=licenses`);
  await page.getByRole('row').filter({ hasText: 'Starter' }).getByText('20 days').waitFor();
  await keepPicture(page, 'licenses-history');
  await page.context().close();

  const operator = await consoles.openAs(site.client, 'dashboard');
  const notices = operator.page.getByRole('region', { name: 'Console notices' });
  await notices.getByText('The license expires in 20 days.').waitFor();
  expect(await accessibilityViolations(operator.page)).toEqual([]);
  await keepPicture(operator.page, 'license-banner');
  await notices.getByRole('link', { name: 'View license' }).click();
  await operator.page.getByText('1 of 1,200').waitFor();
  await installation.db.license.updateMany({ data: { endsAt: new Date(Date.now() - 1000) } });
  await operator.page.reload();
  await notices.getByText('The license has expired.').waitFor();
  await installation.db.license.updateMany({ data: { endsAt: new Date(Date.now() + 40 * 86_400_000) } });
  await operator.page.reload();
  await operator.page.getByText('1 of 1,200').waitFor();
  await expect.poll(() => notices.getByText('The license').count()).toBe(0);
  await operator.page.context().close();
});

test('an administrator changes a limit, and keeps the days that another one has added meanwhile', async () => {
  const { build, installation } = consoles.app;
  const { clientId } = await build.client();
  const { name } = await installation.db.client.findUniqueOrThrow({ where: { id: clientId } });
  const soon = new Date(Date.now() + 86_400_000);
  await installation.db.license.create({ data: { clientId, endsAt: soon, layer4: true } });
  const limits = { siteLimit: 5, nodeLimit: 0, zoneLimit: 0, domainLimit: 0, autoCertificateLimit: 0 };
  const offer = unique('layer7');
  await installation.db.licenseOffer.create({
    data: { ...limits, name: offer, days: 30, layer4: false, monitorSeconds: 0 },
  });
  const { page } = await consoles.openAs(await build.admin(), 'licenses?tab=operators');
  const row = page.getByRole('row').filter({ hasText: name });
  const openForm = async (item: string) => {
    await row.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
    return page.getByRole('dialog', { name: item });
  };
  const form = await openForm('Change license');
  await form.getByLabel('Site limit').fill('8');
  const later = new Date(Date.now() + 365 * 86_400_000);
  await installation.db.license.update({ where: { clientId }, data: { endsAt: later } });
  await form.getByRole('button', { name: 'Save' }).click();
  await row.getByText('0 of 8').waitFor();
  expect(await installation.db.license.findUniqueOrThrow({ where: { clientId } })).toMatchObject({
    siteLimit: 8,
    endsAt: later,
  });

  const issue = await openForm('Issue license');
  await issue.getByLabel('Offer').click();
  const option = page.getByRole('option', { name: `${offer} · 30 days (no layer-4 forwards)` });
  await option.waitFor();
  expect(await option.getAttribute('data-combobox-disabled')).toBe('true');
  await keepPicture(page, 'licenses-issue-layer4');
  await page.context().close();
});

test('an administrator issues an offline license and loads it', async () => {
  const admin = await consoles.app.build.admin();
  const { page } = await consoles.openAs(admin, 'offlineLicense?tab=installation');
  await page.getByText('No license loaded').waitFor();
  const machineCode = await page.getByText(/^[0-9a-f]{32}$/).innerText();
  await page.getByRole('link', { name: 'Other installations' }).click();
  await page.getByText('No offline licenses yet').waitFor();
  await page.getByRole('button', { name: 'Add license' }).first().click();
  const form = page.getByRole('dialog', { name: 'Add license' });
  await form.getByLabel('Name').fill('Remote');
  await form.getByLabel('Sites').fill('900');
  await form.getByRole('button', { name: 'Add license' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Remote' });
  await row.getByText('Not issued').waitFor();
  await row.getByRole('button', { name: 'Actions for Remote' }).click();
  await page.getByRole('menuitem', { name: 'Issue file' }).click();
  const issue = page.getByRole('dialog', { name: 'Issue file' });
  await issue.getByLabel('Machine code').fill(machineCode);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    issue.getByRole('button', { name: 'Issue file' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('Remote.license.json');
  await row.getByText(machineCode.slice(0, 8)).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'offline-licenses');

  await page.getByRole('link', { name: 'This installation' }).click();
  await page.locator('input[type="file"]').setInputFiles(await file.path());
  await page.getByRole('button', { name: 'Load license' }).click();
  await page.getByText('1 of 900').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'offline-license-loaded');

  const { db } = consoles.app.installation;
  await db.installationLicense.updateMany({ data: { installationId: randomUUID() } });
  await page.goto('/admin/dashboard');
  const item = page
    .getByRole('listitem')
    .filter({ hasText: 'The license of this installation is for another machine' });
  await item.waitFor();
  await keepPicture(page, 'offline-license-attention');
  await item.getByRole('link').click();
  await page.getByText('The license is for another machine code.').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'offline-license-moved');
  await page.context().close();
});

test.each(['licenses', 'licenses?tab=operators', 'offlineLicense', 'offlineLicense?tab=installation'])(
  'a phone shows %s',
  async (address) => {
    const { build, installation } = consoles.app;
    const admin = await build.admin();
    const limits = { siteLimit: 5, nodeLimit: 0, zoneLimit: 0, domainLimit: 0, autoCertificateLimit: 0 };
    const terms = { ...limits, name: unique('terms'), layer4: true, monitorSeconds: 0 };
    await installation.db.licenseOffer.create({ data: { ...terms, days: 30 } });
    await installation.db.offlineLicense.create({ data: { ...terms, startsAt: new Date() } });
    const { page } = await consoles.openAs(admin, address, { language: 'zh-TW', width: 390, theme: 'dark' });
    await page.locator('main :is(li, dl)').first().waitFor();
    await keepPicture(page, `phone-${address.replace('?tab=', '-')}`);
    expect(await horizontalOverflow(page)).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  },
);
