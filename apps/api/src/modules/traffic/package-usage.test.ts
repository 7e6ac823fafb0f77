import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { billingMonth, monthOf } from '../../statistics/billing-month.ts';
import {
  allowanceOf,
  inOrderOfUse,
  monthKey,
  priceOf,
  replay,
  type HourlyUsage,
  type TrafficPackage,
} from './package-usage.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { from: JANUARY } = billingMonth(2026, 1);
const { from: FEBRUARY } = billingMonth(2026, 2);

const basic = (over: Partial<TrafficPackage> = {}): TrafficPackage => ({
  id: 'basic',
  productId: null,
  type: 'basic',
  bytes: 100n,
  from: JANUARY,
  to: null,
  soldTo: null,
  ...over,
});
const extra = (over: Partial<TrafficPackage> = {}): TrafficPackage =>
  basic({ id: 'extra', type: 'extra', soldTo: over.to ?? null, ...over });
const use = (hour: number, bytes: bigint, productId = 'p'): HourlyUsage => ({ hour, productId, bytes });

describe('a month', () => {
  test('is that of UTC+8', () => {
    expect(new Date(JANUARY).toISOString()).toBe('2025-12-31T16:00:00.000Z');
    expect(monthOf(JANUARY - 1)).toMatchObject({ year: 2025, month: 12, to: JANUARY });
    expect(monthOf(JANUARY)).toEqual({ year: 2026, month: 1, from: JANUARY, to: FEBRUARY });
  });
});

describe('packages are used', () => {
  test('the basic one first, again in each month, then extra ones by their end', () => {
    const packages = [extra({ id: 'b', to: FEBRUARY + 9 * DAY }), extra({ id: 'a', to: FEBRUARY + 5 * DAY }), basic()];
    const { months, usedIn, usedUntil } = replay(packages, [
      use(JANUARY, 150n),
      use(FEBRUARY - HOUR, 30n),
      use(FEBRUARY, 130n),
    ]);
    expect(['basic', 'a', 'b'].map((id) => usedIn(id, JANUARY))).toEqual([100n, 80n, 0n]);
    expect(['basic', 'a', 'b'].map((id) => usedIn(id, FEBRUARY))).toEqual([100n, 20n, 10n]);
    expect(usedUntil('a', FEBRUARY)).toBe(100n);
    expect(months.get(monthKey(FEBRUARY, 'p'))).toEqual({ bytes: 130n, packageBytes: 130n });
  });

  test('within their time and for their product only', () => {
    const packages = [extra({ productId: 'p', from: JANUARY + HOUR, to: JANUARY + 2 * HOUR })];
    const hours = [
      use(JANUARY, 1n),
      use(JANUARY + HOUR, 1n),
      use(JANUARY + HOUR, 1n, 'q'),
      use(JANUARY + 2 * HOUR, 1n),
    ];
    expect(replay(packages, hours).usedIn('extra', JANUARY)).toBe(1n);
  });

  test('those of one product before those of all, if they end together', () => {
    const packages = [extra({ id: 'all' }), extra({ id: 'one', productId: 'p' })];
    expect(packages.toSorted(inOrderOfUse).map(({ id }) => id)).toEqual(['one', 'all']);
  });
});

