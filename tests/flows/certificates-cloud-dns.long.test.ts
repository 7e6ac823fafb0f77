// DNS-01 validation at a second vendor, a fake DNSPod that keeps one row per value. The authority queries it.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { nameServerHost, startNameServer } from '../support/fakes/dns-server.ts';
import { processDueOrders } from '../support/builders/process-due-orders.ts';
import { testApp, type TestApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { startDnspod } from '../support/fakes/dns-vendors/dnspod.ts';
import type { FakeVendor } from '../support/fakes/dns-vendors/fake-vendor.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startPebble, type Pebble } from '../support/services/pebble.ts';

const zone = `${unique('zone')}.example.com`;
let vendor: FakeVendor;
let names: Awaited<ReturnType<typeof startNameServer>>;
let pebble: Pebble;
let app: TestApp;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  vendor = await startDnspod(zone);
  onEnd(() => vendor.stop());
  const txt = (name: string) =>
    vendor.records.rows.filter((row) => row.name === name && row.type === 'TXT').flatMap(({ values }) => values);
  // Port 53 is often blocked, so only the resolver answers.
  const walled = nameServerHost();
  names = await startNameServer((asked) => {
    const name = asked.toLowerCase();
    if (name === `ns.${zone}`) return { a: [walled] };
    return { txt: txt(name), ...(name === zone && { ns: [`ns.${zone}`] }) };
  });
  onEnd(() => names.stop());
  pebble = await startPebble({ httpPort: 1, nameServer: names.address });
  onEnd(() => pebble.stop());
  app = await testApp({
    ACME_AUTHORITIES: JSON.stringify([pebble.authority]),
    ORIGIN_ALLOW: '127.0.0.0/8',
    DNS_RESOLVERS: names.address,
    DNS_ENDPOINTS: JSON.stringify({ dnspod: vendor.url }),
  });
  onEnd(() => app.close());
});
afterAll(stopAll);

test('both TXT records of a name exist at once and are removed afterwards', async () => {
  const site = await app.build.site();
  const call = app.as(site.owner).call;
  await call(siteDns.create, {
    params: site.params,
    body: { provider: 'dnspod', credentials: vendor.key, domains: [zone] },
  });
  const { id: certId } = await call(certificates.create, {
    params: site.params,
    body: { source: 'automatic', sslName: unique('cert'), names: [zone, `*.${zone}`], keyTypes: ['ecdsa'] },
  });
  const ended = eventually(
    async () => {
      await processDueOrders(app.installation, () => new Date(), {
        warn: (...said: unknown[]) => console.warn(...said),
      });
      const info = await call(certificates.get, { params: { ...site.params, certId } });
      expect(info.status).not.toBe('processing');
      return info;
    },
    { within: 40_000 },
  );
  expect(await ended).toMatchObject({ status: 'success', error: null });
  expect(names.asked.map((asked) => asked.toLowerCase())).toContain(`_acme-challenge.${zone} txt`);
  expect(vendor.records.rows).toEqual([]);
});
