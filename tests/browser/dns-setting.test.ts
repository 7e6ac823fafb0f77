// DNS setup after the first sign-in, and the DNS screens.
import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startDnsReconciler, wantSets } from '../support/services/background-work.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { unique } from '../support/builders/build.ts';
import { chooseByKeyboard } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import { longTest } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { startPowerDns, type PowerDns } from '../support/services/power-dns.ts';

const zone = `${unique('zone')}.example.com`;
let dns: PowerDns;
let consoles: Consoles;
let reconciler: { stop: () => Promise<void> };

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dns = await startPowerDns([zone]);
  onEnd(() => dns.stop());
  consoles = await startConsoles({ CNAME_SUFFIX: '', ORIGIN_ALLOW: '127.0.0.0/8' });
  onEnd(() => consoles.stop());
  reconciler = startDnsReconciler(consoles.app.installation, console);
  onEnd(() => reconciler.stop());
}, 120_000);
afterAll(stopAll);

async function signIn(page: Page, email: string) {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.keyboard.press('Enter');
}

test('DNS setup opens once after sign-in and can be postponed', async () => {
  const { email } = await passwordAccounts(consoles.app).createAccount();
  const look = { width: 390, language: 'zh-TW', theme: 'dark' } as const;
  // The dashboard may still load when the cookies go.
  const { page } = await consoles.open('client', { ...look, expectedErrors: /status of 401/ });
  const asked = async () => {
    await page.getByRole('textbox', { name: '電子郵件' }).fill(email);
    await page.getByLabel('密碼', { exact: true }).fill(password);
    await page.keyboard.press('Enter');
  };
  await page.goto('/client/nodeManage/nodesList?sort=-name');
  await asked();
  await page.waitForURL('**/client/DNSSetting?*');
  await page.getByText('可以稍後再設定').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'dns-offered');
  // By keyboard, the link's page opens.
  await page.getByRole('link', { name: '稍後設定' }).press('Enter');
  await page.waitForURL('**/client/nodeManage/nodesList?sort=-name');
  const banner = page.getByRole('region', { name: '主控台通知' });
  await banner.getByText('尚未設定 DNS').waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  await keepPicture(page, 'dns-banner');
  for (const address of ['dashboard', 'nodeManage/sitesList', 'systemManagement/dnsSetting']) {
    await page.goto(`/client/${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/client/${address}`);
  }
  await banner.getByRole('link', { name: '設定 DNS' }).click();
  await page.waitForURL('**/client/DNSSetting');
  await page.getByRole('link', { name: '稍後設定' }).click();
  await page.waitForURL('**/client/dashboard');

  // The next sign-in in this browser opens the page of the link.
  await page.context().clearCookies();
  await page.goto('/client/nodeManage/zonesList');
  await asked();
  await page.waitForURL('**/client/nodeManage/zonesList');
  await banner.getByRole('button', { name: '隱藏' }).click();
  await expect.poll(() => banner.getByText('尚未設定 DNS').count()).toBe(0);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => banner.getByText('尚未設定 DNS').count()).toBe(0);
  await page.context().close();
});

