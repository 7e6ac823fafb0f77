// The firewall by nftables, in one table. Each change is one transaction, so rules are never missing.
// Large sets are hashes: adding to an interval set makes nft read it first, 760 MB for half a million ranges.
import { reason } from '../../log.ts';
import { run } from '../programs.ts';
import {
  addressOf,
  MAX_BURST,
  batches,
  causes,
  families,
  familyOf,
  MAX_COUNTED_ADDRESSES,
  MAX_ELEMENTS,
  nothing,
  ofFamily,
  NEW_CONNECTIONS_PER_SECOND,
  portsOf,
  secondsOf,
} from './driver.ts';
import type { Blocked, Driver, Family, Lists } from './driver.ts';

const TABLE = 'edgeloom_firewall';
const type = { ip: 'ipv4_addr', ip6: 'ipv6_addr' } as const;
const bits = { ip: 32, ip6: 128 } as const;

export function nftables(): Driver {
  return {
    name: 'nftables',
    async probe() {
      const lists = {
        whitelist: [],
        blacklist: [],
        synProtection: true,
        sockets: [{ protocol: 'tcp', port: 80 }],
      } as const;
      await nft(['-c'], rulesOf(lists, 'edgeloom_trial'));
      await ours('chains');
    },
    async apply(lists) {
      await nft([], rulesOf(lists));
    },
    async replaceBlocked(entries) {
      let flush = families.map((family) => `flush set inet ${TABLE} blocked_${family}`);
      for (const batch of batches(entries)) {
        await nft([], lines(...flush, ...families.flatMap((family) => renewed(family, batch))));
        flush = [];
      }
      if (flush.length > 0) await nft([], lines(...flush));
    },
    async changeBlocked(add, remove) {
      const gone = remove.map((network) => ({ network, seconds: 1 }));
      await nft([], lines(...families.flatMap((family) => [...withdrawn(family, gone), ...renewed(family, add)])));
    },
    async replaceRisk(networks) {
      const name = `risk_${Date.now().toString(36)}`;
      // Removes sets that a killed process left behind.
      const old = (await risksThere()).map((set) => `delete set inet ${TABLE} ${set}`);
      const lengths = new Set<string>();
      for (const batch of batches(networks)) {
        const sets = byLength(batch);
        for (const length of sets.keys()) lengths.add(length);
        await nft([], lines(...Array.from(sets, ([length, addresses]) => filled(`${name}_${length}`, addresses))));
      }
      await nft(
        [],
        lines(`flush chain inet ${TABLE} risk`, ...[...lengths].map((length) => riskRule(name, length)), ...old),
      );
    },
    async isApplied() {
      return (await ours('chains')).includes('chain arriving');
    },
    async counted() {
      const output = await nft(['reset', 'counters', 'table', 'inet', TABLE]).catch(() => '');
      const counted = nothing();
      for (const cause of causes) {
        const [, packets, bytes] = new RegExp(`counter ${cause} \\{\\s+packets (\\d+) bytes (\\d+)`).exec(output) ?? [];
        counted[cause] = { packets: Number(packets ?? 0), bytes: Number(bytes ?? 0) };
      }
      return counted;
    },
    async remove() {
      if ((await ours('chains')) !== '') await nft([], lines(`delete table inet ${TABLE}`));
    },
  };
}

/** All rules. Contents of `blocked` and `risk` and the counters stay; missing ones are created. */
function rulesOf(lists: Lists, table = TABLE): string {
  const { whitelist, blacklist, synProtection } = lists;
  const covered = (['tcp', 'udp'] as const).flatMap((protocol) => {
    const ports = portsOf(lists, protocol);
    return ports.length > 0 ? [`    ${protocol} dport { ${ports.join(', ')} } jump visitors`] : [];
  });
  const hasty = (family: Family) =>
    `    tcp flags & (fin | syn | rst | ack) == syn add @hasty_${family} { ${family} saddr limit rate over ${NEW_CONNECTIONS_PER_SECOND}/second burst ${MAX_BURST} packets } counter name syn drop`;
  return lines(
    `table inet ${table} {`,
    ...causes.map((cause) => `  counter ${cause} { }`),
    ...families.flatMap((family) => [
      `  set white_${family} { type ${type[family]}; flags interval; auto-merge; }`,
      `  set black_${family} { type ${type[family]}; flags interval; auto-merge; }`,
      `  set blocked_${family} { type ${type[family]}; size ${MAX_ELEMENTS}; flags timeout; }`,
      `  set hasty_${family} { type ${type[family]}; size ${MAX_COUNTED_ADDRESSES}; flags dynamic,timeout; timeout 10s; }`,
    ]),
    '  chain risk { }',
    '  chain visitors { }',
    '  chain arriving { type filter hook input priority filter - 10; policy accept; }',
    '}',
    `flush chain inet ${table} visitors`,
    `flush chain inet ${table} arriving`,
    ...families.flatMap((family) => [
      `flush set inet ${table} white_${family}`,
      `flush set inet ${table} black_${family}`,
      ...elements(`white_${family}`, ofFamily(whitelist, family), table),
      ...elements(`black_${family}`, ofFamily(blacklist, family), table),
    ]),
    `table inet ${table} {`,
    '  chain visitors {',
    '    ip saddr @white_ip accept',
    '    ip6 saddr @white_ip6 accept',
    '    ip saddr @blocked_ip counter name blocked drop',
    '    ip6 saddr & ffff:ffff:ffff:ffff:: @blocked_ip6 counter name blocked drop',
    '    ip saddr @black_ip counter name blacklist drop',
    '    ip6 saddr @black_ip6 counter name blacklist drop',
    '    jump risk',
    ...(synProtection ? families.map(hasty) : []),
    '  }',
    '  chain arriving {',
    '    iif lo accept',
    ...covered,
    '  }',
    '}',
  );
}

