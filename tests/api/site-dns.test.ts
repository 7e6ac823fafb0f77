// DNS accounts of a site.
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { testApp, type TestApp } from '../support/services/app.ts';
import { startAliDns } from '../support/fakes/dns-vendors/ali-dns.ts';
import { startDnspod } from '../support/fakes/dns-vendors/dnspod.ts';
import { startHuaweiCloud } from '../support/fakes/dns-vendors/huawei-cloud.ts';
import { startRoute53 } from '../support/fakes/dns-vendors/route-53.ts';
import type { FakeVendor } from '../support/fakes/dns-vendors/fake-vendor.ts';
import '../support/assertions/matchers.ts';

const zone = 'example.com';
const starts = { dnspod: startDnspod, aliDNS: startAliDns, route53: startRoute53, huaweiCloud: startHuaweiCloud };
const providers = ['dnspod', 'aliDNS', 'route53', 'huaweiCloud'] as const;
const vendors = new Map<string, FakeVendor>();
let app: TestApp;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  for (const name of providers) {
    const vendor = await starts[name](zone);
    onEnd(() => vendor.stop());
    vendors.set(name, vendor);
  }
  const endpoints = Object.fromEntries([...vendors].map(([name, { url }]) => [name, url]));
  app = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8', DNS_ENDPOINTS: JSON.stringify(endpoints) });
  onEnd(() => app.close());
});
afterAll(stopAll);

const vendorOf = (provider: string) => {
  const vendor = vendors.get(provider);
  if (!vendor) throw new Error(provider);
  return vendor;
};

test.each(providers)('%s: an account is tested before it is stored, and its key is not returned', async (provider) => {
  const site = await app.build.site();
  const { key } = vendorOf(provider);
  const add = (credentials: typeof key, domains = [zone]) =>
    app.as(site.owner).call(siteDns.create, { params: site.params, body: { provider, credentials, domains } });
  await expect(add({ ...key, keySecret: 'another' })).toFail('INVALID_DNS_SETTING', {
    errorData: [
      expect.objectContaining({
        target: zone,
        path: 'credentials.keySecret',
        rule: 'provider',
        message: expect.stringMatching(/\S/),
      }),
    ],
  });
  await expect(add(key, [zone, 'example.org'])).toFail('INVALID_DNS_SETTING', {
    errorData: [
      expect.objectContaining({
        target: 'example.org',
        path: 'domains',
        message: expect.stringMatching(/^example\.org: /),
      }),
    ],
  });
  const made = await add(key);
  expect(made).toMatchObject({ provider, domains: [zone], credentials: `••••${key.keyID.slice(-4)}` });
  const { credentialsSealed } = await app.installation.db.siteDns.findUniqueOrThrow({ where: { id: made.id } });
  expect(credentialsSealed).not.toContain(key.keySecret);
  const { data } = await app.as(site.owner).call(siteDns.domains, { params: { ...site.params, dnsID: made.id } });
  expect(data).toEqual([{ name: zone, records: 0, error: null }]);
});

test('a site has fifty accounts at most', async () => {
  const site = await app.build.site();
  const { key } = vendorOf('dnspod');
  const account = { siteId: site.id, provider: 'dnspod', domains: [zone], credentialsSealed: '' };
  await app.installation.db.siteDns.createMany({ data: Array.from({ length: 49 }, () => account) });
  const add = () =>
    app.as(site.owner).call(siteDns.create, {
      params: site.params,
      body: { provider: 'dnspod', credentials: key, domains: [zone] },
    });
  await add();
  await expect(add()).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'provider', rule: 'range' })],
  });
});

test('the URL of a PowerDNS has a host, and no path', async () => {
  const site = await app.build.site();
  for (const url of ['https://192.0.2.1/?x=', 'https://192.0.2.1/#', 'https://me:secret@192.0.2.1'])
    await expect(
      app.as(site.owner).call(siteDns.create, {
        params: site.params,
        body: { provider: 'powerDNS', domains: [zone], credentials: { url, apiKey: 'a key of no importance' } },
      }),
    ).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'credentials.url', rule: 'format' })] });
});

test('a region cannot be another host', async () => {
  const site = await app.build.site();
  for (const region of ['evil.example/', 'cn-north-4.evil', '../x', 'a'])
    await expect(
      app.as(site.owner).call(siteDns.create, {
        params: site.params,
        body: { provider: 'huaweiCloud', credentials: { keyID: 'k', keySecret: 's', region }, domains: [zone] },
      }),
    ).toFail('PARAMETER');
});

test('a rate-limiting provider is not queried for the rest of a hundred zones', async () => {
  const site = await app.build.site();
  const vendor = vendorOf('huaweiCloud');
  const domains = Array.from({ length: 100 }, (_, i) => `zone${i}.example.com`);
  vendor.rateLimitNext(10_000);
  const before = vendor.calls();
  const asked = app
    .as(site.owner)
    .call(siteDns.create, { params: site.params, body: { provider: 'huaweiCloud', credentials: vendor.key, domains } });
  await expect(asked).toFail('INVALID_DNS_SETTING', {
    errorData: domains.map((target) =>
      expect.objectContaining({ target, message: expect.stringContaining('APIGW.0308') }),
    ),
  });
  expect(vendor.calls() - before).toBeLessThanOrEqual(20);
  vendor.rateLimitNext(0);
});