test('a root account sets DNS up after its first sign-in', { timeout: 120_000 }, async () => {
  const { email } = await passwordAccounts(consoles.app).createAccount();
  // The address is rejected at first.
  const { page } = await consoles.open('client', { expectedErrors: /status of 502/ });
  await page.goto('/client/login');
  await signIn(page, email);
  await page.getByRole('heading', { level: 1, name: 'Set up DNS' }).waitFor();
  await keepPicture(page, 'dns-first-provider');
  // By keyboard: the button disappears with its step, and focus moves to the next step.
  await page.getByRole('button', { name: 'Next' }).press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('url');
  // A browser would fill in the operator's own password, which we would send to the provider.
  await expect.poll(() => page.getByLabel('API key').getAttribute('autocomplete')).toBe('new-password');
  await page.getByLabel('API address').fill('http://127.0.0.1:9');
  await page.getByLabel('API key').fill('another key');
  await page.getByLabel('Root domain').fill(zone);
  await page.getByRole('button', { name: 'Test and continue' }).click();
  await page.getByText('127.0.0.1:9 does not respond').waitFor();
  await page.getByLabel('API address').fill(dns.url);
  await page.getByRole('button', { name: 'Test and continue' }).click();
  await page.getByText(/401/).first().waitFor();
  await page.getByLabel('API key').fill(dns.apiKey);
  await page.getByRole('button', { name: 'Test and continue' }).click();
  await page.getByLabel('CNAME suffix').waitFor();
  // A reload keeps the known values, but not the key.
  await page.waitForURL(/root=/);
  await page.reload();
  await expect.poll(() => page.getByLabel('Root domain').inputValue()).toBe(zone);
  await expect.poll(() => page.getByLabel('API key').inputValue()).toBe('');
  await page.getByLabel('API address').fill(dns.url);
  await page.getByLabel('API key').fill(dns.apiKey);
  await page.getByRole('button', { name: 'Test and continue' }).click();
  await page.getByLabel('CNAME suffix').waitFor();
  await expect.poll(() => page.getByLabel('CNAME suffix').inputValue()).toBe(`cdn.${zone}`);
  await page.getByLabel('CNAME suffix').fill('');
  await expect.poll(() => page.getByLabel('CNAME suffix').inputValue()).toBe('');
  await page.getByLabel('CNAME suffix').fill('elsewhere.example.net');
  await page.getByText(`Enter a name in ${zone}`).waitFor();
  await page.getByLabel('CNAME suffix').fill(`edge.${zone}`);
  await keepPicture(page, 'dns-first-names');
  await page.getByLabel('CNAME suffix').press('Enter');
  await page.getByText('The provider responds').waitFor();
  await page.getByRole('button', { name: 'Show DNS account' }).click();
  await page.waitForURL('**/client/systemManagement/dnsSetting');
  await page.locator('tbody tr[data-new]:focus').getByText(zone, { exact: true }).waitFor();
  await keepPicture(page, 'dns-first-account');
  await page.getByRole('link', { name: 'Dashboard' }).first().click();
  await page.waitForURL('**/client/dashboard');
  await page.getByRole('link', { name: 'Nodes' }).first().waitFor();
  await expect.poll(() => page.getByText('DNS is not set up').count()).toBe(0);
  await page.context().close();
});

