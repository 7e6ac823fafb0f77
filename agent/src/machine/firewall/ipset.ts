// The firewall by ipset and iptables, for CentOS 7 and wherever nft does not work.
// Rules are in the table mangle, before those of other firewalls.
import { existsSync } from 'node:fs';
import { run } from '../programs.ts';
import {
  addressOf,
  MAX_BURST,
  batches,
  causes,
  families,
  familyOf,
  MAX_ELEMENTS,
  nothing,
  ofFamily,
  NEW_CONNECTIONS_PER_SECOND,
  portsOf,
  secondsOf,
} from './driver.ts';
import type { Blocked, Cause, Counted, Driver, Family, Lists } from './driver.ts';

const SETS = 'edgeloom_';
const CHAIN = 'EDGELOOM_FIREWALL';
const VISITORS = 'EDGELOOM_VISITORS';
/** A chain per cause that is never rewritten, because its counters count the drops. */
const dropping: Record<Cause, string> = {
  blocked: 'EDGELOOM_BLOCKED',
  blacklist: 'EDGELOOM_BLACKLIST',
  risk: 'EDGELOOM_RISK',
  syn: 'EDGELOOM_SYN',
};
const program = { ip: 'iptables', ip6: 'ip6tables' } as const;
const inet = { ip: 'inet', ip6: 'inet6' } as const;

const set = (name: string, family: Family) => `${SETS}${name}_${family}`;
const ports = (protocol: 'tcp' | 'udp') => `${SETS}${protocol}`;
/** A set for lists that are replaced as a whole. */
const networkSet = (name: string) => `create ${name} hash:net family ${inet[familyIn(name)]} maxelem ${MAX_ELEMENTS}`;
const familyIn = (name: string): Family => (/_ip6(?:_next)?$/.test(name) ? 'ip6' : 'ip');
const portSet = (name: string) => `create ${name} bitmap:port range 0-65535`;
const blockedSet = (family: Family) =>
  `create ${set('blocked', family)} hash:ip family ${inet[family]}${family === 'ip6' ? ' netmask 64' : ''} timeout 0 maxelem ${MAX_ELEMENTS}`;

export function ipset(): Driver {
  let last = nothing();
  return {
    name: 'ipset',
    async probe() {
      const names = ['trial', 'trial_ports'].map((name) => SETS + name);
      const [networks = '', served = ''] = names;
      try {
        await restore(networkSet(networks), portSet(served));
        await rules('ip', [
          ':EDGELOOM_TRIAL - [0:0]',
          `-A EDGELOOM_TRIAL -p tcp -m set --match-set ${served} dst -m set --match-set ${networks} src -j DROP`,
          `-A EDGELOOM_TRIAL ${hasty('ip')} -j DROP`,
        ]);
      } finally {
        await removeChains('ip', ['EDGELOOM_TRIAL']);
        await removeSets(names);
      }
    },
    async apply(lists) {
      const swaps = [...families.flatMap((family) => listsOf(lists, family)), ...portsIn(lists)];
      await restore(
        ...families.flatMap((family) => [blockedSet(family), networkSet(set('risk', family))]),
        ...swaps.flatMap(({ name, create, elements }) => replaced(name, create, elements)),
      );
      for (const family of present()) await applyRules(family, lists);
    },
    async replaceBlocked(entries) {
      let flush = families.map((family) => `flush ${set('blocked', family)}`);
      for (const batch of batches(entries)) {
        await restore(...flush, ...batch.map(added));
        flush = [];
      }
      if (flush.length > 0) await restore(...flush);
    },
    async changeBlocked(add, remove) {
      // -exist also ignores entries that are missing.
      const gone = remove.map((network) => `del ${set('blocked', familyOf(network))} ${addressOf(network)}`);
      await restore(...gone, ...add.map(added));
    },
    async replaceRisk(networks) {
      const names = families.map((family) => set('risk', family));
      await restore(...names.flatMap((name) => [networkSet(`${name}_next`), `flush ${name}_next`]));
      for (const batch of batches(networks))
        await restore(...batch.map((network) => `add ${set('risk', familyOf(network))}_next ${network}`));
      await restore(...names.flatMap((name) => [`swap ${name} ${name}_next`, `destroy ${name}_next`]));
    },
    async isApplied() {
      const all = await Promise.all(present().map((family) => listed(family, '-S').catch(() => '')));
      return all.every((rules) => rules.includes(`-A INPUT -j ${CHAIN}`) && rules.includes(`-A ${CHAIN} `));
    },
    async counted() {
      const all = await Promise.all(present().map((family) => listed(family, '-L', '-v', '-x', '-n').catch(() => '')));
      const now = nothing();
      for (const listing of all)
        for (const cause of causes) {
          const row = new RegExp(`^Chain ${dropping[cause]} .*\\n.*\\n\\s*(\\d+)\\s+(\\d+) DROP`, 'm').exec(listing);
          now[cause].packets += Number(row?.[1] ?? 0);
          now[cause].bytes += Number(row?.[2] ?? 0);
        }
      const since = difference(last, now);
      last = now;
      return since;
    },
    async remove() {
      const output = await run('ipset', ['list', '-n']).catch(() => '');
      const sets = output.split('\n').filter((name) => name.startsWith(SETS));
      // Without sets there are no rules either.
      if (sets.length === 0) return;
      for (const family of families) {
        await iptables(family, '-D', 'INPUT', '-j', CHAIN).catch(() => undefined);
        await removeChains(family, [CHAIN, VISITORS, ...Object.values(dropping)]);
      }
      await removeSets(sets);
    },
  };
}

