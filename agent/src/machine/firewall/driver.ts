// The interface of the packet filters of the kernel. Lists and ports are replaced as a whole.
// The sets `blocked` and `risk`, and the counters, survive a change of lists.
import { isEverything } from '@edgeloom/contract/common/net.ts';
import type { Socket } from '../../nginx/sockets.ts';

/** The zone's firewall lists and the ports that visitors use. */
export interface Lists {
  whitelist: readonly string[];
  blacklist: readonly string[];
  synProtection: boolean;
  sockets: readonly Pick<Socket, 'protocol' | 'port'>[];
}

export interface Blocked {
  /** An IPv4 address or an IPv6 /64: `203.0.113.7`, `2001:db8:1:2::/64`. */
  network: string;
  seconds: number;
}

export const causes = ['blocked', 'blacklist', 'risk', 'syn'] as const;
export type Cause = (typeof causes)[number];
export interface Tally {
  packets: number;
  bytes: number;
}
export type Counted = Record<Cause, Tally>;
export const nothing = (): Counted => ({
  blocked: { packets: 0, bytes: 0 },
  blacklist: { packets: 0, bytes: 0 },
  risk: { packets: 0, bytes: 0 },
  syn: { packets: 0, bytes: 0 },
});

/** Rules are evaluated in this order: whitelist, blocked, blacklist, risk, new connections. */
export interface Driver {
  readonly name: string;
  /** Throws where this machine does not support it. Leaves nothing behind. */
  probe: () => Promise<void>;
  /** Throws the reason of a failure. The former rules then stay in place. */
  apply: (lists: Lists) => Promise<void>;
  /** Replaces the set. */
  replaceBlocked: (entries: Iterable<Blocked>) => Promise<void>;
  /** An existing entry gets the new time. Removing a missing entry is no error. */
  changeBlocked: (add: readonly Blocked[], remove: readonly string[]) => Promise<void>;
  /** Fills a second set and swaps it in atomically. */
  replaceRisk: (networks: Iterable<string>) => Promise<void>;
  /** Whether all rules are in place. Another firewall removes them silently when it starts. */
  isApplied: () => Promise<boolean>;
  /** Packets dropped since the last call. */
  counted: () => Promise<Counted>;
  /** Removes all of our rules and sets. */
  remove: () => Promise<void>;
}

/** New connections per second and address. */
export const NEW_CONNECTIONS_PER_SECOND = 200;
export const MAX_BURST = 400;
/** Number of addresses whose connections are counted. */
export const MAX_COUNTED_ADDRESSES = 65_536;
/** Capacity of a set. */
export const MAX_ELEMENTS = 1_048_576;
/** Elements per call. Bounds memory, and the time that other callers wait. */
const BATCH = 20_000;
/** The longest timeout that ipset supports. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

export const families = ['ip', 'ip6'] as const;
export type Family = (typeof families)[number];
export const familyOf = (network: string): Family => (network.includes(':') ? 'ip6' : 'ip');
export const addressOf = (network: string) => network.split('/', 1)[0] ?? '';
const halves = { ip: ['0.0.0.0/1', '128.0.0.0/1'], ip6: ['::/1', '8000::/1'] };
/** ipset supports no /0, so it becomes its two halves. */
export const ofFamily = (networks: readonly string[], family: Family) => {
  const own = networks.filter((network) => familyOf(network) === family);
  return own.some(isEverything) ? halves[family] : own;
};
export const secondsOf = ({ seconds }: Blocked) => Math.min(Math.max(1, Math.ceil(seconds)), MAX_TIMEOUT_SECONDS);
export const portsOf = ({ sockets }: Lists, protocol: Socket['protocol']) => [
  ...new Set(sockets.flatMap((socket) => (socket.protocol === protocol ? socket.port : []))),
];

export function* batches<T>(all: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const one of all) {
    batch.push(one);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
