// Domains in the customer console, in bulk and one by one.
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { longTest } from '../support/builders/long-run.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
let origin: Origin;
let dns: Awaited<ReturnType<typeof startNameServer>>;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dns = await startNameServer();
  onEnd(() => dns.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
  consoles = await startConsoles({
    CNAME_SUFFIX: 'cdn.example.net',
    DNS_RESOLVERS: dns.address,
    ORIGIN_ALLOW: '127.0.0.0/8',
  });
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

async function threeDomains() {
  const site = await consoles.app.build.site();
  const { call } = consoles.app.as(site.owner);
  const names = ['one', 'two', 'three'].map((label) => `${label}.${site.id.slice(-8)}.example.com`);
  const upstreams = [{ address: '192.0.2.10' }];
  await call(domains.createSimple, { params: site.params, body: { names, upstreams } });
  const address = `sitesManagement/sitesSetting/${site.id}/${site.name}`;
  const rows = async () => (await call(domains.list, { params: site.params, query: { sortBy: 'name' } })).data;
  return { site, call, names, address, rows };
}

test('selected domains get an HTTPS redirect, tags and origins from the bulk bar; enabled domains are not removed', async () => {
  const { site, names, address, rows } = await threeDomains();
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains`, { language: 'en' });
  const bar = page.getByRole('toolbar');
  const choose = async (count: number) => {
    for (const name of names.slice(0, count))
      await page.getByRole('row').filter({ hasText: name }).getByRole('checkbox').first().click();
  };
  await page
    .getByText(names[0] ?? '')
    .first()
    .waitFor();
  await choose(2);
  await bar.getByRole('button', { name: 'Force HTTPS' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Force HTTPS' }).click();
  await page.getByText('Force HTTPS turned on for 2 domains').waitFor();
  expect((await rows()).filter(({ forceSSL }) => forceSSL)).toHaveLength(2);

  await choose(2);
  await bar.getByRole('button', { name: 'Tags' }).click();
  const tags = page.getByRole('dialog').getByLabel('Tags');
  await tags.fill('shop');
  await tags.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect((await rows()).filter((row) => row.tags.includes('shop'))).toHaveLength(2));

  await choose(3);
  await bar.getByRole('button', { name: 'Replace origins' }).click();
  await page.getByRole('dialog').getByLabel('Address 1').fill('192.0.2.77');
  await page.getByRole('dialog').getByRole('button', { name: 'Replace in 3 domains' }).click();
  await eventually(async () =>
    expect((await rows()).map(({ upstreams }) => upstreams[0]?.address)).toEqual(Array(3).fill('192.0.2.77')),
  );

  await page.getByRole('button', { name: 'Replace an address' }).first().click();
  await page.getByRole('dialog').getByLabel('Current address').fill('192.0.2.77');
  await page.getByRole('dialog').getByLabel('New address').fill('192.0.2.78');
  await page.getByRole('dialog').getByRole('button', { name: 'Replace', exact: true }).click();
  await eventually(async () =>
    expect((await rows()).map(({ upstreams }) => upstreams[0]?.address)).toEqual(Array(3).fill('192.0.2.78')),
  );

  // Enabled domains cannot be removed.
  await choose(1);
  await bar.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Turn off enabled entries first.').first().waitFor();
  expect(await rows()).toHaveLength(3);
}, 240_000);

test('a domain of any site is found in the list of all domains and opened', async () => {
  const { site, names } = await threeDomains();
  const { page } = await consoles.openAs(site.client, 'nodeManage/domains', { language: 'en' });
  const [first = ''] = names;
  const menu = page.getByRole('row').filter({ hasText: first }).getByRole('button').last();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Check CNAME' }).click();
  const found = page.getByRole('dialog');
  await found.getByText(/\.cdn\.example\.net$/).waitFor();
  await found.getByText('no CNAME record yet').waitFor();
  await page.keyboard.press('Escape');
  await found.waitFor({ state: 'detached' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Open domain' }).click();
  await page.getByRole('heading', { level: 1, name: first }).waitFor();
  await expect
    .poll(() => new URL(page.url()).pathname)
    .toBe(`/client/nodeManage/sitesSetting/${site.id}/${site.name}/${first}`);
  await page.context().close();
}, 240_000);

test('pasted names are corrected line by line, get a tested origin, and are created', async () => {
  const { site, call, names, address, rows } = await threeDomains();
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains`, { language: 'en' });
  await page.getByRole('link', { name: 'Add domains' }).click();
  const end = site.id.slice(-8);
  const next = page.getByRole('button', { name: 'Next' });
  await page
    .getByRole('textbox', { name: 'Domains', exact: true })
    .fill(
      `https://new.${end}.example.com/path\nNEW2.${end}.example.com\n${names[0]}\n例え.${end}.jp\nno name\n*.${end}.tw`,
    );
  await page.getByText('Already on this site').waitFor();
  await next.click();
  await page.getByText('3 lines cannot be added').waitFor();
  await keepPicture(page, 'add-domains-names');
  await page.getByText('Only errors').click();
  await page.getByRole('button', { name: 'Remove 3 invalid lines' }).click();
  await page.getByText('4 ready').waitFor();
  await next.click();

  // Regression: the first choice had focus, beside the chosen one.
  await expect.poll(() => page.locator('input[type="radio"]:focus:checked').count()).toBe(1);
  await page.getByLabel('Address 1').fill('127.0.0.1');
  await page.getByLabel('Port 1').fill(String(origin.port));
  await page.getByText(`127.0.0.1:${origin.port} responds over HTTP, status 200`).waitFor();
  await keepPicture(page, 'add-domains-origin');
  await next.click();
  // Wildcards need DNS-01, and this site has no DNS account.
  await page.getByText('Not for 1 name').waitFor();
  await keepPicture(page, 'add-domains-certificate');
  await page.getByLabel('None for now').click();
  await next.click();
  // Going back keeps the input.
  await page.getByRole('button', { name: /^Origin/ }).click();
  await expect.poll(() => page.getByLabel('Port 1').inputValue()).toBe(String(origin.port));
  await next.click();
  await next.click();
  await keepPicture(page, 'add-domains-review');
  await page.getByRole('button', { name: 'Add 4 domains' }).click();
  await page.getByText('no CNAME record yet').first().waitFor();
  const offer = page.getByRole('region', { name: 'Cache static files for 30 days' });
  await offer.waitFor();
  await keepPicture(page, 'add-domains-done');
  await offer.getByRole('button', { name: 'Add' }).click();
  await page.getByText('Cache rule published').waitFor();
  await offer.getByRole('link', { name: 'Open cache rules' }).waitFor();
  expect((await call(cacheRules.list, { params: site.params })).data).toMatchObject([
    { type: 'fileType', cacheTime: 30 * 86_400, enabled: true },
  ]);
  const made = (await rows()).filter(({ name }) => !names.includes(name));
  expect(made.map(({ name }) => name)).toEqual([
    `*.${end}.tw`,
    `new.${end}.example.com`,
    `new2.${end}.example.com`,
    `xn--r8jz45g.${end}.jp`,
  ]);
  expect(new Set(made.map(({ scheme, upstreams: [first] }) => `${scheme} ${first?.port}`))).toEqual(
    new Set([`http ${origin.port}`]),
  );
  // The list shows where the new rows are.
  await page.getByRole('link', { name: 'Go to domains' }).click();
  await page.locator('tbody tr[data-new]:focus').waitFor();
  await expect.poll(() => page.locator('tbody tr[data-new]').count()).toBe(4);
  await keepPicture(page, 'add-domains-in-list');
}, 240_000);

