// An origin's addresses as the edge sees them: by the same name servers, and without those that the zone forbids.
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Resolve } from './check.ts';

type Policy = ZoneDoc['originPolicy'];

export function resolving(servers: readonly string[], policy: () => Policy | null): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers(servers);
  return async (name) => {
    const rules = policy();
    if (rules === null) throw new Error('the zone says nothing of where origins may lie');
    const allowed = (await addressesOf(resolver, name)).filter((address) => isAllowed(rules, address));
    if (allowed.length === 0) throw new Error('it has no address that is allowed');
    return allowed;
  };
}

async function addressesOf(resolver: Resolver, name: string): Promise<string[]> {
  if (isIP(name) !== 0) return [name];
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (addresses.length === 0) throw new Error('its name is not known');
  return addresses;
}

const isAllowed = ({ deny, allow }: Policy, address: string) =>
  !listOf(deny).check(address, family(address)) || listOf(allow).check(address, family(address));

const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, bits === undefined ? (isIP(network) === 6 ? 128 : 32) : Number(bits), family(network));
  }
  return list;
}
