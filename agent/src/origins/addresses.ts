// Origin addresses as nginx resolves them: the same name servers, without addresses that the zone forbids.
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { embeddedIPv4, groupsOf } from '@edgeloom/contract/common/address.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';

type Policy = ZoneDoc['originPolicy'];

/** Returns a name's addresses, empty when it has none. Throws when no server could respond. */
export type LookUp = (name: string) => Promise<string[]>;

/** Without forbidden addresses. Throws the reason when none is left. */
export type Resolve = (name: string) => Promise<string[]>;

export function createResolver(lookUp: LookUp, policy: () => Policy | null): Resolve {
  return async (name) => {
    const rules = policy();
    if (rules === null) throw new Error('the zone has no origin policy yet');
    const addresses = await lookUp(name).catch(() => []);
    if (addresses.length === 0) throw new Error('the name cannot be resolved');
    const allowed = addresses.filter(allowedBy(rules));
    if (allowed.length === 0) throw new Error('no permitted address');
    return allowed;
  };
}

export function createLookUp(servers: readonly string[]): LookUp {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers(servers);
  return async (name) => {
    if (isIP(name) !== 0) return [name];
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const failed = found.find((one) => one.status === 'rejected' && !isAbsent(one.reason));
    if (addresses.length === 0 && failed?.status === 'rejected') throw failed.reason;
    return addresses;
  };
}

/** The name server responded that there is no such name or record. */
export const isAbsent = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA');

/** As in lua/edge/origin/policy.lua. */
export function allowedBy({ deny, allow, restricted = [] }: Policy): (address: string) => boolean {
  const [denied, excepted, never] = [listOf(deny), listOf(allow), listOf(restricted)];
  return (address) => {
    const embedded = embeddedIPv4(groupsOf(address.toLowerCase()) ?? []);
    const isIn = (list: BlockList) =>
      list.check(address, family(address)) || (embedded !== null && list.check(embedded, 'ipv4'));
    return !isIn(never) && ((embedded === null && !denied.check(address, family(address))) || isIn(excepted));
  };
}

const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, bits === undefined ? (isIP(network) === 6 ? 128 : 32) : Number(bits), family(network));
  }
  return list;
}
