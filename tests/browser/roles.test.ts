// Roles and API tokens, by mouse and by keyboard.
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestApp } from '../support/services/app.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let app: TestApp;
beforeAll(async () => {
  consoles = await startConsoles();
  ({ app } = consoles);
}, 400_000);
afterAll(() => consoles.stop());

const owner = async () => app.build.user(await app.build.client());

describe('a role', () => {
  test('is composed by area: write includes read, and rows and columns are toggled at once', async () => {
    const user = await owner();
    const { page } = await consoles.openAs(user, 'userManagement/roles');
    await page.getByRole('button', { name: 'Add role' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Support');
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true });
    await box('Sites: change').check();
    await expect.poll(() => box('Sites: read').isChecked()).toBe(true);
    await box('Sites: read').uncheck();
    await expect.poll(() => box('Sites: change').isChecked()).toBe(false);
    await box('Domains: read and change').check();
    await expect.poll(() => box('Domains: change').isChecked()).toBe(true);
    await box('All areas').check();
    await expect.poll(() => box('Logs: change').isChecked()).toBe(true);
    await box('All areas').uncheck();
    await expect.poll(() => box('Domains: read').isChecked()).toBe(false);
    await box('Read').check();
    await box('Accounts: read').uncheck();
    await page.locator('form').getByRole('button', { name: 'Add role' }).click();
    await page.getByText('Role added').waitFor();
    const [role] = (await app.as(user).call(roles.list)).data;
    expect(role?.permissions).toContain('site:read');
    expect(role?.permissions.filter((one) => one.endsWith(':write') || one.startsWith('account:'))).toEqual([]);
    await page.context().close();
  });

  test('is composed by keyboard: arrows move, space toggles', async () => {
    const user = await owner();
    const { page } = await consoles.openAs(user, 'userManagement/roles');
    await page.getByRole('button', { name: 'Add role' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('On call');
    await page.keyboard.press('Tab');
    // From "all areas" down to the first row, then across read and write.
    for (const key of ['ArrowDown', 'ArrowRight', 'Space', 'ArrowDown', 'ArrowRight', 'Space', 'Enter'])
      await page.keyboard.press(key);
    await page.getByText('Role added').waitFor();
    const [role] = (await app.as(user).call(roles.list)).data;
    expect(role?.permissions).toEqual(['account:read', 'role:read', 'role:write']);
    await page.context().close();
  });

  test('that is one’s own, or has more permissions, is read-only', async () => {
    const user = await owner();
    await app.as(user).call(roles.create, { body: { name: 'above', permissions: ['domain:write'] } });
    await app.as(user).call(roles.create, { body: { name: 'beneath', permissions: ['site:read'] } });
    const sub = await app.build.subUser(user, [], { permissions: ['role:read', 'role:write', 'site:read'] });
    const { page } = await consoles.openAs(sub, 'userManagement/roles');
    await page.getByText('your role').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Actions for/ }).count()).toBe(1);
    await page.getByRole('button', { name: 'Actions for beneath' }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await expect.poll(() => page.getByRole('checkbox', { name: 'Domains: read' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('checkbox', { name: 'Sites: change' }).isDisabled()).toBe(true);
    await page.context().close();
  });
});

describe('an API token', () => {
  test('is shown once, works, and is rejected after revocation', async () => {
    const user = await owner();
    const { page } = await consoles.openAs(user, 'userManagement/apiTokenSetting');
    await page.getByRole('button', { name: 'Add token' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('deploy');
    await page.getByLabel('Allowed addresses').fill('127.0.0.1\n::1');
    await page.getByRole('checkbox', { name: 'Sites: read', exact: true }).check();
    await page.locator('form').getByRole('button', { name: 'Add token' }).click();
    const token = (await page.getByRole('region', { name: 'Token', exact: true }).locator('pre').textContent()) ?? '';
    const [row] = (await app.as(user).call(apiTokens.list)).data;
    expect(row).toMatchObject({ name: 'deploy', permissions: ['site:read'], cidrs: ['127.0.0.1', '::1'] });
    expect(Date.parse(row?.expiresAt ?? '')).toBeGreaterThan(Date.now() + 89 * 86_400_000);
    const command = (await page.getByRole('region', { name: 'Try it' }).locator('pre').textContent()) ?? '';
    expect(command).toContain(`'Authorization: Bearer ${token}'`);
    const address = command.split(' ').at(-1) ?? '';
    const ask = async () => (await fetch(address, { headers: { authorization: `Bearer ${token}` } })).status;
    expect(await ask()).toBe(200);
    await page.getByRole('button', { name: 'I have stored the token' }).click();
    expect(await page.content()).not.toContain(token);

    await page.getByRole('button', { name: 'Actions for deploy' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The token was revoked').waitFor();
    expect(await ask()).toBe(401);
    await page.context().close();
  });

  test('is reported as added, although the page cannot read the response', async () => {
    const user = await owner();
    const { page } = await consoles.openAs(user, 'userManagement/apiTokenSetting', {
      expectedErrors: /ZodError/,
    });
    await page.getByRole('button', { name: 'Add token' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('ci');
    await page.getByRole('checkbox', { name: 'Sites: read', exact: true }).check();
    await page.route('**/apiToken', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, body: (await response.text()).replace('"refreshToken"', '"renamed"') });
    });
    await page.locator('form').getByRole('button', { name: 'Add token' }).click();
    const messages = page.getByRole('region', { name: 'Messages' }).locator('[data-tone]');
    await messages.first().waitFor();
    await expect.poll(() => messages.allTextContents()).toEqual(['Added']);
    expect((await app.as(user).call(apiTokens.list)).data).toHaveLength(1);
    await page.context().close();
  });
});
