// Which traffic package covered which bytes. Nothing is deducted anywhere: the order of use is replayed over the usage
// ledger, so late logs and repeated calls give the figures of a ledger that was complete from the start.
import { BYTES_PER_GB } from '@edgeloom/contract/traffic/traffic.ts';
import { monthOf } from '../../statistics/billing-month.ts';

export interface TrafficPackage {
  id: string;
  /** Null: all products of the customer. */
  productId: string | null;
  /** Basic packages have their size in each month, extra ones once. */
  type: 'basic' | 'extra';
  bytes: bigint;
  /** Milliseconds since 1970, at full hours. Null: no end. */
  from: number;
  to: number | null;
  /** The end that the package was sold with. It decides the order of use, so that a later end changes no past month. */
  soldTo: number | null;
}

/** Bytes of a product in the hour that begins then. */
export interface HourlyUsage {
  hour: number;
  productId: string;
  bytes: bigint;
}

/** Sums of a product in a month. */
interface MonthUsage {
  bytes: bigint;
  /** Covered by packages. */
  packageBytes: bigint;
}

export interface Replay {
  /** By the month's start and the product: `1764518400000 0190…`. */
  months: ReadonlyMap<string, MonthUsage>;
  /** Bytes of a package used in a month, which is given by its start. */
  usedIn: (packageId: string, month: number) => bigint;
  /** Bytes of a package used in all months before, and in this one. */
  usedUntil: (packageId: string, month: number) => bigint;
}

export const monthKey = (month: number, productId: string) => `${month} ${productId}`;

const covers = ({ productId, from, to }: TrafficPackage, product: string, hour: number): boolean =>
  (productId === null || productId === product) && from <= hour && (to === null || hour < to);

/** Basic before extra, then by the end, then packages of one product, then the older id. */
export function inOrderOfUse(a: TrafficPackage, b: TrafficPackage): number {
  if (a.type !== b.type) return a.type === 'basic' ? -1 : 1;
  const [endOfA, endOfB] = [a.soldTo ?? Infinity, b.soldTo ?? Infinity];
  if (endOfA !== endOfB) return endOfA < endOfB ? -1 : 1;
  if ((a.productId === null) !== (b.productId === null)) return a.productId === null ? 1 : -1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/** Key of bytes that were used in months before those of the replay. */
const EARLIER = -Infinity;

/**
 * Usage is replayed by hour, and within an hour by product. Its order here does not matter. `usedEarlier`: what extra
 * packages had used when the first month of the replay began.
 */
export function replay(
  packages: readonly TrafficPackage[],
  usage: readonly HourlyUsage[],
  usedEarlier: ReadonlyMap<string, bigint> = new Map(),
): Replay {
  const ordered = packages.toSorted(inOrderOfUse);
  const inTime = usage.toSorted((a, b) => a.hour - b.hour || (a.productId < b.productId ? -1 : 1));
  const months = new Map<string, MonthUsage>();
  /** By package, then by the month's start. */
  const used = new Map(ordered.map(({ id }) => [id, new Map([[EARLIER, usedEarlier.get(id) ?? 0n]])]));
  const usedIn = (id: string, month: number) => used.get(id)?.get(month) ?? 0n;
  const usedUntil = (id: string, month: number) =>
    [...(used.get(id) ?? [])].reduce((sum, [at, bytes]) => (at <= month ? sum + bytes : sum), 0n);

  for (const { hour, productId, bytes } of inTime) {
    const month = monthOf(hour).from;
    let left = bytes;
    for (const each of ordered) {
      if (left === 0n) break;
      if (!covers(each, productId, hour)) continue;
      const room = each.bytes - (each.type === 'basic' ? usedIn(each.id, month) : usedUntil(each.id, month));
      const taken = room < left ? room : left;
      if (taken <= 0n) continue;
      left -= taken;
      used.get(each.id)?.set(month, usedIn(each.id, month) + taken);
    }
    const key = monthKey(month, productId);
    const sum = months.get(key) ?? { bytes: 0n, packageBytes: 0n };
    months.set(key, { bytes: sum.bytes + bytes, packageBytes: sum.packageBytes + bytes - left });
  }
  return { months, usedIn, usedUntil };
}

/** From 80 % of what is available. */
export const isWarning = (used: bigint, available: bigint): boolean => used * 100n >= available * 80n;

type TrafficState = 'normal' | 'warning' | 'limited';

export interface Allowance {
  state: TrafficState;
  /** All packages of this month have ended; without any, those of the month before. */
  hasEnded: boolean;
  /** The month of these packages, and the packages themselves: there is one mail of a kind about them. */
  month: number;
  packageIDs: readonly string[];
}

/** Packages that could be used in the month until now. */
const packagesOfMonth = (packages: readonly TrafficPackage[], product: string, month: number, now: number) =>
  packages.filter(
    ({ productId, from, to }) =>
      (productId === null || productId === product) && from <= now && (to === null || to > month),
  );

/**
 * The state of a product of the customer: warning from 80 % of what was available this month, limited when nothing is
 * left. A package that ended this month leaves nothing. Without any package of this month there is no limit.
 */
export function allowanceOf(
  packages: readonly TrafficPackage[],
  { usedIn, usedUntil }: Replay,
  productId: string,
  now: number,
): Allowance {
  const month = monthOf(now).from;
  const own = packagesOfMonth(packages, productId, month, now);
  if (own.length === 0) {
    const before = monthOf(month - 1).from;
    const packageIDs = packagesOfMonth(packages, productId, before, month - 1).map(({ id }) => id);
    return { state: 'normal', hasEnded: packageIDs.length > 0, month: before, packageIDs };
  }
  const valid = own.filter((each) => covers(each, productId, now));
  let [available, used] = [0n, 0n];
  for (const { id, type, bytes } of valid) {
    const usedNow = usedIn(id, month);
    used += usedNow;
    available += type === 'basic' ? bytes : bytes - (usedUntil(id, month) - usedNow);
  }
  const unused: TrafficState = isWarning(used, available) ? 'warning' : 'normal';
  return {
    state: used >= available ? 'limited' : unused,
    hasEnded: valid.length === 0,
    month,
    packageIDs: own.map(({ id }) => id),
  };
}

const GB = BigInt(BYTES_PER_GB);

/** Cents for bytes beyond packages, rounded half up. */
export const priceOf = (bytes: bigint, centsPerGB: number): bigint => (bytes * BigInt(centsPerGB) + GB / 2n) / GB;