test('a certificate is found for names beyond the five thousandth', async () => {
  const { site, address } = await threeDomains();
  const end = site.id.slice(-8);
  await consoles.app.build.certificate(site, [`*.last-${end}.example.com`], { name: 'last' });
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains&tab=new`, { language: 'en' });
  const many = Array.from({ length: 5000 }, (_, i) => `n${i}.${end}.example.com`);
  const names = [...many, `shop.last-${end}.example.com`];
  const file = { name: 'names.txt', mimeType: 'text/plain', buffer: Buffer.from(names.join('\n')) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByText('5,001 ready').waitFor();
  const next = page.getByRole('button', { name: 'Next' });
  await next.click();
  await page.getByLabel('Address 1').fill('192.0.2.10');
  await next.click();
  await page.getByLabel('A certificate of this site', { exact: true }).first().click();
  const choice = page.getByRole('combobox', { name: 'A certificate of this site' });
  await expect.poll(() => choice.inputValue()).toBe('last: 1 of 5001');
  await page.context().close();
}, 240_000);

test('the palette shows more domains of a customer in place, by name and by tag', async () => {
  const site = await consoles.app.build.site();
  const end = site.id.slice(-8);
  await consoles.app.installation.db.domain.createMany({
    data: Array.from({ length: 70 }, (_, i) => ({
      siteId: site.id,
      name: `n${String(i).padStart(2, '0')}.${end}.example.com`,
      enabled: false,
      tags: [`tag-${end}`],
    })),
  });
  const { page } = await consoles.openAs(site.owner, 'sitesManagement', { language: 'en' });
  const found = page.getByRole('option', { name: `.${end}.example.com` });
  const more = page.getByRole('option', { name: 'Show more Domains' });
  for (const text of [end, `#tag-${end}`]) {
    await page.locator('main h1').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type(text);
    await page.getByText('Domains (first 6)').waitFor();
    await more.click();
    await page.getByText('Domains (first 60)').waitFor();
    await page.locator('#palette-input:focus').waitFor();
    // The rows go on below the selected one.
    await expect
      .poll(() => page.locator('[role="option"][aria-selected="true"]').textContent())
      .toContain(`n05.${end}.example.com`);
    await keepPicture(page, 'palette-more');
    await more.click();
    await expect.poll(() => more.count()).toBe(0);
    await expect.poll(() => found.filter({ hasText: /^n\d/ }).count()).toBe(70);
    await page.keyboard.press('Escape');
    await page.locator('#palette-input').waitFor({ state: 'detached' });
  }
  await page.context().close();
}, 240_000);