interface Swap {
  name: string;
  create: (name: string) => string;
  elements: readonly (string | number)[];
}

const listsOf = ({ whitelist, blacklist }: Lists, family: Family): Swap[] => [
  { name: set('white', family), create: networkSet, elements: ofFamily(whitelist, family) },
  { name: set('black', family), create: networkSet, elements: ofFamily(blacklist, family) },
];

const portsIn = (lists: Lists): Swap[] =>
  (['tcp', 'udp'] as const).map((protocol) => ({
    name: ports(protocol),
    create: portSet,
    elements: portsOf(lists, protocol),
  }));

/** Fills a temporary set and swaps it in, so that the set is never incomplete. */
function replaced(name: string, create: Swap['create'], elements: Swap['elements']): string[] {
  const next = `${name}_next`;
  return [
    create(name),
    create(next),
    `flush ${next}`,
    ...elements.map((element) => `add ${next} ${element}`),
    `swap ${name} ${next}`,
    `destroy ${next}`,
  ];
}

const added = (entry: Blocked) =>
  `add ${set('blocked', familyOf(entry.network))} ${addressOf(entry.network)} timeout ${secondsOf(entry)}`;

async function applyRules(family: Family, { synProtection }: Lists): Promise<void> {
  const there = await listed(family, '-S').catch(() => '');
  const of = (name: string) => `-m set --match-set ${set(name, family)} src`;
  await rules(family, [
    ...Object.values(dropping).flatMap((name) =>
      there.includes(`-A ${name} -j DROP`) ? [] : [`:${name} - [0:0]`, `-A ${name} -j DROP`],
    ),
    `:${VISITORS} - [0:0]`,
    `-A ${VISITORS} ${of('white')} -j RETURN`,
    `-A ${VISITORS} ${of('blocked')} -j ${dropping.blocked}`,
    `-A ${VISITORS} ${of('black')} -j ${dropping.blacklist}`,
    `-A ${VISITORS} ${of('risk')} -j ${dropping.risk}`,
    ...(synProtection ? [`-A ${VISITORS} ${hasty(family)} -j ${dropping.syn}`] : []),
    `:${CHAIN} - [0:0]`,
    `-A ${CHAIN} -i lo -j RETURN`,
    ...(['tcp', 'udp'] as const).map(
      (protocol) => `-A ${CHAIN} -p ${protocol} -m set --match-set ${ports(protocol)} dst -j ${VISITORS}`,
    ),
    ...(there.includes(`-A INPUT -j ${CHAIN}`) ? [] : [`-I INPUT 1 -j ${CHAIN}`]),
  ]);
}

/**
 * Addresses whose connections are counted. A full hashlimit table drops every new address, unlike nftables, so a
 * flood from forged addresses must not fill it. An entry may expire once its burst is fully restored.
 */
const COUNTED_ADDRESSES = 262_144;
const FORGOTTEN_AFTER_MS = (1000 * MAX_BURST) / NEW_CONNECTIONS_PER_SECOND;
const hasty = (family: Family) =>
  `-p tcp --syn -m hashlimit --hashlimit-above ${NEW_CONNECTIONS_PER_SECOND}/sec --hashlimit-burst ${MAX_BURST} --hashlimit-mode srcip ` +
  `--hashlimit-name ${SETS}${family} --hashlimit-htable-max ${COUNTED_ADDRESSES} --hashlimit-htable-expire ${FORGOTTEN_AFTER_MS}`;

/** A lower counter means that it was reset. */
function difference(before: Counted, now: Counted): Counted {
  const since = nothing();
  for (const cause of causes) {
    const isAnew = now[cause].packets < before[cause].packets;
    since[cause].packets = now[cause].packets - (isAnew ? 0 : before[cause].packets);
    since[cause].bytes = now[cause].bytes - (isAnew ? 0 : before[cause].bytes);
  }
  return since;
}

/** A kernel without IPv6 has no tables for it. */
const present = () => families.filter((family) => family === 'ip' || existsSync('/proc/net/if_inet6'));

/** One transaction per address family. Declaring a chain empties it. */
const rules = (family: Family, lines: readonly string[]) =>
  run(`${program[family]}-restore`, ['--noflush'], `${['*mangle', ...lines, 'COMMIT'].join('\n')}\n`);

const iptables = (family: Family, ...args: string[]) => run(program[family], ['-w', '-t', 'mangle', ...args]);
const listed = (family: Family, ...args: string[]) => iptables(family, ...args);

/** A chain that another one still jumps to cannot be deleted. */
async function removeChains(family: Family, names: readonly string[]): Promise<void> {
  for (const command of ['-F', '-X'])
    for (const name of names) await iptables(family, command, name).catch(() => undefined);
}

async function removeSets(names: readonly string[]): Promise<void> {
  for (const name of names) await run('ipset', ['destroy', name]).catch(() => undefined);
}

const restore = (...lines: string[]) => run('ipset', ['restore', '-exist'], `${lines.join('\n')}\n`);
