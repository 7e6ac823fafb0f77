// Accounts in the consoles: creation, invitation mail, suspension, assigned sites, removal.
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations, rulesOf } from '../support/assertions/accessibility.ts';
import { horizontalOverflow, type WindowOptions, type Screen } from '../support/services/browser.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { mailTo } from '../support/assertions/mailbox.ts';

let consoles: Consoles;
let site: BuiltSite;
const hostile = '<img src=x onerror=alert(1)>';

beforeAll(async () => {
  consoles = await startConsoles();
  const { build, installation } = consoles.app;
  site = await build.site({ name: 'Glow Select' });
  await build.site({ name: 'North Harbour', product: site.product, owner: site.owner });
  const { db } = installation;
  const data = { name: 'harbour-lights', companyName: hostile, phone: '+886 2 2345 6789' };
  await db.account.update({ where: { id: site.owner.id }, data });
  const sub = await build.subUser(site.owner, [site], { permissions: ['site:read', 'domain:read'] });
  await db.account.update({ where: { id: sub.id }, data: { name: 'night-shift', status: 'pause' } });
  await build.subClient(site, [site.zone], { permissions: ['zone:read'] });
}, 400_000);
afterAll(() => consoles.stop());

const themes = ['light', 'dark'] as const;
/** Accessibility violations in each theme, and horizontal overflow. */
async function faultsOf({ page }: Screen, shown: readonly (typeof themes)[number][] = themes): Promise<string[]> {
  await page.locator('main h1').waitFor();
  await page.locator('main :is(tbody td, li, dl, form)').first().waitFor();
  const faults: string[] = [];
  for (const colorScheme of shown) {
    await page.emulateMedia({ colorScheme });
    faults.push(...(await accessibilityViolations(page, { rules: rulesOf(colorScheme) })));
  }
  const wide = await horizontalOverflow(page);
  return [...faults, ...(wide > 0 ? [`${wide} px too wide`] : [])];
}

const looks: WindowOptions[] = [
  { language: 'zh-TW', width: 1440 },
  { language: 'en', width: 360 },
];

// The screens alternate between the looks, wide and light or narrow and dark. The long run opens each in both and in
// both themes.
test.each(looks)('every screen is whole in $language at $width px', { timeout: 300_000 }, async (look) => {
  const { build, as, installation } = consoles.app;
  const { db } = installation;
  const subs = await db.account.findMany({ where: { clientId: site.clientId, isRoot: false } });
  const idOf = (kind: string) => subs.find((sub) => sub.kind === kind)?.id ?? '';
  await as(site.client).call(accounts.resend, { body: { id: idOf('user') } });
  const admin = await build.admin();
  const screens = [
    [site.client, 'userManagement/users'],
    [site.client, 'userManagement/users?tab=subs'],
    [site.client, `userManagement/users/${site.owner.id}`],
    [site.client, `userManagement/users/${site.owner.id}?tab=subs`],
    [site.client, `userManagement/users/${idOf('user')}?tab=sites`],
    [site.client, `userManagement/users/${idOf('client')}?tab=zones`],
    [site.owner, 'userManagement/usersList'],
    [site.owner, `userManagement/usersList/${idOf('user')}?tab=otherSites`],
    [admin, 'userManagement/users'],
    [admin, 'userManagement/users?tab=users'],
  ] as const;
  const faults: Record<string, string[]> = {};
  const shown = casesOfRun(screens, looks.length, looks.indexOf(look));
  for (const [who, theirs] of Map.groupBy(shown, ([account]) => account)) {
    const screen = await consoles.openAs(who, theirs[0]?.[1] ?? '', look);
    for (const [i, [, address]] of theirs.entries()) {
      if (i > 0) await screen.page.goto(`/${who.kind}/${address}`);
      const found = await faultsOf(screen, casesOfRun(themes, looks.length, looks.indexOf(look)));
      if (found.length > 0) faults[`${who.kind} ${address}`] = found;
      await keepPicture(screen.page, `accounts-${who.kind}-${i}-${look.width}`);
    }
    await screen.page.context().close();
  }
  expect(faults).toEqual({});
});

