// Certificates in the consoles.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { testDir } from '../support/services/test-dir.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

test('an operator lists the automatic certificates of all sites with the authority’s errors, and renews some', async () => {
  const { build, installation } = consoles.app;
  const { db } = installation;
  const product = await build.product();
  const [lantern, wick] = [await build.site({ product, name: 'Lantern' }), await build.site({ product, name: 'Wick' })];
  const automatic = { type: 'automatic', keyTypes: ['ecdsa'] };
  const shop = await build.certificate(lantern, ['shop.example.com', 'www.example.com'], {
    ...automatic,
    name: 'shop.example.com',
    notAfter: inDays(60),
    nextAt: inDays(30),
  });
  await build.certificate(wick, ['soon.example.com'], { ...automatic, name: 'soon', notAfter: inDays(8.5) });
  await build.certificate(wick, ['over.example.com'], { ...automatic, name: 'over', notAfter: inDays(-1) });
  const failed = await build.certificate(wick, ['caa.example.com'], {
    ...automatic,
    name: 'caa.example.com',
    status: 'fail',
    nextAt: inDays(0.2),
  });
  const words = 'CAA record for caa.example.com prevents issuance';
  await db.certificateOrder.create({
    data: { certificateId: failed.id, keyType: 'ecdsa', state: 'failed', error: words, dueAt: new Date() },
  });
  const step = { certificateId: failed.id, keyType: 'ecdsa', ca: "Let's Encrypt", at: new Date() };
  await db.certificateEvent.createMany({
    data: [
      { ...step, at: inDays(-0.001), step: 'placed', detail: 'caa.example.com' },
      { ...step, step: 'failed', detail: words },
    ],
  });

  const look = { language: 'en' } as const;
  const { page } = await consoles.openAs(lantern.client, 'nodeManage/autoSSLManagement', look);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('soon').getByText('Expires in 9 days').waitFor();
  await row('over').getByText('Expired').waitFor();
  await row('caa').getByText(words).waitFor();
  await keepPicture(page, 'auto-certificates');

  await row('caa').getByRole('button', { name: 'caa.example.com', exact: true }).click();
  await page.getByRole('dialog').getByText(words).first().waitFor();
  await keepPicture(page, 'auto-certificate-timeline');
  await page.keyboard.press('Escape');

  await row('soon').getByRole('button', { name: 'soon', exact: true }).click();
  await page.getByRole('dialog').getByText('No events yet').waitFor();
  await keepPicture(page, 'certificate-without-events');
  await page.keyboard.press('Escape');

  for (const name of ['shop', 'soon']) await row(name).getByRole('checkbox').first().click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Renew now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Renew now' }).click();
  await eventually(async () =>
    expect(
      await db.certificateOrder.count({ where: { certificate: { site: { productId: product.id } }, state: 'open' } }),
    ).toBe(2),
  );
  expect(await db.job.findMany({ where: { siteId: lantern.id } })).toMatchObject([
    { kind: 'renewCertificates', title: shop.name },
  ]);
  await page.close();
});

test('jobs started outside of a site are listed page by page, with a note where the others are', async () => {
  const { build } = consoles.app;
  const product = await build.product();
  for (let i = 0; i < 12; i += 1) {
    const site = await build.site({ product });
    await build.certificate(site, [`n${i}.example.com`], {
      type: 'automatic',
      keyTypes: ['ecdsa'],
      name: `n${i}.example.com`,
      notAfter: inDays(60),
    });
  }
  const { page } = await consoles.openAs(product.zone.client, 'nodeManage/autoSSLManagement', { language: 'en' });
  await page.getByText('1–12 of 12').waitFor();
  await expect.poll(() => page.getByRole('button', { name: /^Jobs/ }).count()).toBe(0);
  await page.locator('thead').getByRole('checkbox').click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Renew now' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Renew now' }).click();
  // Nothing issues certificates here, so the test ends the jobs.
  const { db } = consoles.app.installation;
  const ofProduct = { site: { productId: product.id } };
  await eventually(async () => expect(await db.job.count({ where: ofProduct })).toBe(12));
  await db.job.updateMany({ where: ofProduct, data: { state: 'completed', endedAt: new Date() } });
  await page.getByRole('button', { name: /^Jobs\s*12$/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Jobs' });
  await dialog.getByText('Jobs started in this browser tab').waitFor();
  await expect.poll(() => dialog.getByRole('region').count()).toBe(10);
  await keepPicture(page, 'jobs-of-tab');
  await dialog.getByRole('button', { name: 'Next page' }).click();
  await expect.poll(() => dialog.getByRole('region').count()).toBe(2);
  await page.close();
});