test('foreign records are taken over on request, and repaired records are listed', { timeout: 120_000 }, async () => {
  const { app } = consoles;
  const { client, clientId } = await app.build.client();
  const { call } = app.as(client);
  const suffix = `${unique('cdn')}.${zone}`;
  const credentials = { url: dns.url, apiKey: dns.apiKey };
  await call(dnsSetting.create, { body: { dnsType: 'powerDNS', credentials, rootDomain: zone, cname: suffix } });
  const byHand = (name: string, changetype: 'REPLACE' | 'DELETE') => {
    const records = changetype === 'DELETE' ? [] : [{ content: '192.0.2.50', disabled: false }];
    const set = { name: `${name}.`, type: 'A', ttl: 60, changetype, records };
    return dns.call(`/zones/${zone}.`, 'PATCH', { rrsets: [set] });
  };
  const want = (label: string, value: string) =>
    wantSets(app.installation.pool, { clientId, label }, [
      { line: 'default', type: 'A', values: [{ value, weight: 1 }], ttlSeconds: 60 },
    ]);
  const [bad, theirs, gone] = [`g-bad.${suffix}`, `g-theirs.${suffix}`, `g-gone.${suffix}`];
  await byHand(theirs, 'REPLACE');
  await want('g-bad', 'no address');
  await want('g-theirs', '192.0.2.1');
  await want('g-gone', '192.0.2.2');
  const waiting = async () => (await call(dnsSetting.unprocessed, {})).data.filter(({ fault }) => fault !== null);
  await eventually(async () => expect(await waiting()).toHaveLength(2));

  const { page } = await consoles.openAs(client, 'systemManagement/dnsSetting?tab=unprocessed', { language: 'en' });
  const menuOf = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('button').last();
  await menuOf(bad).click();
  await page.getByRole('menuitem', { name: 'Retry now' }).waitFor();
  await expect.poll(() => page.getByRole('menuitem', { name: 'Take over' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  for (const name of [bad, theirs]) await page.getByRole('row').filter({ hasText: name }).getByRole('checkbox').click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Take over' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 skipped: There is no other record to take over').waitFor();
  await dialog.getByRole('button', { name: 'Take over' }).click();
  await eventually(async () => expect((await waiting()).map(({ name }) => name)).toEqual([bad]));

  // A name that was deleted at the provider is restored and listed.
  await byHand(gone, 'DELETE');
  const { data } = await call(dnsSetting.list, {});
  await call(dnsSetting.compare, { body: { ids: data.map(({ id }) => id) } });
  await eventually(async () => expect((await call(dnsSetting.list, {})).data[0]?.drifted).toBe(1));
  await page.goto('/client/systemManagement/dnsSetting');
  await menuOf(zone).click();
  await page.getByRole('menuitem', { name: 'Show repaired names' }).click();
  await page.getByRole('dialog').getByText(gone, { exact: true }).waitFor();
  // The menu item that opened the dialog is gone, so focus returns to the menu button.
  await page.keyboard.press('Escape');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  await expect.poll(focused).toBe(`Actions for ${zone}`);
  await page.keyboard.press('Enter');
  await chooseByKeyboard(page, 'Remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).press('Enter');
  await expect.poll(focused).toBe(`Actions for ${zone}`);
  await page.context().close();
});

test('a suffix outside of all root domains shows an error at its field', { timeout: 120_000 }, async () => {
  const { client } = await consoles.app.build.client();
  const credentials = { url: dns.url, apiKey: dns.apiKey };
  const body = { dnsType: 'powerDNS' as const, credentials, rootDomain: zone };
  await consoles.app.as(client).call(dnsSetting.create, { body });
  const look = { language: 'en' as const, expectedErrors: /status of 400/ };
  const { page } = await consoles.openAs(client, 'systemManagement/cname', look);
  await page.getByRole('button', { name: 'Add CNAME suffix' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Suffix').fill('cdn.elsewhere.example');
  await form.getByRole('button', { name: 'Add CNAME suffix' }).click();
  await form.getByText('Not within the root domain of any DNS account').waitFor();
  await expect.poll(() => form.getByLabel('Suffix').getAttribute('aria-invalid')).toBe('true');
  await page.context().close();
});

test(
  'a missing secret has focus after saving, is marked as invalid, and placeholders stay grey',
  { timeout: 120_000 },
  async () => {
    const site = await consoles.app.build.site();
    const { page } = await consoles.openAs(site.owner, `sitesManagement/sitesSetting/${site.id}/x?view=dns`);
    await page.getByRole('button', { name: 'Add DNS account' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('API address').fill('https://ns1.example.com:8081');
    const zones = form.getByLabel('Zones');
    const placeholder = () => zones.evaluate((field) => getComputedStyle(field, '::placeholder').color);
    const grey = await placeholder();
    await form.getByRole('button', { name: 'Add DNS account' }).click();
    await form.getByText('Required').first().waitFor();
    await expect.poll(() => zones.getAttribute('aria-invalid')).toBe('true');
    expect(await placeholder()).toBe(grey);
    const key = form.getByLabel('API key');
    await expect.poll(() => key.evaluate((field) => field === document.activeElement)).toBe(true);
    await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true');
    await keepPicture(page, 'site-dns-missing');
    await page.context().close();
  },
);

const looks = [
  { language: 'zh-TW', width: 1440 },
  { language: 'en', width: 390 },
] as const;
longTest.each(looks)(
  'accounts, what waits, and suffixes are whole in $language at $width px',
  { timeout: 120_000 },
  async (look) => {
    const { app } = consoles;
    const { client, clientId } = await app.build.client();
    const credentials = { url: dns.url, apiKey: dns.apiKey };
    const suffix = `${unique('cdn')}.${zone}`;
    const body = { dnsType: 'powerDNS' as const, credentials, rootDomain: zone, cname: suffix };
    await app.as(client).call(dnsSetting.create, { body });
    const values = [{ value: 'no address', weight: 1 }];
    const set = { line: 'default', type: 'A' as const, values, ttlSeconds: 60 };
    await wantSets(app.installation.pool, { clientId, label: 'g-bad' }, [set]);
    await eventually(async () => {
      const { data } = await app.as(client).call(dnsSetting.unprocessed, {});
      expect(data).toMatchObject([{ fault: 'no address is no A value' }]);
    });
    const screen = await consoles.openAs(client, 'systemManagement/dnsSetting', look);
    const { page } = screen;
    const places = [
      ['systemManagement/dnsSetting', zone],
      ['systemManagement/dnsSetting?tab=unprocessed', `g-bad.${suffix}`],
      ['systemManagement/cname', suffix],
      ['DNSSetting', 'PowerDNS'],
    ] as const;
    for (const [i, [address, text]] of places.entries()) {
      await page.goto(`/client/${address}`);
      if (text !== 'PowerDNS') await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor();
      await page.locator('main h1').waitFor();
      await keepPicture(page, `dns-${i}-${look.language}-${look.width}`);
      expect(await accessibilityViolations(page), address).toEqual([]);
    }
    expect(screen.browserErrors()).toEqual([]);
    await page.context().close();
  },
);
