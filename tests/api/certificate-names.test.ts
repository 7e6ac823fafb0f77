// Orders of certificates wait until a new domain's name points here.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { type BuiltDomain } from '../support/builders/build.ts';
import { processDueOrders } from '../support/builders/process-due-orders.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { testApp } from '../support/services/app.ts';

const dns = await startNameServer();
// Without an authority, an order fails as soon as it is not waiting.
const { as, build, installation, close } = await testApp({
  ACME_AUTHORITIES: '[]',
  CNAME_SUFFIX: 'cdn.example.net',
  DNS_RESOLVERS: dns.address,
});
const { db } = installation;
afterAll(async () => {
  await close();
  await dns.stop();
});

const log = { warn: (...said: unknown[]) => console.warn(...said) };
const work = () => processDueOrders(installation, () => new Date(), log);

async function ordered() {
  const domain = await build.domain();
  const { call } = as(domain.site.owner);
  await call(certificates.autoSSL, { params: domain.site.params, body: { ids: [domain.id] } });
  await work();
  return domain;
}
const check = ({ id, site }: BuiltDomain) =>
  as(site.owner).call(domains.checkCname, { params: site.params, body: { ids: [id] } });
async function pointHere({ name, site }: BuiltDomain) {
  const { cname } = await as(site.owner).call(sites.get, { params: site.params });
  dns.records.set(name, { alias: String(cname) });
}
const stepsOf = async ({ name }: BuiltDomain) => {
  const of = { certificate: { names: { has: name } } };
  const events = await db.certificateEvent.findMany({ where: of, orderBy: { id: 'asc' } });
  return events.map(({ step }) => step);
};
const certificateOf = ({ name }: BuiltDomain) => db.certificate.findFirstOrThrow({ where: { names: { has: name } } });

// Regression: the form promised this, but the order went to the authority at once, and failed.
test('the order for a new domain waits, and is due as soon as the name points here', async () => {
  const domain = await ordered();
  expect(await stepsOf(domain)).toEqual(['ordered', 'waits']);
  expect(await certificateOf(domain)).toMatchObject({ status: 'processing' });
  await check(domain);
  await work();
  expect(await stepsOf(domain)).toEqual(['ordered', 'waits']);

  await pointHere(domain);
  await check(domain);
  await work();
  expect(await stepsOf(domain)).toEqual(['ordered', 'waits', 'failed']);
});

test('an order waits for an hour at most', async () => {
  const domain = await ordered();
  await db.$executeRaw`UPDATE domains SET created_at = now() - interval '2 hours' WHERE id = ${domain.id}::uuid`;
  await db.certificateOrder.updateMany({ where: { openFor: { not: null } }, data: { dueAt: new Date() } });
  await work();
  expect(await stepsOf(domain)).toEqual(['ordered', 'waits', 'failed']);
});

test('a failed order is repeated as soon as the name points here', async () => {
  const domain = await build.domain();
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  const later = new Date(Date.now() + 3_600_000);
  const failed = { type: 'automatic', status: 'fail', nextAt: later };
  await build.certificate(domain.site, [domain.name], failed);
  await check(domain);
  expect((await certificateOf(domain)).nextAt).toEqual(later);
  await pointHere(domain);
  await check(domain);
  expect((await certificateOf(domain)).nextAt?.getTime()).toBeLessThanOrEqual(Date.now());
  // A name that still points here changes nothing.
  await db.certificate.updateMany({ where: { names: { has: domain.name } }, data: { nextAt: later } });
  await check(domain);
  expect((await certificateOf(domain)).nextAt).toEqual(later);
});

// A customer's name server may turn a name between right and wrong.
test('a certificate that failed repeatedly is not repeated before its time', async () => {
  const domain = await build.domain();
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  const later = new Date(Date.now() + 1_800_000);
  await build.certificate(domain.site, [domain.name], {
    type: 'automatic',
    status: 'fail',
    failures: 3,
    nextAt: later,
  });
  await pointHere(domain);
  await check(domain);
  expect((await certificateOf(domain)).nextAt).toEqual(later);
});

test('an order that an authority asked to wait stays', async () => {
  const domain = await ordered();
  const later = new Date(Date.now() + 3_600_000);
  await db.certificateOrder.updateMany({ where: { openFor: { not: null } }, data: { dueAt: later } });
  await pointHere(domain);
  await check(domain);
  const orders = await db.certificateOrder.findMany({ where: { certificate: { names: { has: domain.name } } } });
  expect(orders).toMatchObject([{ dueAt: later }]);
});

test('no order waits for a name behind the zone’s proxy, or in a DNS account of the site', async () => {
  const behind = await build.domain();
  const visitorAddress = { proxy: 'cloudflare', networks: [], header: 'CF-Connecting-IP', proxyProtocolPorts: [] };
  await db.zone.update({ where: { id: behind.site.zoneId }, data: { settings: { visitorAddress } } });
  const known = await build.domain();
  const account = { siteId: known.site.id, provider: 'cloudflare', credentialsSealed: '', domains: [known.name] };
  await db.siteDns.create({ data: account });
  for (const { id, site } of [behind, known])
    await as(site.owner).call(certificates.autoSSL, { params: site.params, body: { ids: [id] } });
  await work();
  for (const domain of [behind, known]) expect(await stepsOf(domain)).toEqual(['ordered', 'failed']);
});
