// Limits on automatic certificates, and fair order when many orders wait.
import { randomUUIDv7 } from 'node:crypto';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { claimOrder } from '../support/services/background-work.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

const fulfilled = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.filter(({ status }) => status === 'fulfilled').length;
const order = async (site: BuiltSite) => {
  const { name } = await build.domain({ site });
  return as(site.owner).call(certificates.create, {
    params: site.params,
    body: { source: 'automatic', sslName: name, names: [name], keyTypes: ['ecdsa'] },
  });
};
const domains = async (site: BuiltSite, count: number) => {
  const made = [];
  for (let i = 0; i < count; i += 1) made.push(await build.domain({ site, name: `d${i}.${unique('x')}.example.com` }));
  return made;
};
const autoSSL = (site: BuiltSite, ids: string[]) =>
  as(site.owner).call(certificates.autoSSL, { params: site.params, body: { ids } });

test("a product limits a site's automatic certificates, also under concurrent requests; manual ones do not count", async () => {
  const product = await build.product();
  await db.product.update({ where: { id: product.id }, data: { autoCertificateLimit: 3 } });
  const site = await build.site({ product });
  await build.certificate(site, ['manual.example.com']);
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => order(site)));
  expect(fulfilled(outcomes)).toBe(3);
  await expect(order(site)).toFail('AUTO_SSL_LIMIT', { extra: { limit: 3 } });
  // Another site of the product has its own limit.
  await order(await build.site({ product }));
});

test('a site has at most a thousand uploaded certificates and CSRs', async () => {
  const site = await build.site();
  const rows = Array.from({ length: 999 }, (_, i) => ({ siteId: site.id, name: `c${i}`, type: 'manual', names: [] }));
  await db.certificate.createMany({ data: rows });
  const request = () =>
    as(site.owner).call(certificates.create, {
      params: site.params,
      body: { source: 'csr', sslName: unique('cert'), names: ['www.example.com'], keyType: 'ecdsa' },
    });
  const outcomes = await Promise.allSettled([request(), request()]);
  expect(fulfilled(outcomes)).toBe(1);
  await expect(request()).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'source', rule: 'maxItems' })],
  });
});

test('an order of several domains is atomic, and names the domains beyond the limit', async () => {
  const product = await build.product();
  await db.product.update({ where: { id: product.id }, data: { autoCertificateLimit: 3 } });
  const site = await build.site({ product });
  const made = await domains(site, 5);
  const ids = made.map(({ id }) => id);
  const any = expect.toBeOneOf(made.map(({ name }) => name));
  await expect(autoSSL(site, ids)).toFail('AUTO_SSL_LIMIT', { errorData: [{ targets: [any, any] }] });
  expect(await db.certificate.count({ where: { siteId: site.id } })).toBe(0);
  await autoSSL(site, ids.slice(0, 3));
  // Domains that already have a certificate need no free place.
  await autoSSL(site, ids.slice(0, 3));
  await expect(autoSSL(site, ids.slice(2, 4))).toFail('AUTO_SSL_LIMIT');
  expect(await db.certificate.count({ where: { siteId: site.id } })).toBe(3);
});

test('concurrent orders of the same domain create one certificate', async () => {
  const site = await build.site();
  const [{ id } = { id: '' }] = await domains(site, 1);
  await Promise.all([autoSSL(site, [id]), autoSSL(site, [id])]);
  expect(await db.certificate.count({ where: { siteId: site.id } })).toBe(1);
});

test("a client's license limits the number over all its sites", async () => {
  const product = await build.product();
  const [one, other] = [await build.site({ product }), await build.site({ product })];
  await db.license.create({ data: { clientId: product.clientId, autoCertificateLimit: 2 } });
  const outcomes = await Promise.allSettled([order(one), order(other), order(one), order(other)]);
  expect(fulfilled(outcomes)).toBe(2);
  await expect(order(one)).toFail('AUTO_SSL_LIMIT', { extra: { limit: 2 } });
});

/** Orders that have been due for this many minutes. */
async function due(site: BuiltSite, count: number, minutes: number) {
  const ids = Array.from({ length: count }, () => randomUUIDv7());
  await db.certificate.createMany({
    data: ids.map((id) => ({ id, siteId: site.id, name: id, type: 'automatic', names: [`${id}.example.com`] })),
  });
  const dueAt = new Date(Date.now() - minutes * 60_000);
  await db.certificateOrder.createMany({
    data: ids.map((id) => ({ certificateId: id, keyType: 'ecdsa', openFor: `${id} ecdsa`, dueAt })),
  });
}

test('a thousand orders of one site do not delay those of others', async () => {
  await db.certificateOrder.deleteMany({});
  const product = await build.product();
  const [crowd, many, few] = [await build.site({ product }), await build.site({ product }), await build.site()];
  await due(crowd, 1000, 60);
  await due(many, 3, 10);
  await due(few, 2, 5);
  const turns: string[] = [];
  for (let i = 0; i < 10; i += 1) turns.push((await claimOrder(pool, new Date()))?.order.siteId ?? '');
  const firsts = (site: BuiltSite) => turns.flatMap((id, i) => (id === site.id ? [i] : []));
  // Alternates between clients, and within a client between its sites.
  expect(firsts(few)).toEqual([1, 3]);
  expect(firsts(many)[0]).toBeLessThanOrEqual(3);
  expect(firsts(many)).toHaveLength(3);
  expect(firsts(crowd)).toHaveLength(5);
});
