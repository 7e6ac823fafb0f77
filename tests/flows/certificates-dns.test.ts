// DNS-01 validation with a real PowerDNS, changed through its API.
import { Resolver } from 'node:dns/promises';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { nameServerHost, startNameServer } from '../support/fakes/dns-server.ts';
import { processDueOrders } from '../support/builders/process-due-orders.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { testApp, type TestApp } from '../support/services/app.ts';
import { openAccount, startPebble, type Pebble } from '../support/services/pebble.ts';
import { openDns, startPowerDns, type PowerDns } from '../support/services/power-dns.ts';

const zone = `${unique('zone')}.example.com`;
/** Belongs to another customer. */
const other = `${unique('other')}.example.com`;
let dns: PowerDns;
let pebble: Pebble;
let app: TestApp;
let walled: TestApp;

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dns = await startPowerDns([zone, other]);
  onEnd(() => dns.stop());
  pebble = await startPebble({ httpPort: 1, nameServer: dns.nameServer, reusesAuthorizations: true });
  onEnd(() => pebble.stop());
  const settings = { ACME_AUTHORITIES: JSON.stringify([pebble.authority]), DNS_RESOLVERS: dns.nameServer };
  app = await testApp({ ...settings, ORIGIN_ALLOW: '127.0.0.0/8' });
  onEnd(() => app.close());
  walled = await testApp(settings);
  onEnd(() => walled.close());
});
afterAll(stopAll);

const account = (apiKey = dns.apiKey) => ({
  provider: 'powerDNS' as const,
  credentials: { url: dns.url, apiKey },
  domains: [zone],
});
const add = (site: BuiltSite, body = account()) =>
  app.as(site.owner).call(siteDns.create, { params: site.params, body });
const order = (site: BuiltSite, names: string[], keyTypes: ('ecdsa' | 'rsa')[] = ['ecdsa']) =>
  app.as(site.owner).call(certificates.create, {
    params: site.params,
    body: { source: 'automatic', sslName: unique('cert'), names, keyTypes },
  });
const never = () => {
  throw new Error('it is there');
};
const blank = { status: 'pending' as const, identifiers: [], authorizations: [], finalize: '' };
const log = { warn: (...said: unknown[]) => console.warn(...said) };
const issue = (site: BuiltSite, certId: string, now = () => new Date()) =>
  eventually(
    async () => {
      await processDueOrders(app.installation, now, log);
      const info = await app.as(site.owner).call(certificates.get, { params: { ...site.params, certId } });
      expect(info.status).not.toBe('processing');
      return info;
    },
    { within: 25_000 },
  );
const proofs = async (name = zone) => {
  const resolver = new Resolver();
  resolver.setServers([dns.nameServer]);
  return resolver.resolveTxt(`_acme-challenge.${name}`).catch(() => []);
};

test('an account is tested before it is stored, and its secret is masked', async () => {
  const site = await app.build.site();
  const errorData = [expect.objectContaining({ target: zone, message: expect.stringMatching(/401|Unauthorized/) })];
  await expect(add(site, account('another key'))).toFail('INVALID_DNS_SETTING', { errorData });
  const made = await add(site);
  expect(made).toMatchObject({
    provider: 'powerDNS',
    domains: [zone],
    credentials: expect.stringMatching(/••••0123$/),
  });
  const { credentialsSealed } = await app.installation.db.siteDns.findUniqueOrThrow({ where: { id: made.id } });
  expect(credentialsSealed).not.toContain(dns.apiKey);
  const look = app.as(site.owner).call(siteDns.domains, { params: { ...site.params, dnsID: made.id } });
  expect((await look).data).toMatchObject([{ name: zone, error: null }]);
});

test('values are stored unchanged: long texts, quotes, aliases; and there are no lines', async () => {
  const { url, apiKey } = dns;
  const credentials = { url, apiKey, serverID: 'localhost' };
  const open = openDns(app.installation.env, { provider: 'powerDNS', credentials });
  const sets = [
    { name: `long.${zone}`, type: 'TXT' as const, values: ['x'.repeat(600), 'say "hi" \\ bye'], ttlSeconds: 60 },
    { name: `*.${zone}`, type: 'CNAME' as const, values: ['site.cdn.example.net'], ttlSeconds: 60 },
  ];
  for (const one of sets) await open.upsert(zone, one);
  const found = await open.list(zone);
  for (const one of sets) expect(found).toContainEqual({ ...one, values: expect.arrayContaining(one.values) });
  expect(await open.lines(zone)).toEqual([]);
  const onLine = open.upsert(zone, { name: zone, type: 'A', values: ['192.0.2.1'], ttlSeconds: 60, line: 'telecom' });
  await expect(onLine).rejects.toThrow('knows no lines');
  for (const one of sets) await open.remove(zone, one);
});

test('an address that the outbound policy denies is not contacted', async () => {
  const site = await walled.build.site();
  const asked = walled.as(site.owner).call(siteDns.create, { params: site.params, body: account() });
  const errorData = [expect.objectContaining({ message: expect.stringContaining('not allowed') })];
  await expect(asked).toFail('INVALID_DNS_SETTING', { errorData });
});

