// Public DNS lookups, with a test resolver and test name servers.
import { openDnsLookup } from './dns-lookup.ts';
import { expect, onTestFinished, test } from 'vitest';
import { nameServerHost, startNameServer, type Records } from '../../../../tests/support/fakes/dns-server.ts';

const name = '_acme-challenge.www.shop.test';
const loopback = { ORIGIN_ALLOW: ['127.0.0.0/8'], ORIGIN_DENY: [] };

async function nameServer(records: Record<string, Records>, at?: { host: string; port: number }) {
  const server = await startNameServer((asked) => records[asked.toLowerCase()], at);
  onTestFinished(() => server.stop());
  return server;
}
const proven = { [name]: { txt: ['proof'] } };
const authoritative = (records: Record<string, Records>) => nameServer(records, { host: nameServerHost(), port: 53 });
const hostOf = ({ address }: { address: string }) => address.replace(/:\d+$/, '');

test('all responding DNS servers must have the record; a server that returns REFUSED does not count', async () => {
  const [one, two, three] = [await authoritative(proven), await authoritative(proven), await authoritative({})];
  const known: Record<string, Records> = {
    'shop.test': { ns: ['one.test', 'two.test'] },
    'one.test': { a: [hostOf(one)] },
    'two.test': { a: [hostOf(two)] },
  };
  const resolver = await nameServer(known);
  const settings = { ...loopback, DNS_RESOLVERS: [resolver.address] };
  expect(await openDnsLookup(settings)(name, ['proof'])).toMatchObject({ isShown: true });
  two.behave('fail');
  const refused = await openDnsLookup(settings)(name, ['proof']);
  expect(refused.isShown).toBe(true);
  expect(refused.message).toContain(`two.test (${hostOf(two)}) does not answer (ESERVFAIL)`);
  known['two.test'] = { a: [hostOf(three)] };
  expect(await openDnsLookup(settings)(name, ['proof'])).toMatchObject({
    isShown: false,
    message: `${name}: one.test (${hostOf(one)}) shows the proof, two.test (${hostOf(three)}) shows no TXT record`,
  });
  expect(resolver.asked).not.toContain(`${name} TXT`);
});

test("a CNAME below a zone does not make the name part of the target's zone", async () => {
  const [own, liar] = [await authoritative({}), await authoritative(proven)];
  const { address } = await nameServer({
    'www.shop.test': { alias: 'zone.liar.test', ns: ['liar.test'] },
    'shop.test': { ns: ['own.test'] },
    'own.test': { a: [hostOf(own)] },
    'liar.test': { a: [hostOf(liar)] },
  });
  const sight = await openDnsLookup({ ...loopback, DNS_RESOLVERS: [address] })(name, ['proof']);
  expect(sight.isShown).toBe(false);
  expect(liar.asked).toEqual([]);
});

test("DNS servers that the outbound policy denies are not queried, and the resolver's answer counts", async () => {
  const own = await authoritative(proven);
  const records: Record<string, Records> = { 'shop.test': { ns: ['own.test'] }, 'own.test': { a: [hostOf(own)] } };
  const resolver = await nameServer(records);
  const look = openDnsLookup({ ORIGIN_ALLOW: [], ORIGIN_DENY: [], DNS_RESOLVERS: [resolver.address] });
  expect(await look(name, ['proof'])).toMatchObject({
    isShown: false,
    message: `${name}: the resolver shows no TXT record`,
  });
  Object.assign(records, proven);
  expect(await look(name, ['proof'])).toMatchObject({ isShown: true });
  resolver.behave('fail');
  expect(await look(name, ['proof'])).toMatchObject({ isShown: false });
  expect(own.asked).toEqual([]);
});