test('thousands of names are virtualized and created in batches of a thousand', async () => {
  const { site, names, address, call } = await threeDomains();
  const { page } = await consoles.openAs(site.owner, `${address}?view=domains&tab=new`, {
    language: 'en',
    expectedErrors: /status of 409/,
  });
  const many = Array.from({ length: 1010 }, (_, i) => `n${i}.${site.id.slice(-8)}.example.com`);
  const next = page.getByRole('button', { name: 'Next' });
  const late = `late.${site.id.slice(-8)}.example.com`;
  await page.getByRole('textbox', { name: 'Domains', exact: true }).fill([...many, names[0], late].join('\n'));
  // Regression: only the first thousand names were validated while typing.
  const remove = page.getByRole('button', { name: 'Remove 1 invalid line' });
  await remove.waitFor();
  const validated = page.waitForResponse((response) => response.request().postData()?.includes(late) === true);
  await remove.click();
  await page.getByText('1,011 ready').waitFor();
  await validated;
  // The server rejects the last name only when its batch of a thousand is sent.
  await call(domains.createSimple, {
    params: site.params,
    body: { names: [late], upstreams: [{ address: '192.0.2.10' }] },
  });
  await expect
    .poll(() => page.getByRole('list', { name: 'Results by line' }).getByRole('listitem').count())
    .toBeLessThan(60);
  await next.click();
  await page.getByLabel('Address 1').fill('192.0.2.10');
  await next.click();
  await page.getByLabel('None for now').click();
  await next.click();
  await page.getByRole('button', { name: 'Add 1011 domains' }).click();
  await page.getByText('1000 domains added').waitFor();
  await page.getByText('1 to fix').waitFor();
  await page.getByRole('button', { name: 'Remove 1 invalid line' }).click();
  for (let step = 0; step < 3; step += 1) await next.click();
  await page.getByRole('button', { name: 'Add 10 domains' }).click();
  await page.getByText('10 domains added').waitFor();
  const { total } = await call(domains.list, { params: site.params, query: { keywords: site.id.slice(-8) } });
  expect(total).toBe(1014);
}, 300_000);

