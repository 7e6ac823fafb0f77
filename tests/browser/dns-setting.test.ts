// An operator's first minutes: DNS comes before everything else, and its screens afterwards.
import { startDnsReconciler } from '@edgeloom/api/jobs/reconcile-dns.job.ts';
import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { wantSets } from '@edgeloom/api/dns-state/want-sets.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityFaults } from '../support/accessibility.ts';
import { unique } from '../support/build.ts';
import { startConsoles, type Consoles } from '../support/consoles.ts';
import { eventually } from '../support/eventually.ts';
import { keepPicture } from '../support/pictures.ts';
import { startPowerDns, type PowerDns } from '../support/power-dns.ts';

const zone = `${unique('zone')}.example.com`;
let dns: PowerDns;
let consoles: Consoles;
let reconciler: { stop: () => Promise<void> };

beforeAll(async () => {
  dns = await startPowerDns([zone]);
  consoles = await startConsoles({ CNAME_SUFFIX: '', ORIGIN_ALLOW: '127.0.0.0/8' });
  reconciler = startDnsReconciler(consoles.app.installation, console);
}, 120_000);
afterAll(async () => {
  await reconciler.stop();
  await consoles.stop();
  await dns.stop();
});

test('a root account without DNS sets it up before anything else', { timeout: 120_000 }, async () => {
  const { client } = await consoles.app.build.client();
  const { page } = await consoles.openAs(client, 'nodeManage/nodesList', {
    language: 'en',
    // The address is tried and refused first.
    expects: /status of 502/,
  });
  await page.waitForURL('**/client/DNSSetting');
  await keepPicture(page, 'dns-first-provider');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Address of the API').fill(dns.url);
  await page.getByLabel('API key').fill('another key');
  await page.getByLabel('Root domain').fill(zone);
  await page.getByRole('button', { name: 'Test and go on' }).click();
  await page.getByText(/401/).first().waitFor();
  await page.getByLabel('API key').fill(dns.apiKey);
  await page.getByRole('button', { name: 'Test and go on' }).click();
  await page.getByLabel('CNAME suffix').waitFor();
  expect(await page.getByLabel('CNAME suffix').inputValue()).toBe(`cdn.${zone}`);
  await page.getByLabel('CNAME suffix').fill('elsewhere.example.net');
  await page.getByText(`A name in ${zone}, in lower case`).waitFor();
  await page.getByLabel('CNAME suffix').fill(`edge.${zone}`);
  await keepPicture(page, 'dns-first-names');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The provider answers').waitFor();
  await page.getByRole('button', { name: 'To the dashboard' }).click();
  await page.waitForURL('**/client/dashboard');
  await page.getByRole('link', { name: 'Nodes' }).first().waitFor();
  await page.context().close();
});

test.each([
  { language: 'zh-TW', width: 1440 },
  { language: 'en', width: 390 },
] as const)(
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
      expect(await accessibilityFaults(page), address).toEqual([]);
    }
    expect(screen.complaints()).toEqual([]);
    await page.context().close();
  },
);