test('a customer replaces a certificate by a PKCS#12 file, and creates a CSR', async () => {
  const { as, build } = consoles.app;
  const site = await build.site();
  const ca = await createAuthority();
  const call = <T>(work: (api: ReturnType<typeof as>) => Promise<T>) => work(as(site.owner));
  const { id } = await call((api) =>
    api.call(certificates.create, {
      params: site.params,
      body: { source: 'csr', sslName: 'shop', names: ['shop.example.com'], keyType: 'ecdsa' },
    }),
  );
  const info = () => call((api) => api.call(certificates.get, { params: { ...site.params, certId: id } }));
  const file = path.join(await testDir(), 'shop.p12');
  await writeFile(
    file,
    Buffer.from(await ca.pkcs12(await ca.issue(['shop.example.com'], { rsa: true }), 'open sesame'), 'base64'),
  );

  const { page } = await consoles.openAs(
    site.owner,
    `sitesManagement/sitesSetting/${site.id}/${site.name}?view=certs`,
    { language: 'en' },
  );
  const open = async () => {
    await page.getByRole('button', { name: 'shop', exact: true }).click();
    await page.getByRole('button', { name: 'Replace key and certificate' }).click();
  };
  await open();
  await page.getByRole('dialog').getByText('PKCS#12').click();
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByLabel('File password').fill('open sesame');
  await keepPicture(page, 'certificate-replace');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await eventually(async () =>
    expect(await info()).toMatchObject({ status: 'success', keyTypes: ['rsa'], names: ['shop.example.com'] }),
  );

  const before = (await info()).csrPem;
  await page.reload();
  await open();
  await page.getByRole('dialog').getByText('CSR', { exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect((await info()).csrPem).not.toBe(before));
  // The served certificate stays until the request is signed.
  expect(await info()).toMatchObject({ keyTypes: ['rsa'], hasRequest: true });
  await page.close();
});

test('a customer orders certificates for selected domains; domains that cannot have one are listed', async () => {
  const { build, installation } = consoles.app;
  const site = await build.site();
  const name = (label: string) => `${label}.${site.id.slice(-8)}.example.com`;
  for (const label of ['one', 'two']) await build.domain({ site, name: name(label) });
  await build.domain({ site, name: name('off'), enabled: false });
  const { page } = await consoles.openAs(
    site.owner,
    `sitesManagement/sitesSetting/${site.id}/${site.name}?view=domains`,
    { language: 'en', expectedErrors: /status of 400/ },
  );
  for (const label of ['one', 'two', 'off'])
    await page
      .getByRole('row')
      .filter({ hasText: name(label) })
      .getByRole('checkbox')
      .first()
      .click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Order certificates' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Order certificates' }).click();
  await eventually(async () =>
    expect(await installation.db.certificate.count({ where: { siteId: site.id, type: 'automatic' } })).toBe(2),
  );
  await keepPicture(page, 'domains-order-certificates');
  await page.close();
});

test('a new certificate is offered to the domains that it covers, with a result for each', async () => {
  const { as, build } = consoles.app;
  const site = await build.site();
  const end = `${site.id.slice(-8)}.example.com`;
  for (const label of ['one', 'two', 'three']) await build.domain({ site, name: `${label}.${end}` });
  await build.domain({ site, name: `elsewhere-${site.id.slice(-8)}.example.net` });
  await build.certificate(site, [`three.${end}`], { name: 'older' });
  const { call } = as(site.owner);
  const rows = async () => (await call(domains.list, { params: site.params, query: { sortBy: 'name' } })).data;
  const older = (await call(certificates.meta, { params: site.params })).data.find(({ name }) => name === 'older');
  const three = (await rows()).find(({ name }) => name === `three.${end}`);
  await call(certificates.assign, {
    params: { ...site.params, certId: older?.id ?? '' },
    body: { domainIDs: [three?.id ?? ''] },
  });
  const sold = await (await createAuthority()).issue([`*.${end}`]);
  const { page } = await consoles.openAs(
    site.owner,
    `sitesManagement/sitesSetting/${site.id}/${site.name}?view=certs`,
    { language: 'en' },
  );
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add certificate' }).first().click();
  await dialog.getByText('PEM', { exact: true }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('wildcard');
  await dialog.locator('textarea').nth(0).fill(sold.chainPem);
  await dialog.locator('textarea').nth(1).fill(sold.keyPem);
  await dialog.getByRole('button', { name: 'Add certificate' }).click();
  await page.getByRole('dialog', { name: '3 domains match wildcard' }).waitFor();
  // A domain with another certificate is not preselected.
  await expect.poll(() => dialog.getByRole('checkbox', { name: `three.${end}` }).isChecked()).toBe(false);
  await keepPicture(page, 'certificate-offer');
  await dialog.getByRole('button', { name: 'Use for 2 domains' }).click();
  await dialog.getByText('2 done').waitFor();
  await dialog.getByText(`one.${end}`).waitFor();
  const served = (await rows()).filter(({ certificateID }) => certificateID !== null && certificateID !== older?.id);
  expect(served.map(({ name }) => name)).toEqual([`one.${end}`, `two.${end}`]);
  await page.close();
});

test('both fields of an invalid pair show errors, and the summary links to the first', async () => {
  const { build } = consoles.app;
  const site = await build.site();
  const ca = await createAuthority();
  const [one, other] = [await ca.issue(['one.example.com']), await ca.issue(['other.example.com'])];
  const address = `sitesManagement/sitesSetting/${site.id}/${site.name}?view=certs`;
  const { page } = await consoles.openAs(site.owner, address, { language: 'en', expectedErrors: /status of 400/ });
  await page.getByRole('button', { name: 'Add certificate' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('PEM', { exact: false }).first().click();
  const [chain, key] = [dialog.locator('textarea[name=chainPem]'), dialog.locator('textarea[name=keyPem]')];
  await dialog.getByLabel('Name').fill('shop');
  await chain.fill(one.chainPem);
  await key.fill(other.keyPem);
  await key.press('Tab');
  await dialog.locator('button[type=submit]').press('Enter');
  await dialog.getByText('None of these certificates matches the private key.').waitFor();
  await dialog.getByText('This key belongs to another certificate.').waitFor();
  const summary = dialog.getByRole('button', { name: 'Please check the form input: 2 errors' });
  await summary.focus();
  await summary.press('Enter');
  await expect.poll(() => chain.evaluate((element) => element === document.activeElement)).toBe(true);
  await keepPicture(page, 'certificate-errors');
  await page.setViewportSize({ width: 390, height: 800 });
  await keepPicture(page, 'certificate-errors-390');

  await chain.fill(other.chainPem);
  await page.getByRole('button', { name: 'Please check the form input: 1 error' }).waitFor();
  await page.close();
});