test('a new domain waits for its CNAME, shows the next check, and turns green automatically', async () => {
  const { site, call, names, address, rows } = await threeDomains();
  const { cname } = await call(sites.get, { params: site.params });
  const [name = ''] = names;
  const { page } = await consoles.openAs(site.owner, `${address}/${name}`, { language: 'en' });
  await page.getByRole('button', { name: 'Check CNAME' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(String(cname)).waitFor();
  await dialog.getByText('no CNAME record yet').waitFor();
  await dialog.getByRole('img', { name: 'unknown' }).waitFor();
  await page.keyboard.press('Escape');
  // After the first failed check the page shows the time of the next one.
  await page.getByText(/^Waiting for CNAME · next check at \d\d:\d\d$/).waitFor();
  await keepPicture(page, 'domain-waits');
  await page.goto(`/user/${address}?view=domains`);
  const row = page.getByRole('row').filter({ hasText: name });
  await row.getByText('Waiting', { exact: true }).waitFor();
  await row.getByText(/^next check at \d\d:\d\d$/).waitFor();
  await expect.poll(() => page.locator('main [data-tone="bad"]').count()).toBe(0);
  await keepPicture(page, 'domains-wait');
  await page.goto(`/user/${address}`);
  await page.getByText('3 waiting for CNAME').click();
  await page.waitForURL(/cnameStatuses=pendingCheck/);
  await page.getByRole('row').filter({ hasText: name }).waitFor();
  await page.goto(`/user/${address}/${name}`);
  await page.getByRole('button', { name: 'Check CNAME' }).click();
  dns.records.set(name, { alias: String(cname) });
  await dialog.getByText(`points to ${cname}`).waitFor({ timeout: 180_000 });
  await page.keyboard.press('Escape');
  await page.getByText('CNAME active').waitFor();
  expect((await rows()).filter(({ cnameStatus }) => cnameStatus === 'active').map((one) => one.name)).toEqual([name]);
}, 240_000);

longTest(
  'the CNAME check of more than a hundred domains has pages',
  async () => {
    const site = await consoles.app.build.site();
    const rows = Array.from({ length: 103 }, (_, i) => ({ name: `n${i}.${site.id.slice(-8)}.example.com` }));
    await consoles.app.installation.db.domain.createMany({
      data: rows.map(({ name }) => ({ siteId: site.id, name, enabled: false })),
    });
    const list = `sitesManagement/sitesSetting/${site.id}/x?view=domains&pageSize=200`;
    const { page } = await consoles.openAs(site.owner, list, { language: 'en' });
    await page.locator('thead').getByRole('checkbox').click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Check CNAME' }).click();
    const dialog = page.getByRole('dialog');
    const results = dialog.getByRole('region', { name: 'Check CNAME' });
    await expect.poll(() => results.getByText('no CNAME record yet').count(), { timeout: 60_000 }).toBe(100);
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await expect.poll(() => results.getByText('no CNAME record yet').count(), { timeout: 60_000 }).toBe(3);
    await keepPicture(page, 'cname-pages');
    await page.context().close();
  },
  240_000,
);

test('HSTS is set step by step, and its preload option requires complete settings', async () => {
  const { site, names, address, rows } = await threeDomains();
  const { page } = await consoles.openAs(site.owner, `${address}/${names[0]}?tab=https`, { language: 'en' });
  await page.getByLabel('Send HSTS').click();
  await page.getByLabel('Allow preload lists').click();
  await page.getByRole('button', { name: 'Save & publish' }).click();
  await page.getByText('Domain updated').waitFor();
  const stored = async () => (await rows()).find((row) => row.name === names[0])?.hsts;
  expect(await stored()).toEqual({ maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: true });
  await page.getByLabel('Include subdomains').click();
  await page.getByRole('button', { name: 'Save & publish' }).click();
  await page.getByText('Preload lists require all subdomains').waitFor();
  expect(await stored()).toMatchObject({ includeSubdomains: true });
}, 240_000);

test('the domain page edits tags and certificate, and tests the origins', async () => {
  const { site, names, address, rows } = await threeDomains();
  const [name = ''] = names;
  await consoles.app.build.certificate(site, [name], { name: 'bought in spring' });
  const now = async () => (await rows()).find((row) => row.name === name);
  const { id: node } = await consoles.app.build.node({ zone: site.zone });
  const line = { domain: (await now())?.id ?? '', upstream: '192.0.2.10:80' };
  const lines = [200, 200, 200, 502].map((status) => logLine(site.id, { ...line, status }));
  await addLogs(consoles.app.installation.pool, node, lines);
  const { page } = await consoles.openAs(site.owner, `${address}/${name}`, { language: 'en' });
  const dialog = page.getByRole('dialog');
  await page.getByRole('columnheader', { name: '5xx, 24 h' }).waitFor();
  await page.getByRole('cell', { name: '25.00%' }).waitFor();

  await page.getByRole('button', { name: 'Edit tags' }).click();
  await dialog.getByLabel('Tags').fill('spring');
  await dialog.getByLabel('Tags').press('Enter');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect((await now())?.tags).toEqual(['spring']));

  await page.getByLabel('Address 1').fill('127.0.0.1');
  await page.getByLabel('Port 1').fill(String(origin.port));
  await page.getByRole('button', { name: 'Probe all' }).click();
  await page.getByText(`127.0.0.1:${origin.port} responds over HTTP`).waitFor();
  await keepPicture(page, 'domain-origins');
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.getByRole('link', { name: 'HTTPS' }).click();
  await page.getByRole('button', { name: 'Change certificate' }).click();
  await dialog.getByLabel('A certificate of this site', { exact: true }).first().click();
  await keepPicture(page, 'domain-certificate');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'bought in spring' }).waitFor();
  expect(await now()).toMatchObject({ certStatus: 'success' });
  await keepPicture(page, 'domain-https');
}, 240_000);

// Regression: a domain without tags had a dash between its CNAME and the button that edits tags.
test('the head of a domain without tags has no dash', async () => {
  const { site, names, address } = await threeDomains();
  const { page } = await consoles.openAs(site.owner, `${address}/${names[0]}`, { language: 'en' });
  const head = page.locator('main header').first();
  await head.getByRole('button', { name: 'Edit tags' }).waitFor();
  await head.getByText('Waiting for CNAME').waitFor();
  expect(await head.innerText()).not.toContain('—');
  await page.context().close();
});
