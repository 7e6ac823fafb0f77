// Converts wanted sets into a provider's records.
import ipaddr from 'ipaddr.js';
import { HostAddress, isAddress } from '@edgeloom/contract/common/net.ts';
import type { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import type { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { plainValue } from '../dns/names.ts';
import type { DnsKey, DnsRecords } from '../dns/account.ts';
import { luaAnswer } from './lua-answers.ts';
import type { OfferedLines } from './offered-lines.ts';
import type { WantedSet } from './sets.ts';

export const keyOf = ({ type, line = '' }: Pick<DnsKey, 'type' | 'line'>) => `${type} ${line}`;
export function keyIn(key: string): Pick<DnsKey, 'line'> & { type: string } {
  const at = key.indexOf(' ');
  const line = key.slice(at + 1);
  return { type: key.slice(0, at), ...(line !== '' && { line }) };
}

/** Providers that allow an alias in one line beside other types in another. */
const mixesAliases: ReadonlySet<DnsProvider> = new Set(['dnspod', 'aliDNS']);

/** Maximum number of weighted values per set. */
const mostWeighted: Partial<Record<DnsProvider, number>> = { huaweiCloud: 20, route53: 100 };

/** The account's capabilities, as discovered. */
export interface Offer {
  lines: OfferedLines;
  weighting: Weighting;
}

/** Lines that the provider does not support are dropped. The default line covers them. */
export function recordsOf(
  provider: DnsProvider,
  { lines, weighting }: Offer,
  name: string,
  wanted: readonly WantedSet[],
): DnsRecords[] {
  const sets = withoutMixing(
    provider,
    wanted.filter(({ line }) => line === 'default' || line in lines).map((set) => checked(set)),
  );
  const isShared =
    weighting === 'eachLine' || (weighting === 'oneLine' && sets.every(({ line }) => line === 'default'));
  if (provider === 'powerDNS' && sets.some((set) => set.line !== 'default' || (isShared && isWeighted(set))))
    return programs(name, sets);
  return sets.map((set) => {
    const { type, line, ttlSeconds } = set;
    const their = line === 'default' ? undefined : lines[line];
    const weights = new Map(set.values.map(({ value, weight }) => [value, weight]));
    const hasWeights = isShared && isWeighted(set) && weights.size <= (mostWeighted[provider] ?? Infinity);
    return {
      name,
      type,
      values: [...weights.keys()],
      ttlSeconds,
      ...(hasWeights && { weights: [...weights.values()] }),
      ...(their !== undefined && { line: their }),
    };
  });
}

/** One LUA record covering both address families. An alias stays an alias. */
function programs(name: string, sets: readonly WantedSet[]): DnsRecords[] {
  const ttlSeconds = Math.min(...sets.map((set) => set.ttlSeconds));
  const values = (['A', 'AAAA'] as const).flatMap((type) => {
    const own = sets.filter((set) => set.type === type);
    return own.length === 0 ? [] : [luaAnswer(type, own)];
  });
  return [{ name, type: 'LUA', values, ttlSeconds }];
}

function withoutMixing(provider: DnsProvider, sets: WantedSet[]): WantedSet[] {
  if (mixesAliases.has(provider)) return sets;
  const hasAlias = sets.some(({ type }) => type === 'CNAME');
  if (!hasAlias) return sets;
  // The default line decides. PowerDNS runs no LUA for names that have only aliases.
  const everybody = sets.filter(({ line }) => line === 'default');
  const isAlias = everybody.length === 0 || everybody.some(({ type }) => type === 'CNAME');
  const sameType = sets.filter(({ type }) => (type === 'CNAME') === isAlias);
  return isAlias && provider === 'powerDNS' ? sameType.filter(({ line }) => line === 'default') : sameType;
}

const isWeighted = ({ values }: WantedSet) => values.some(({ weight }) => weight !== values[0]?.weight);

/** Normalizes values as providers return them, and rejects others before use. */
function checked(set: WantedSet): WantedSet {
  const { type } = set;
  const values = set.values.map(({ value, weight }) => ({ value: plainValue(type, value), weight }));
  for (const { value } of values) if (!isOf(type, value)) throw new Error(`${value} is no ${type} value`);
  // An alias has one value.
  return { ...set, values: type === 'CNAME' ? values.slice(0, 1) : values };
}
function isOf(type: WantedSet['type'], value: string): boolean {
  if (type === 'A') return ipaddr.IPv4.isValidFourPartDecimal(value);
  if (type === 'AAAA') return ipaddr.IPv6.isValid(value);
  return !isAddress(value) && HostAddress.safeParse(value).success;
}

/** Whether the existing record matches. A raised TTL of a small plan is no difference. */
export const isSame = (there: DnsRecords | undefined, wanted: DnsRecords): boolean =>
  there !== undefined &&
  there.ttlSeconds >= wanted.ttlSeconds &&
  there.values.length === wanted.values.length &&
  textOf(there) === textOf(wanted);
const textOf = ({ values, weights }: DnsRecords) =>
  values
    .map((value, at) => `${value} ${weights?.[at] ?? ''}`)
    .toSorted()
    .join('\n');
