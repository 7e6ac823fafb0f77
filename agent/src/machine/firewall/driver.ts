// What drops packets for us. Each way of the kernel keeps four things apart: lists and ports, which are written anew as a
// whole; the sets `blocked` and `risk`, which others fill and which stay when lists change; and what was counted.
import type { Socket } from '../../nginx/sockets.ts';

/** Of the zone's firewall, and where visitors come in. */
export interface Lists {
  whitelist: readonly string[];
  blacklist: readonly string[];
  synProtection: boolean;
  sockets: readonly Pick<Socket, 'protocol' | 'port'>[];
}

export interface Blocked {
  /** An address of IPv4, or of IPv6 a network of 64 bits: `203.0.113.7`, `2001:db8:1:2::/64`. */
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

/** In the order in which they decide: whitelist, blocked, blacklist, risk, new connections. */
export interface Driver {
  readonly name: string;
  /** Throws where this machine cannot do it; nothing stays of the attempt. */
  tryOut: () => Promise<void>;
  /** Throws why it cannot be; then what stood before stands. */
  apply: (lists: Lists) => Promise<void>;
  /** What it holds from now on is this and nothing else. */
  replaceBlocked: (entries: Iterable<Blocked>) => Promise<void>;
  /** One that is there takes the new time; that one is not there is no fault. */
  changeBlocked: (add: readonly Blocked[], remove: readonly string[]) => Promise<void>;
  /** Filled beside the old set and switched at once. */
  replaceRisk: (networks: Iterable<string>) => Promise<void>;
  /** Whether all rules stand. Another firewall that is started anew takes them away without a word. */
  stands: () => Promise<boolean>;
  /** What was dropped since it was last asked. */
  counted: () => Promise<Counted>;
  /** Nothing of ours is left, whatever there was. */
  remove: () => Promise<void>;
}

/** New connections of one address. */
export const PER_SECOND = 200;
export const AT_ONCE = 400;
/** Of addresses whose connections are counted. */
export const HASTY_ADDRESSES = 65_536;
/** Of a set that others fill. */
export const MOST = 1_048_576;
/** Elements of one call: what a program holds in memory, and how long the others wait. */
const BATCH = 20_000;
/** What ipset can count down. */
const LONGEST_S = 2_147_483;

export const families = ['ip', 'ip6'] as const;
export type Family = (typeof families)[number];
export const familyOf = (network: string): Family => (network.includes(':') ? 'ip6' : 'ip');
export const addressOf = (network: string) => network.split('/', 1)[0] ?? '';
export const ofFamily = (networks: readonly string[], family: Family) =>
  networks.filter((network) => familyOf(network) === family);
export const secondsOf = ({ seconds }: Blocked) => Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_S);
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
