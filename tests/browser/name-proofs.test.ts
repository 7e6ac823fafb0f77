// A name that requires verification, from adding it to enabling it, with a real DNS server.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { nameServerHost, startNameServer } from '../support/fakes/dns-server.ts';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { unique } from '../support/builders/build.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { longTest } from '../support/builders/long-run.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

type NameServer = Awaited<ReturnType<typeof startNameServer>>;
let consoles: Consoles;
let resolver: NameServer;
let authority: NameServer;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  resolver = await startNameServer();
  onEnd(() => resolver.stop());
  authority = await startNameServer(undefined, { host: nameServerHost(), port: 53 });
  onEnd(() => authority.stop());
  resolver.records.set('ns.provider.test', { a: [authority.address.replace(/:\d+$/, '')] });
  consoles = await startConsoles({ DNS_RESOLVERS: resolver.address, ORIGIN_ALLOW: '127.0.0.0/8' });
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

/** A customer's name under another customer's wildcard. */
async function waitingName() {
  const { as, build } = consoles.app;
  const zone = `${unique('zone')}.example`;
  resolver.records.set(zone, { ns: ['ns.provider.test'] });
  const [owner, site] = [await build.site(), await build.site()];
  const add = (to: typeof site, name: string) =>
    as(to.owner).call(domains.createSimple, {
      params: to.params,
      body: { names: [name], upstreams: [{ address: '192.0.2.10' }] },
    });
  const wildcard = await add(owner, `*.${zone}`);
  const name = `login.${zone}`;
  await add(site, name);
  const { call } = as(owner.owner);
  const { params } = owner;
  return {
    site,
    async removeWildcard() {
      await call(domains.status, { params, body: { ids: wildcard.ids, enabled: false } });
      await call(domains.remove, { params, body: { ids: wildcard.ids } });
    },
    name,
    record: `_edgeloom-challenge.${name}`,
    address: `sitesManagement/sitesSetting/${site.id}/${site.name}`,
  };
}

test('the record is copied from the list, checked on demand, and the domain is enabled', async () => {
  const { site, name, record, address } = await waitingName();
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains`, { language: 'en' });
  await page.getByRole('button', { name: `Show the TXT record for ${name}` }).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText(record, { exact: true }).waitFor();
  await drawer.getByRole('button', { name: 'Copy Value' }).waitFor();
  await drawer.getByText('Not checked yet').waitFor();
  authority.records.set(record, { txt: ['something else'] });
  await drawer.getByRole('button', { name: 'Check again' }).click();
  await drawer.getByText('The name servers have other TXT records there:').waitFor();
  await drawer.getByText('something else').waitFor();
  const value = await drawer.locator('dd').nth(2).innerText();
  authority.records.set(record, { txt: [value.trim()] });
  await drawer.getByRole('button', { name: 'Check again' }).click();
  await drawer.getByText('Verified').waitFor();
  await drawer.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('1 domain turned on').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('switch', { name: `${name} is on`, checked: true }).waitFor();
  const query = { domainName: name };
  const found = await consoles.app.as(site.owner).call(domains.byName, { params: site.params, query });
  expect(found).toMatchObject({ status: 1, proof: null });
});

test('a name without any overlap left can be enabled again', async () => {
  const { site, name, address, removeWildcard } = await waitingName();
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains`, { language: 'en' });
  await page.getByRole('button', { name: `Show the TXT record for ${name}` }).waitFor();
  await removeWildcard();
  await page.reload();
  await page.getByRole('switch', { name: `${name} is on`, checked: false }).waitFor();
  await page.goto(`/${site.owner.kind}/${address}/${name}?view=domains`);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('1 domain turned on').waitFor();
  const query = { domainName: name };
  const found = await consoles.app.as(site.owner).call(domains.byName, { params: site.params, query });
  expect(found).toMatchObject({ status: 1, proof: null });
});

const looks = [
  { language: 'en', width: 1280, theme: 'light' },
  { language: 'zh-TW', width: 1280, theme: 'dark' },
  { language: 'zh-CN', width: 375, theme: 'light' },
] as const;
longTest.each(looks)('the domain page has no violations: $language, $width px, $theme', async (look) => {
  const { site, name, record, address } = await waitingName();
  const { page } = await consoles.openAs(site.owner, `${address}/${name}?view=domains`, look);
  await page.getByText(record, { exact: true }).waitFor();
  await keepPicture(page, `name-proof-${look.language}-${look.width}-${look.theme}`);
  await expect.poll(() => horizontalOverflow(page)).toBeLessThanOrEqual(0);
  expect(await accessibilityViolations(page)).toEqual([]);
});

test('an operator requires verification of every name on its settings page', async () => {
  const { build, as } = consoles.app;
  const site = await build.site();
  const { page } = await consoles.openAs(site.client, 'systemManagement/systemSetting', { language: 'en' });
  const part = page.getByRole('region', { name: 'Domain verification' });
  await part.getByLabel('Verify every new name').click();
  await part.getByRole('button', { name: 'Save' }).click();
  await keepPicture(page, 'name-proof-setting');
  const add = () =>
    as(site.owner).call(domains.createSimple, {
      params: site.params,
      body: { names: [`${unique('new')}.example`], upstreams: [{ address: '192.0.2.10' }] },
    });
  await expect.poll(async () => (await add()).waiting).toHaveLength(1);
});