test(
  'an invited account gets a mail, sets a password through the link and signs in',
  { timeout: 180_000 },
  async () => {
    const { app, base } = consoles;
    const email = 'first.customer@example.com';
    const { page } = await consoles.openAs(site.client, 'userManagement/users');
    await page.getByRole('button', { name: 'Add customer' }).first().click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('x'.repeat(65));
    await page.keyboard.press('Enter');
    await page.getByText('At most 64 characters').first().waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('first-customer');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /first-customer/ });
    await row.getByText(/invited, link expires in 2[34] hours/).waitFor();

    const [link = ''] = /http\S+verifyMail\S+/.exec((await mailTo(app.mailDir, email)).text) ?? [];
    expect(link.startsWith(`${base.user}/user/verifyMail?token=`)).toBe(true);
    const invited = await consoles.open('user');
    await invited.page.goto(link);
    await invited.page.getByLabel('New password').fill('correct horse battery');
    await invited.page.getByLabel('Password again').fill('correct horse battery');
    await invited.page.keyboard.press('Enter');
    await invited.page.waitForURL('**/user/login');
    await app.installation.db.account.updateMany({ where: { email }, data: { login2faType: 2 } });
    await invited.page.getByLabel('E-mail').fill(email);
    await invited.page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await invited.page.keyboard.press('Enter');
    await invited.page.waitForURL('**/user/dashboard');

    await page.reload();
    await row.waitFor();
    await expect.poll(() => row.getByText(/invited/).count()).toBe(0);
  },
);

test('an administrator reads the license of an operator: limits, usage, end', { timeout: 180_000 }, async () => {
  const { build, installation } = consoles.app;
  const { client, clientId } = site;
  const endsAt = new Date('2031-05-06T07:08:09Z');
  await installation.db.license.create({ data: { clientId, siteLimit: 1200, layer4: false, endsAt } });
  const admin = await build.admin();
  const { page } = await consoles.openAs(admin, `userManagement/users/${client.id}`);
  const license = page.locator('section').filter({ has: page.getByRole('heading', { name: 'License' }) });
  await expect.poll(() => license.innerText()).toMatch(/Sites\s+2 of 1,200/);
  const text = await license.innerText();
  expect(text).toMatch(/Zones\s+1, unlimited/);
  expect(text).toMatch(/Layer-4 forwards\s+Not included/);
  expect(text).toMatch(/Expires\s+2031\/05\/06/);
  await keepPicture(page, 'admin-license');
  await page.goto('/admin/userManagement/userInformation');
  await page.getByRole('heading', { name: 'Your details' }).waitFor();
  // An administrator has no operator that announces something.
  await expect.poll(() => page.getByRole('heading', { name: 'System message' }).count()).toBe(0);
  // Customers have no license.
  await page.goto(`/admin/userManagement/users/${site.owner.id}`);
  await page.getByText('harbour-lights').first().waitFor();
  await expect.poll(() => license.count()).toBe(0);
  await page.context().close();

  const look = { language: 'zh-TW', width: 390, theme: 'dark' } as const;
  const narrow = await consoles.openAs(admin, `userManagement/users/${client.id}`, look);
  await narrow.page.getByText('2 / 1,200').scrollIntoViewIfNeeded();
  await keepPicture(narrow.page, 'admin-license-phone-dark');
  expect(await faultsOf(narrow)).toEqual([]);
  await narrow.page.context().close();
  await installation.db.license.delete({ where: { clientId } });
});