test('a wildcard and its apex are validated together, with both key types, and no record remains', async () => {
  const site = await app.build.site();
  await expect(order(site, [`*.${zone}`])).toFail('INVALID_CERTIFICATE_NAME', {
    errorData: [expect.objectContaining({ targets: [`*.${zone}`] })],
  });
  await add(site);
  const { id } = await order(site, [zone, `*.${zone}`], ['ecdsa', 'rsa']);
  const info = await issue(site, id);
  expect(info).toMatchObject({ status: 'success', error: null, keyTypes: ['ecdsa', 'rsa'] });
  expect(info.timeline.filter(({ step }) => step === 'signed')).toHaveLength(2);
  expect(info.timeline.some(({ detail }) => detail === `dns-01 *.${zone}`)).toBe(true);
  expect(await proofs()).toEqual([]);
});

test("an error of the provider ends the order with the provider's message", async () => {
  const site = await app.build.site();
  const { id: dnsID } = await add(site);
  const { id } = await order(site, [`*.gone.${zone}`]);
  await app.installation.db.siteDns.update({ where: { id: dnsID }, data: { domains: [`gone.${zone}`] } });
  const info = await issue(site, id);
  expect(info).toMatchObject({ status: 'fail' });
  expect(info.error).toContain(`_acme-challenge.gone.${zone}`);
});

describe('a DNS account that confirms every change', () => {
  let liar: PowerDns;
  beforeAll(async () => {
    liar = await startPowerDns([other, zone]);
  });
  afterAll(() => liar.stop());

  const claim = async (name: string) => {
    const site = await app.build.site();
    const { url, apiKey } = liar;
    await add(site, { ...account(), credentials: { url, apiKey }, domains: [name] });
    return site;
  };
  /** A clock in which a minute passes per second. */
  const fastClock = () => {
    const began = Date.now();
    return () => new Date(began + (Date.now() - began) * 60);
  };

  test("uses up none of the authority's rate limit for another customer's name", async () => {
    const site = await claim(other);
    const { id } = await order(site, [`www.${other}`]);
    const info = await issue(site, id, fastClock());
    expect(info).toMatchObject({ status: 'fail' });
    const host = dns.nameServer.replace(':53', '');
    expect(info.error).toContain(`ns1.${other} (${host}) shows no TXT record`);
    expect(info.timeline.map(({ step }) => step)).not.toContain('notified');
    const { orderUrl } = await app.installation.db.certificateOrder.findFirstOrThrow({ where: { certificateId: id } });
    const client = await openAccount(app.installation, app.installation.env.ACME_AUTHORITIES[0] ?? never());
    const placed = await client.getOrder({ ...blank, url: orderUrl ?? never() });
    expect((await client.getAuthorizations(placed)).map(({ status }) => status)).toEqual(['pending']);
  });

  test("gets no certificate from an authorization that the owner's validation left at the authority", async () => {
    const owner = await app.build.site();
    await add(owner);
    const name = `shop.${zone}`;
    expect(await issue(owner, (await order(owner, [name])).id)).toMatchObject({ status: 'success' });
    const site = await claim(zone);
    const info = await issue(site, (await order(site, [name])).id, fastClock());
    expect(info).toMatchObject({ status: 'fail', error: expect.stringContaining(`_acme-challenge.${name}`) });
    // The owner of the name does not depend on reused authorizations.
    expect(await issue(owner, (await order(owner, [name])).id)).toMatchObject({ status: 'success' });
    expect(await proofs(name)).toEqual([]);
  });
});

test('the authority validates once the slowest DNS server has the record', async () => {
  const host = nameServerHost();
  const name = `late.${zone}`;
  let copied: string[] = [];
  let looks = 0;
  const slow = await startNameServer(
    (asked) => {
      if (asked.toLowerCase() !== `_acme-challenge.${name}`) return {};
      looks += 1;
      const before = copied;
      void proofs(name).then((texts) => (copied = texts.flat()));
      return { txt: before };
    },
    { host, port: 53 },
  );
  onTestFinished(() => slow.stop());
  await dns.delegate(zone, `ns2.${zone}`, host);
  const site = await app.build.site();
  await add(site);
  expect(await issue(site, (await order(site, [name])).id)).toMatchObject({ status: 'success' });
  expect(looks).toBeGreaterThan(1);
});

test('an authority order that another order has used up is created again', async () => {
  const { db } = app.installation;
  const site = await app.build.site();
  await add(site);
  const name = `twice.${zone}`;
  const first = await order(site, [name]);
  expect(await issue(site, first.id)).toMatchObject({ status: 'success' });
  const { orderUrl, ca } = await db.certificateOrder.findFirstOrThrow({ where: { certificateId: first.id } });
  const second = await order(site, [name]);
  await db.certificateOrder.updateMany({
    where: { certificateId: second.id },
    data: { orderUrl, ca, placedAt: new Date() },
  });
  expect(await issue(site, second.id)).toMatchObject({ status: 'success', error: null });
  const pairs = await db.certificatePair.findMany({ where: { certificateId: { in: [first.id, second.id] } } });
  expect(new Set(pairs.map(({ fingerprint }) => fingerprint)).size).toBe(2);
});