describe('the state', () => {
  const stateOf = (packages: TrafficPackage[], usage: HourlyUsage[], now = JANUARY + DAY) =>
    allowanceOf(packages, replay(packages, usage), 'p', now).state;

  test('is a warning from 80 %, and limited when nothing is left', () => {
    for (const [bytes, state] of [
      [79n, 'normal'],
      [80n, 'warning'],
      [99n, 'warning'],
      [100n, 'limited'],
      [500n, 'limited'],
    ] as const)
      expect(stateOf([basic()], [use(JANUARY, bytes)])).toBe(state);
  });

  test('is normal without any package, in a new month, and after another package', () => {
    expect(stateOf([], [use(JANUARY, 500n)])).toBe('normal');
    expect(stateOf([basic({ productId: 'q' })], [use(JANUARY, 500n)])).toBe('normal');
    expect(stateOf([basic()], [use(JANUARY, 500n)], FEBRUARY)).toBe('normal');
    expect(stateOf([basic(), extra({ from: JANUARY + HOUR })], [use(JANUARY, 500n)])).toBe('normal');
  });

  test('is limited from the end of the only package until the end of the month', () => {
    const packages = [extra({ to: JANUARY + HOUR })];
    expect(stateOf(packages, [])).toBe('limited');
    expect([FEBRUARY - 1, FEBRUARY].map((now) => stateOf(packages, [], now))).toEqual(['limited', 'normal']);
    expect(stateOf([extra({ to: FEBRUARY })], [], FEBRUARY)).toBe('normal');
    expect(stateOf([extra({ from: JANUARY + 2 * DAY })], [])).toBe('normal');
  });

  test('counts what an extra package has left from the month before', () => {
    const packages = [extra({ bytes: 100n })];
    const january = [use(JANUARY, 90n)];
    expect(stateOf(packages, [...january, use(FEBRUARY, 7n)], FEBRUARY + DAY)).toBe('normal');
    expect(stateOf(packages, [...january, use(FEBRUARY, 8n)], FEBRUARY + DAY)).toBe('warning');
  });
});

test('a price is rounded to the nearest cent, half up, without floating point', () => {
  expect([1_000_000_000n, 499_999_999n, 500_000_000n, 0n].map((bytes) => priceOf(bytes, 1))).toEqual([1n, 0n, 1n, 0n]);
  expect(priceOf(9_000_000_000_000_001n, 99_999_999)).toBe(899_999_991_000_000n);
});

