// Sessions with several tabs and unsaved forms.
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToken } from '../support/builders/api-clients.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

/** Chromium logs each 401. */
const refusals = /the server responded with a status of 401/;

async function enter(page: Page, email: string) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

/** A signed-in account in its own browser context. */
async function signedIn() {
  const person = await passwordAccounts(consoles.app).createAccount();
  const { page } = await consoles.open('client', { expectedErrors: refusals });
  await page.goto('/client/login');
  await enter(page, person.email);
  await page.waitForURL('**/client/dashboard');
  return { person, page, context: page.context() };
}

/** Replaces the access token by an expired one. */
async function expire(context: BrowserContext) {
  const cookie = (await context.cookies()).find(({ name }) => name === 'c_accessToken');
  const claims: unknown = JSON.parse(Buffer.from(cookie?.value.split('.')[1] ?? '', 'base64url').toString());
  const value = accessToken(consoles.app.installation, { ...Object(claims) }, { lifetimeSeconds: -60 });
  await context.addCookies([{ name: 'c_accessToken', value, url: consoles.base.client }]);
  return value;
}

const endSessions = (accountId: string) =>
  consoles.app.installation.db.session.updateMany({ where: { accountId }, data: { revokedAt: new Date() } });

test('two tabs with an expired token refresh it once', async () => {
  const { context, page } = await signedIn();
  const other = await context.newPage();
  const renewals: string[] = [];
  context.on('request', (request) => {
    if (request.method() === 'PATCH') renewals.push(request.url());
  });
  // Leave the page, whose polling would also refresh the token.
  await page.goto('about:blank');
  const old = await expire(context);
  await Promise.all([page, other].map((tab) => tab.goto('/client/nodeManage/zonesList')));
  for (const tab of [page, other]) await tab.getByText('No zones yet').waitFor();
  expect(renewals).toHaveLength(1);
  const now = (await context.cookies()).find(({ name }) => name === 'c_accessToken')?.value;
  expect(now).not.toBe(old);

  // The new refresh token works, too.
  await expire(context);
  await other.reload();
  await other.getByText('No zones yet').waitFor();
  expect(renewals).toHaveLength(2);
  await context.close();
});

test('an expired session leads to the sign-in form, then back to the page and its draft', async () => {
  const { person, context, page } = await signedIn();
  await page.goto('/client/nodeManage/zonesList?sort=-name');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  const drawer = page.getByRole('dialog');
  await drawer.getByLabel('Name', { exact: true }).fill('Half a zone');
  await drawer.getByLabel('Memo').fill('typed before the session ended');
  await endSessions(person.id);
  await drawer.getByRole('button', { name: 'Add zone' }).click();

  await page.waitForURL('**/client/login?next=*');
  await page.getByText('Your edits are kept in this tab').waitFor();
  await enter(page, person.email);
  await page.waitForURL('**/client/nodeManage/zonesList?sort=-name');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  await expect.poll(() => drawer.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a zone');
  await expect.poll(() => drawer.getByLabel('Memo').inputValue()).toBe('typed before the session ended');
  await drawer.getByRole('button', { name: 'Add zone' }).click();
  await page.getByRole('link', { name: 'Half a zone' }).waitFor();
  await context.close();
});

test('another account does not see the draft', async () => {
  const { person, context, page } = await signedIn();
  await page.goto('/client/nodeManage/zonesList');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('A secret plan');
  await endSessions(person.id);
  await page.getByRole('dialog').getByRole('button', { name: 'Add zone' }).click();
  await page.waitForURL('**/client/login?next=*');
  const another = await passwordAccounts(consoles.app).createAccount();
  await enter(page, another.email);
  await page.waitForURL('**/client/nodeManage/zonesList');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  await expect.poll(() => page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('');
  await context.close();
});

test('signing out in one tab signs out the others', async () => {
  const { context, page } = await signedIn();
  const other = await context.newPage();
  await other.goto('/client/nodeManage/zonesList');
  await other.getByText('No zones yet').waitFor();
  const message = other.getByText('You were signed out in another tab').waitFor();
  await page.getByRole('button', { name: /Account menu/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByText('Signed out').waitFor();
  await message;
  await expect.poll(() => new URL(other.url()).pathname).toBe('/client/login');
  await context.close();
});

test('a wrong password shows an error at its field, the same as for an unknown account', async () => {
  const person = await passwordAccounts(consoles.app).createAccount();
  const { page } = await consoles.open('client', { expectedErrors: refusals });
  await page.goto('/client/login');
  const field = page.getByLabel('Password', { exact: true });
  for (const email of [person.email, 'nobody-of-this-name@example.com']) {
    await page.getByLabel('E-mail').fill(email);
    await field.fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Wrong e-mail or password (101012)').waitFor();
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    // Typing replaces the selected text.
    await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true);
    await page.keyboard.type('x');
    await expect.poll(() => field.inputValue()).toBe('x');
    await expect.poll(() => page.getByText('Wrong e-mail or password').count()).toBe(0);
  }
  await enter(page, person.email);
  // Focus moves to the page's title.
  const title = page.getByRole('heading', { level: 1, name: 'Dashboard' });
  await expect.poll(() => title.evaluate((it) => it === document.activeElement)).toBe(true);
  await expect.poll(() => page.title()).toBe('Dashboard · Edgeloom');
  await page.context().close();
});

test('leaving a changed form asks for confirmation', async () => {
  const { context, page } = await signedIn();
  await page.goto('/client/nodeManage/zonesList');
  await page.getByRole('button', { name: 'Add zone' }).first().click();
  const name = page.getByRole('dialog').getByLabel('Name', { exact: true });
  await name.fill('not saved');
  await page.keyboard.press('Escape');
  const question = page.getByRole('dialog', { name: 'Leave without saving?' });
  await question.getByRole('button', { name: 'Stay' }).click();
  await expect.poll(() => name.inputValue()).toBe('not saved');
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Leave' }).click();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await context.close();
});
