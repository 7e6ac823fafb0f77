// Limits per account that no license raises, also under concurrent requests.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
const { db } = installation;
afterAll(close);

/** How many of two concurrent requests succeed. */
const succeeded = async (create: () => Promise<unknown>) =>
  (await Promise.allSettled([create(), create()])).filter(({ status }) => status === 'fulfilled').length;

test('an account has at most 500 roles', async () => {
  const { client } = await build.client();
  const rows = Array.from({ length: 499 }, () => ({ ownerId: client.id, name: unique('role'), permissions: [] }));
  await db.role.createMany({ data: rows });
  const { call } = as(client);
  const create = () => call(roles.create, { body: { name: unique('role'), permissions: ['site:read'] } });
  expect(await succeeded(create)).toBe(1);
  await expect(create()).toFail('LIMIT_REACHED', { extra: { limit: 500 } });
  const other = await build.client();
  await as(other.client).call(roles.create, { body: { name: 'role', permissions: ['site:read'] } });
});

test('an operator has at most 1,000 zones', async () => {
  const { client, clientId } = await build.client();
  const rows = Array.from({ length: 999 }, () => ({ clientId, name: unique('zone'), keySealed: '' }));
  await db.zone.createMany({ data: rows });
  const create = () =>
    as(client).call(zones.create, { body: { name: unique('zone'), ports: [{ port: 80, tls: false }] } });
  expect(await succeeded(create)).toBe(1);
  await expect(create()).toFail('LIMIT_REACHED', { extra: { limit: 1000 } });
});

test('at most 200 certificate requests of an account are pending, over all its sites', async () => {
  const [site, other] = [await build.site(), await build.site()];
  await db.site.update({ where: { id: other.id }, data: { ownerId: site.owner.id, clientId: site.clientId } });
  const names = ['request.example.com'];
  await db.certificate.createMany({
    data: Array.from({ length: 199 }, () => ({
      siteId: other.id,
      name: unique('request'),
      names,
      csrPem: 'a request',
    })),
  });
  const { call } = as(site.owner);
  const request = { source: 'csr' as const, names, keyType: 'ecdsa' as const };
  const create = () =>
    call(certificates.create, { params: site.params, body: { ...request, sslName: unique('request') } });
  expect(await succeeded(create)).toBe(1);
  await expect(create()).toFail('LIMIT_REACHED', { extra: { limit: 200 } });

  const served = await db.certificate.create({ data: { siteId: site.id, name: 'served', names } });
  const params = { ...site.params, certId: served.id };
  await expect(call(certificates.update, { params, body: request })).toFail('LIMIT_REACHED', { extra: { limit: 200 } });
});