// Bytes are spent one by one by the oracle, each by the first package that still has room.
describe('for random packages and usage over three months', () => {
  const hourOf = fc.integer({ min: 0, max: 89 * 24 }).map((hours) => JANUARY + hours * HOUR);
  const productOf = fc.constantFrom('p', 'q');
  const packagesOf = fc
    .array(
      fc.record({
        productId: fc.option(productOf),
        type: fc.constantFrom('basic' as const, 'extra' as const),
        bytes: fc.bigInt({ min: 1n, max: 60n }),
        from: hourOf,
        to: fc.option(hourOf),
      }),
      { maxLength: 6 },
    )
    .map((all) => all.map((each, i): TrafficPackage => ({ ...each, id: `k${i}`, soldTo: each.to })));
  const usageOf = fc.array(fc.record({ hour: hourOf, productId: productOf, bytes: fc.bigInt({ min: 0n, max: 25n }) }), {
    maxLength: 40,
  });

  function oracle(packages: readonly TrafficPackage[], usage: readonly HourlyUsage[]) {
    const spent: { id: string | null; month: number; productId: string }[] = [];
    const byHour = [...usage].sort((a, b) => a.hour - b.hour || a.productId.localeCompare(b.productId));
    for (const { hour, productId, bytes } of byHour)
      for (let i = 0n; i < bytes; i += 1n) {
        const { from: month } = monthOf(hour);
        const usable = packages.filter((each) => {
          if (each.productId !== null && each.productId !== productId) return false;
          if (hour < each.from || (each.to !== null && hour >= each.to)) return false;
          const before = spent.filter(({ id, month: at }) => id === each.id && (each.type === 'extra' || at === month));
          return BigInt(before.length) < each.bytes;
        });
        const rankOf = (each: TrafficPackage) => [
          each.type === 'basic' ? 0 : 1,
          each.soldTo ?? Number.MAX_SAFE_INTEGER,
          each.productId === null ? 1 : 0,
          Number(each.id.slice(1)),
        ];
        const [first] = usable.sort((a, b) => {
          const other = rankOf(b);
          return (
            rankOf(a)
              .map((part, n) => part - (other[n] ?? 0))
              .find((difference) => difference !== 0) ?? 0
          );
        });
        spent.push({ id: first?.id ?? null, month, productId });
      }
    return spent;
  }

  test('each byte is covered once, by the package whose turn it is', () => {
    fc.assert(
      fc.property(packagesOf, usageOf, (packages, usage) => {
        const { months, usedIn } = replay(packages, usage);
        const spent = oracle(packages, usage);
        for (const { from: month } of [1, 2, 3].map((number) => billingMonth(2026, number))) {
          for (const { id } of packages)
            expect(usedIn(id, month)).toBe(
              BigInt(spent.filter((each) => each.id === id && each.month === month).length),
            );
          for (const product of ['p', 'q']) {
            const own = spent.filter((each) => each.month === month && each.productId === product);
            const sum = months.get(monthKey(month, product)) ?? { bytes: 0n, packageBytes: 0n };
            expect(sum.bytes).toBe(BigInt(own.length));
            expect(sum.packageBytes).toBe(BigInt(own.filter(({ id }) => id !== null).length));
          }
        }
      }),
      { seed: 9, numRuns: 150 },
    );
  });

  test('the order in which logs arrive, and how they are cut into batches, change nothing', () => {
    fc.assert(
      fc.property(packagesOf, usageOf, fc.infiniteStream(fc.nat()), (packages, usage, numbers) => {
        const next = () => numbers.next().value ?? 0;
        const cut = usage.flatMap((each) => {
          const part = each.bytes === 0n ? 0n : BigInt(next()) % each.bytes;
          return [
            { ...each, bytes: part },
            { ...each, bytes: each.bytes - part },
          ];
        });
        const shuffled = cut.map((each) => ({ each, at: next() })).toSorted((a, b) => a.at - b.at);
        const late = replay(
          packages,
          shuffled.map(({ each }) => each),
        );
        const inTime = replay(packages, usage);
        expect(late.months).toEqual(inTime.months);
        for (const { id } of packages)
          for (const month of [JANUARY, FEBRUARY]) expect(late.usedIn(id, month)).toBe(inTime.usedIn(id, month));
      }),
      { seed: 9, numRuns: 150 },
    );
  });

  test('a month needs no usage of earlier ones, but what extra packages had used', () => {
    fc.assert(
      fc.property(packagesOf, usageOf, (packages, usage) => {
        const { from: month } = billingMonth(2026, 3);
        const whole = replay(packages, usage);
        const earlier = packages
          .filter(({ type }) => type === 'extra')
          .map(({ id }) => [id, whole.usedUntil(id, FEBRUARY)] as const);
        const last = usage.filter(({ hour }) => hour >= month);
        const part = replay(packages, last, new Map(earlier));
        for (const product of ['p', 'q'])
          expect(part.months.get(monthKey(month, product))).toEqual(whole.months.get(monthKey(month, product)));
        for (const [id] of earlier) expect(part.usedUntil(id, month)).toBe(whole.usedUntil(id, month));
      }),
      { seed: 9, numRuns: 150 },
    );
  });

  test('another end from this month on changes no past month', () => {
    const february = monthOf(FEBRUARY);
    fc.assert(
      fc.property(packagesOf, usageOf, fc.option(hourOf), (packages, usage, end) => {
        const to = end === null ? null : Math.max(end, february.to);
        // Only packages that have not ended before can get another end.
        const moved = packages.map((each) => (each.to === null || each.to >= february.to ? { ...each, to } : each));
        const past = ({ hour }: HourlyUsage) => hour < february.to;
        const [before, after] = [replay(packages, usage), replay(moved, usage)];
        for (const { hour } of usage.filter(past)) {
          const keys = ['p', 'q'].map((product) => monthKey(monthOf(hour).from, product));
          for (const key of keys) expect(after.months.get(key)).toEqual(before.months.get(key));
        }
        for (const { id } of packages) expect(after.usedUntil(id, FEBRUARY)).toBe(before.usedUntil(id, FEBRUARY));
      }),
      { seed: 9, numRuns: 150 },
    );
  });
});
