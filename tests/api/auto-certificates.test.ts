// An operator lists and renews the automatic certificates of all sites.
import { autoCertificates, certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

const automatic = { type: 'automatic', keyTypes: ['ecdsa', 'rsa'] };
const client = (site: BuiltSite) => as(site.client);

test('they are listed with their sites, by state and name; manual and foreign certificates are not', async () => {
  const product = await build.product();
  const [one, other] = [await build.site({ product, name: 'Lantern' }), await build.site({ product })];
  const name = `${unique('www')}.example.com`;
  const failed = await build.certificate(one, [name], { ...automatic, status: 'fail', nextAt: new Date() });
  await db.certificateOrder.create({
    data: { certificateId: failed.id, keyType: 'ecdsa', state: 'failed', dueAt: new Date(), error: 'too many of them' },
  });
  const well = await build.certificate(other, ['b.example.com'], automatic);
  await build.certificate(one, ['manual.example.com']);
  await build.certificate(await build.site(), ['c.example.com'], automatic);
  const all = await client(one).call(autoCertificates.list);
  expect(all.data.map(({ id }) => id).toSorted()).toEqual([failed.id, well.id].toSorted());
  const found = async (query: { keyword?: string; status?: ['fail']; siteID?: string }) =>
    (await client(one).call(autoCertificates.list, { query })).data.map(({ id }) => id);
  expect(await found({ keyword: 'lanTERN' })).toEqual([failed.id]);
  expect(await found({ keyword: name.toUpperCase() })).toEqual([failed.id]);
  expect(await found({ status: ['fail'] })).toEqual([failed.id]);
  expect(await found({ siteID: other.id })).toEqual([well.id]);
  expect(all.data.find(({ id }) => id === failed.id)).toMatchObject({
    siteName: 'Lantern',
    error: 'too many of them',
    keyTypes: ['ecdsa', 'rsa'],
  });
});

test('many are renewed at once, with one job per site; running orders continue', async () => {
  const product = await build.product();
  const [one, other] = [await build.site({ product }), await build.site({ product })];
  const made = [
    await build.certificate(one, ['a.example.com'], automatic),
    await build.certificate(one, ['b.example.com'], automatic),
    await build.certificate(other, ['c.example.com'], automatic),
  ];
  const ids = made.map(({ id }) => id);
  const renew = (body: { ids: string[] }) => client(one).call(autoCertificates.renew, { body });
  const [first, second] = await Promise.all([renew({ ids }), renew({ ids })]);
  const begun = [...first.jobs, ...second.jobs];
  expect(begun.map(({ siteID }) => siteID).toSorted()).toEqual([one.id, other.id].toSorted());
  expect(await db.certificateOrder.count({ where: { certificateId: { in: ids }, state: 'open' } })).toBe(6);
  const jobID = begun.find(({ siteID }) => siteID === one.id)?.jobID ?? '';
  expect(await client(one).call(jobs.get, { params: { siteId: one.id, jobID } })).toMatchObject({
    kind: 'renewCertificates',
    title: expect.stringContaining(' +1'),
    total: 4,
  });
  const { timeline, status } = await as(one.owner).call(certificates.get, {
    params: { siteId: one.id, certId: ids[0] ?? '' },
  });
  expect([status, timeline.map(({ step }) => step)]).toEqual(['processing', ['ordered']]);
});

test('a manual or foreign certificate cannot be renewed, and then none is', async () => {
  const site = await build.site();
  const mine = await build.certificate(site, ['a.example.com'], automatic);
  const manual = await build.certificate(site, ['b.example.com']);
  const theirs = await build.certificate(await build.site(), ['c.example.com'], automatic);
  for (const { id } of [manual, theirs])
    await expect(client(site).call(autoCertificates.renew, { body: { ids: [mine.id, id] } })).toFail('NOT_FOUND');
  expect(await db.certificateOrder.count({ where: { certificateId: mine.id } })).toBe(0);
});

test('a job ends when its orders were replaced or deleted with their certificate', async () => {
  const site = await build.site();
  const [one, other] = [await build.domain({ site }), await build.domain({ site })];
  const autoSSL = async (...ids: string[]) =>
    (await as(site.owner).call(certificates.autoSSL, { params: site.params, body: { ids } })).jobID;
  const state = async (jobID: string) =>
    (await as(site.owner).call(jobs.get, { params: { ...site.params, jobID } })).state;
  const first = await autoSSL(one.id, other.id);
  const second = await autoSSL(one.id);
  expect([await state(first), await state(second)]).toEqual(['processing', 'processing']);
  const third = await autoSSL(other.id, one.id);
  expect([await state(first), await state(second), await state(third)]).toEqual(['failed', 'failed', 'processing']);
  const made = await db.certificate.findMany({ where: { siteId: site.id } });
  await as(site.owner).call(certificates.remove, { params: site.params, body: { ids: made.map(({ id }) => id) } });
  expect(await state(third)).toBe('failed');
});