const lines = (...all: string[]) => `${all.join('\n')}\n`;

const elements = (set: string, texts: readonly string[], table = TABLE) =>
  texts.length > 0 ? [`add element inet ${table} ${set} { ${texts.join(',\n')} }`] : [];

/** Adding an existing element keeps its old timeout, and deleting a missing one fails the transaction. */
function renewed(family: Family, entries: readonly Blocked[]): string[] {
  const timed = timesOf(family, entries);
  return [...withdrawn(family, entries), ...elements(`blocked_${family}`, timed)];
}

function withdrawn(family: Family, entries: readonly Blocked[]): string[] {
  const set = `blocked_${family}`;
  const there = elements(set, timesOf(family, entries));
  const addresses = entries.flatMap(({ network }) => (familyOf(network) === family ? addressOf(network) : []));
  return there.length > 0 ? [...there, `delete element inet ${TABLE} ${set} { ${addresses.join(',\n')} }`] : [];
}

const timesOf = (family: Family, entries: readonly Blocked[]) =>
  entries.flatMap((entry) =>
    familyOf(entry.network) === family ? `${addressOf(entry.network)} timeout ${secondsOf(entry)}s` : [],
  );

/** One hash set per prefix length, as ipset does internally. */
function byLength(networks: readonly string[]): Map<string, string[]> {
  const sets = new Map<string, string[]>();
  for (const network of networks) {
    const family = familyOf(network);
    const [address = '', length = bits[family]] = network.split('/');
    const key = `${family}_${length}`;
    const set = sets.get(key);
    if (set === undefined) sets.set(key, [address]);
    else set.push(address);
  }
  return sets;
}

const familyIn = (name: string): Family => (name.includes('ip6_') ? 'ip6' : 'ip');

const filled = (set: string, addresses: readonly string[]) =>
  lines(`add set inet ${TABLE} ${set} { type ${type[familyIn(set)]}; }`, ...elements(set, addresses));

function riskRule(name: string, key: string): string {
  const family = familyIn(key);
  const length = Number(key.split('_')[1]);
  const mask = length === bits[family] ? '' : ` & ${maskOf(family, length)}`;
  return `add rule inet ${TABLE} risk ${family} saddr${mask} @${name}_${key} counter name risk drop`;
}

function maskOf(family: Family, length: number): string {
  const part = family === 'ip' ? 8 : 16;
  const parts = Array.from({ length: bits[family] / part }, (_, i) => {
    const set = Math.min(Math.max(0, length - i * part), part);
    return 2 ** part - 2 ** (part - set);
  });
  return family === 'ip' ? parts.join('.') : parts.map((group) => group.toString(16)).join(':');
}

const risksThere = async () =>
  Array.from((await ours('sets')).matchAll(/^\s*set (risk_\w+) \{/gm), ([, name = '']) => name);

/** nft's listing of our table, empty when there is none. Other ways of listing read every element of every set. */
async function ours(what: 'chains' | 'sets'): Promise<string> {
  const tables = (await nft(['-t', 'list', what])).split(/^table /m);
  return tables.find((table) => table.startsWith(`inet ${TABLE} {`)) ?? '';
}

/** Limits error output, because nft repeats its input, which may be millions of elements. */
async function nft(args: readonly string[], input?: string): Promise<string> {
  try {
    return await run('nft', input === undefined ? args : [...args, '-f', '-'], input);
  } catch (error) {
    throw new Error(reason(error).split('\n', 1)[0], { cause: error });
  }
}