test('locking a customer lists the sites that go out of service and requires typing the name', async () => {
  const { page } = await consoles.openAs(site.client, `userManagement/users/${site.owner.id}`);
  await page.getByRole('button', { name: 'Actions for harbour-lights' }).click();
  await page.getByRole('menuitem', { name: 'Lock' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('2 sites stop serving visitors immediately').waitFor();
  await dialog.getByText('The account and its sub-account are signed out everywhere').waitFor();
  const lock = dialog.getByRole('button', { name: 'Lock' });
  await expect.poll(() => lock.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('harbour-lights');
  await lock.click();
  await page.locator('main').getByText('Locked').first().waitFor();
  const { db } = consoles.app.installation;
  expect(await db.account.findUnique({ where: { id: site.owner.id } })).toMatchObject({ status: 'lock' });
  await page.getByRole('button', { name: 'Actions for harbour-lights' }).click();
  await page.getByRole('menuitem', { name: 'Set to normal' }).click();
  await page.locator('main').getByText('Normal').first().waitFor();
});

test('sites are assigned to a sub-account and removed, page by page', async () => {
  const { db } = consoles.app.installation;
  const sub = await db.account.findFirstOrThrow({ where: { name: 'night-shift' } });
  const { page } = await consoles.openAs(site.client, `userManagement/users/${sub.id}?tab=otherSites`);
  await page.getByRole('checkbox', { name: 'Select North Harbour' }).check();
  await page.getByRole('button', { name: 'Assign' }).click();
  await page.getByRole('link', { name: /Assigned sites/ }).click();
  await page.getByRole('cell', { name: 'North Harbour', exact: true }).waitFor();
  await expect.poll(() => db.siteAssignment.count({ where: { accountId: sub.id } })).toBe(2);
});

test('accounts show creator, authenticator and level; nodes show their type, with virtual nodes on demand', async () => {
  const { app } = consoles;
  const { db } = app.installation;
  const { owner, client } = site;
  await db.account.update({ where: { id: owner.id }, data: { login2faType: 1, createdById: client.id } });
  const { page } = await consoles.openAs(client, 'userManagement/users?googleVerification=true');
  const row = page.getByRole('row', { name: /harbour-lights/ });
  await row.getByRole('cell', { name: 'On', exact: true }).waitFor();
  await expect.poll(() => page.locator('main tbody tr[data-row]').count()).toBe(1);
  await keepPicture(page, 'accounts-list');
  await page.goto(`/client/userManagement/users/${owner.id}`);
  const facts = page.getByRole('main').locator('dl').first();
  await expect.poll(() => facts.innerText()).toMatch(/Level\s+Root account/);
  await expect.poll(() => facts.innerText()).toMatch(/Authenticator\s+On/);
  await expect.poll(() => facts.innerText()).toMatch(/Sign-in notices\s+On/);
  const creator = await db.account.findUniqueOrThrow({ where: { id: client.id } });
  await expect.poll(() => facts.innerText()).toContain(creator.name);

  const zone = await app.build.zone({ tenant: { client, clientId: client.clientId ?? '' } });
  const group = await db.group.create({ data: { zoneId: zone.id, name: 'forced', forcedAt: new Date() } });
  const virtual = await db.virtualNode.create({
    data: { zoneId: zone.id, name: 'elsewhere', records: { create: { ip: '198.51.100.7' } } },
  });
  await db.groupMember.create({ data: { groupId: group.id, line: 'default', virtualNodeId: virtual.id } });
  await db.groupState.create({
    data: {
      groupId: group.id,
      state: 'ok',
      since: new Date(),
      answered: { default: [{ nodeUID: `v-${virtual.id}`, isAnswered: true, addresses: ['198.51.100.7'] }] },
    },
  });
  await page.goto('/client/nodeManage/nodesList?type=virtual');
  const node = page.getByRole('row', { name: /elsewhere/ });
  await node.getByText('198.51.100.7').waitFor();
  await keepPicture(page, 'nodes-virtual');
  await node.getByRole('link', { name: /elsewhere/ }).click();
  await page.getByRole('heading', { name: 'Virtual nodes' }).waitFor();
  await page.getByRole('row', { name: /elsewhere/ }).waitFor();
  await page.goto(`/client/nodeManage/resolutionTitle?zone=${zone.id}`);
  await page.getByText('Server IP 198.51.100.7').waitFor();
  await keepPicture(page, 'group-server-ip');
  await page.context().close();

  const own = { language: 'zh-TW', width: 390, theme: 'dark' } as const;
  const { page: narrow } = await consoles.openAs(client, 'userManagement/userInformation', own);
  await narrow.getByText('驗證器').waitFor();
  await narrow.getByText('建立者').waitFor({ state: 'detached' });
  await keepPicture(narrow, 'own-information-dark');
  await narrow.context().close();
});
