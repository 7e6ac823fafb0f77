// Switching to another account, the banner, switching back, and other ways to the landing page.
import { ownSessions, proxy } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import type { TestApp } from '../support/services/app.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';

let consoles: Consoles;
let app: TestApp;
beforeAll(async () => {
  consoles = await startConsoles();
  ({ app } = consoles);
}, 400_000);
afterAll(() => consoles.stop());

const refused = { expectedErrors: /the server responded with a status of 4\d\d/ };
const act = (who: SignedInAccount, { id }: { id: string }) =>
  app.as(who).call(proxy.start, { body: { accountID: id } });
const banner = (page: Page) => page.getByRole('region', { name: 'Console notices' });
const cookies = async (page: Page) =>
  Object.fromEntries((await page.context().cookies()).map(({ name, value }) => [name, value]));

/** A page that counts clicks. */
function pressing(page: Page) {
  let clicks = 0;
  return {
    clicks: () => clicks,
    click: async (role: 'link' | 'button' | 'menuitem', name: string | RegExp) => {
      clicks += 1;
      await page.getByRole(role, { name }).first().click();
    },
  };
}

describe('switching to another account', () => {
  test('takes three clicks, and one click leads back to the row', async () => {
    const tenant = await app.build.client();
    const [user] = [await app.build.user(tenant), await app.build.user(tenant)];
    const { page } = await consoles.openAs(tenant.client, 'dashboard');
    const { click, clicks } = pressing(page);
    await click('link', 'Users');
    await click('button', `Actions for ${user.email}`);
    await click('menuitem', 'Act as');
    await page.waitForURL('**/user/dashboard');
    expect(clicks()).toBe(3);
    await banner(page).getByText(tenant.client.email).waitFor();
    await banner(page).getByText(user.email).waitFor();
    await expect.poll(() => page.url()).not.toContain('code');

    await click('button', 'Stop acting');
    await page.waitForURL('**/client/userManagement/users*');
    await page.locator(`[data-row="${user.id}"]:focus`).waitFor();
    expect(clicks()).toBe(4);
    expect(await cookies(page)).not.toHaveProperty('u_accessToken');
    await expect.poll(() => banner(page).count()).toBe(0);
    await page.context().close();
  });

  test('works from the admin console to the operator’s, and back', async () => {
    const { client } = await app.build.client();
    const { page } = await consoles.openAs(await app.build.admin(), 'userManagement/users');
    const { click } = pressing(page);
    await click('button', `Actions for ${client.email}`);
    await click('menuitem', 'Act as');
    await page.waitForURL(`${consoles.base.client}/client/dashboard`);
    await expect.poll(() => page.url()).not.toContain('code');
    await banner(page).getByText(client.email).waitFor();
    await click('button', 'Stop acting');
    await page.waitForURL(`${consoles.base.admin}/admin/userManagement/users*`);
    await page.locator(`[data-row="${client.id}"]:focus`).waitFor();
    await page.context().close();
  });

  test('restores the own session within the same console', async () => {
    const operator = await passwordAccounts(app).createAccount({});
    const tenant = await app.build.client();
    await app.installation.db.account.update({ where: { id: operator.id }, data: { clientId: tenant.clientId } });
    const own = { ...tenant, client: { ...tenant.client, id: operator.id } };
    const sub = await app.build.subClient(own, [], { permissions: ['zone:read'] });
    const { page } = await consoles.open('client');
    await page.goto('/client/login');
    await page.getByLabel('E-mail').fill(operator.email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/client/dashboard');
    const before = await cookies(page);
    const { data } = await app.as({ kind: 'client', token: before['c_accessToken'] ?? '' }).call(ownSessions.list);
    expect(data).toHaveLength(1);

    await page.goto(`/client/userManagement/users?tab=subs`);
    const { click } = pressing(page);
    await click('button', `Actions for ${sub.email}`);
    await click('menuitem', 'Act as');
    await banner(page).getByText(sub.email).waitFor();
    expect(await cookies(page)).toHaveProperty('c_ownRefreshToken', before['c_refreshToken']);
    await click('button', 'Stop acting');
    await page.waitForURL('**/client/userManagement/users*');
    await page.getByRole('button', { name: operator.email }).waitFor();
    expect(await cookies(page)).not.toHaveProperty('c_ownRefreshToken');
    await page.context().close();
  });
});

describe('the landing page', () => {
  test('opens the session once, and removes its parameters from the URL', async () => {
    const tenant = await app.build.client();
    const { url } = await act(tenant.client, await app.build.user(tenant));
    const { page } = await consoles.open('user', refused);
    await page.goto(url);
    await page.waitForURL('**/user/dashboard');
    await banner(page).getByText(tenant.client.email).waitFor();
    await page.goBack().catch(() => null);
    await expect.poll(() => page.url()).not.toContain('code');
    const again = await consoles.open('user', refused);
    await again.page.goto(url);
    await again.page.waitForURL('**/user/login');
    await again.page.getByText('Invalid Token').waitFor();
    expect(await cookies(again.page)).toEqual({});
    await Promise.all([page.context().close(), again.page.context().close()]);
  });

  test('accepts the three documented parameters after verification', async () => {
    const tenant = await app.build.client();
    const user = await app.build.user(tenant);
    const { accessToken, refreshToken, tokenType } = await act(tenant.client, user);
    const { page } = await consoles.open('user');
    await page.goto(`/user/switchUser?${new URLSearchParams({ accessToken, refreshToken, tokenType })}`);
    await page.waitForURL('**/user/dashboard');
    await banner(page).getByText(user.email).waitFor();
    const before = await cookies(page);
    expect([before['u_accessToken'], before['u_refreshToken']]).not.toEqual([accessToken, refreshToken]);
    await expect.poll(() => page.url()).not.toContain('Token');
    await page.context().close();
  });

  const rejected = [
    ['made up', { accessToken: 'x.y.z', refreshToken: 'a.b.c', tokenType: 'Bearer' }],
    ['two of three', { accessToken: 'x.y.z', refreshToken: 'a.b.c' }],
    ['of another type', { accessToken: 'x.y.z', refreshToken: 'a.b.c', tokenType: 'Basic' }],
    ['none', {}],
  ] as const;
  test.each(casesOfRun(rejected, 2))(
    'ignores parameters that are %s and keeps the current session',
    async (_, values) => {
      const user = await app.build.user(await app.build.client());
      const { page } = await consoles.openAs(user, 'dashboard', refused);
      await page.locator('main h1').waitFor();
      const before = await cookies(page);
      await page.goto(`/user/switchUser?${new URLSearchParams(values)}`);
      await page.waitForURL('**/user/dashboard');
      expect(await cookies(page)).toEqual(before);
      await page.locator('main h1').waitFor();
      await expect.poll(() => banner(page).count()).toBe(0);
      await page.context().close();
    },
  );
});

describe('in a switched session', () => {
  test('owner-only actions are hidden, and the banner stays on every page', async () => {
    const tenant = await app.build.client();
    const { url } = await act(tenant.client, await app.build.user(tenant));
    const { page } = await consoles.open('user', refused);
    await page.goto(url);
    await page.waitForURL('**/user/dashboard');
    await page.goto('/user/userManagement/apiTokenSetting');
    await banner(page).getByText('Stop acting').waitFor();
    await page.locator('main h1').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Add token' }).count()).toBe(0);
    await page.context().close();
  });

  test('the next page is the sign-in page once the owner ends the session', async () => {
    const tenant = await app.build.client();
    const user = await app.build.user(tenant);
    const { url } = await act(tenant.client, user);
    const { page } = await consoles.open('user', refused);
    await page.goto(url);
    await banner(page).getByText('Stop acting').waitFor();
    const { data } = await app.as(user).call(ownSessions.list);
    const ids = data.filter(({ proxyName }) => proxyName !== null).map(({ id }) => id);
    await app.as(user).call(ownSessions.end, { body: { ids } });
    await eventually(
      async () => {
        await page.goto('/user/sitesManagement');
        await page.waitForURL('**/user/login*', { timeout: 5000 });
      },
      { within: 60_000 },
    );
    expect(await cookies(page)).not.toHaveProperty('u_accessToken');
    await page.context().close();
  });
});
