// All figures of a page are of the same time and the same requests.
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, seriesTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { accessToken, type SignedInAccount } from '../../../../../tests/support/builders/api-clients.ts';
import type { BuiltSite } from '../../../../../tests/support/builders/build.ts';
import { addLogs, logLine, logStore } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const REQUESTS = 600;
const newest = Date.now();
afterEach(() => void vi.useRealTimers());

let site: BuiltSite;
let owner: SignedInAccount;
beforeAll(async () => {
  site = await build.site();
  const domains = [(await build.domain({ site })).id, (await build.domain({ site })).id];
  const node = await build.node({ zone: site.zone });
  // Half of them are of the last six hours, so that short times have some.
  const [times = []] = fc.sample(
    fc.array(fc.tuple(fc.boolean(), fc.double({ min: 0, max: 1, noNaN: true })), {
      minLength: REQUESTS,
      maxLength: REQUESTS,
    }),
    { numRuns: 1, seed: 1 },
  );
  // A third has no domain.
  const lines = times.map(([isRecent, share], i) =>
    logLine(site.id, {
      time: (newest - share * (isRecent ? 6 * HOUR_MS : 40 * DAY_MS)) / 1000,
      domain: domains[i % 3] ?? '',
      address: `192.0.2.${i % 200}`,
    }),
  );
  await addLogs(installation.pool, node.id, lines);
  owner = await signedInFor(DAY_MS, site.owner);
});

/** The clock moves on, and with it the end of a usual session. */
async function signedInFor(lengthMs: number, account: SignedInAccount): Promise<SignedInAccount> {
  const { id, kind, clientId, sessionId } = account;
  await installation.db.session.update({
    where: { id: sessionId },
    data: { endsAt: new Date(newest + lengthMs) },
  });
  const claims = { sub: id, kind, client: clientId, session: sessionId, actor: id };
  return { ...account, token: accessToken(installation, claims, { lifetimeSeconds: lengthMs / 1000 }) };
}

const sumOf = (values: readonly (number | null)[] = []) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);

const isWholeHour = (at: string) => Date.parse(at) % HOUR_MS === 0;

const timeZone = fc.constantFrom('UTC', 'Asia/Taipei', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York');
const named = fc.constantFrom('today', 'yesterday', 'oneHour', 'sixHours', 'oneDay', 'sevenDays', 'thirtyDays');
/** Whole minutes, as the console sends them. */
const custom = fc
  .tuple(
    fc.integer({ min: 2, max: 300 }),
    fc.oneof(fc.integer({ min: 1, max: 240 }), fc.integer({ min: 1, max: 9000 })),
  )
  .map(([agoMinutes, lengthMinutes]) => {
    const end = Math.floor(newest / MINUTE_MS - agoMinutes) * MINUTE_MS;
    return {
      timeInterval: 'custom' as const,
      startTime: new Date(end - lengthMinutes * MINUTE_MS).toISOString(),
      endTime: new Date(end).toISOString(),
    };
  });
const period = fc.oneof(
  named.map((timeInterval) => ({ timeInterval })),
  custom,
);
const hoursLater = fc.double({ min: 0, max: 20, noNaN: true });

test('cards, series, ranks, tops and charts of a page add up to the same requests', async () => {
  const call = as(owner);
  await fc.assert(
    fc.asyncProperty(period, timeZone, hoursLater, fc.constantFrom(5, 15, 60), async (times, timeZone, hours, step) => {
      vi.useFakeTimers({ toFake: ['Date'], now: newest + hours * HOUR_MS });
      const body = { ...times, timeZone };
      const cards = await call.call(statistics.cards, { body });
      const cardOf = (type: number) => cards.data.find((card) => card.type === type)?.value ?? 0;
      const requests = cardOf(cardTypes.requests);

      const series = { ...body, types: [seriesTypes.protocol], reportInterval: step } as const;
      const found = await call.call(statistics.timeSeries, { body: { ...series, types: [...series.types] } });
      expect(found.from).toBe(cards.from);
      expect(sumOf(found.series.flatMap(({ values }) => values))).toBe(requests);

      const { data } = await call.call(statistics.rank, { body });
      expect(sumOf(data.map((row) => row.requests))).toBe(requests);

      // Values are counted by the hour, so times that do not fit are wider.
      const top = await call.call(statistics.top, { body: { ...body, type: topTypes.address, top: 1000 } });
      expect(sumOf(top.data.map((row) => row.requests))).toBe(top.total.requests);
      const ownFigures = [cards.from, cards.to, requests];
      const isExact = isWholeHour(cards.from) && (isWholeHour(cards.to) || Date.parse(cards.to) > Date.now());
      expect(top.total.requests).toBeGreaterThanOrEqual(requests);
      expect(isExact ? [top.from, top.to, top.total.requests] : ownFigures).toEqual(ownFigures);

      if (times.timeInterval !== 'oneDay' && times.timeInterval !== 'thirtyDays') return;
      expect([top.from, top.to]).toEqual([cards.from, cards.to]);
      const query = { range: times.timeInterval === 'oneDay' ? '24h' : '30d' } as const;
      const chart = await call.call(charts.get, { params: { metric: 'requests' }, query });
      expect([chart.from, sumOf(chart.series[0]?.values)]).toEqual([cards.from, requests]);
    }),
    { numRuns: 25, seed: 1 },
  );
});

/** The whole day before, in UTC, by which sketches of days begin. */
const yesterday = Math.floor(newest / DAY_MS) * DAY_MS - DAY_MS;
const at = (days: number, hour: number) => new Date(yesterday + days * DAY_MS + hour * HOUR_MS);

/** A site with three addresses in three hours of yesterday. */
async function siteOfYesterday() {
  const old = await build.site();
  const { id } = await build.node({ zone: old.zone });
  const lines = [11, 13, 20].map((hour) =>
    logLine(old.id, { time: at(0, hour).getTime() / 1000, address: `192.0.2.${hour}` }),
  );
  await addLogs(installation.pool, id, lines);
  const account = await signedInFor(60 * DAY_MS, old.owner);
  return async (startTime: Date, endTime: Date) => {
    const body = {
      timeInterval: 'custom',
      startTime: startTime.toISOString(),
      endTime: endTime.toISOString(),
    } as const;
    const { data } = await as(account).call(statistics.cards, { body });
    return data.find(({ type }) => type === cardTypes.addresses);
  };
}

// Regression: the sketches of days were empty, because the addresses were read once, for the hours.
test('addresses of whole days are those of their hours', async () => {
  const addressesOf = await siteOfYesterday();
  for (const [from, to] of [
    [at(0, 0), at(1, 0)],
    [at(0, 11), at(0, 21)],
    [at(-3, 5), at(1, 0)],
  ] as const)
    expect(await addressesOf(from, to)).toMatchObject({ value: 3, from: from.toISOString(), to: to.toISOString() });
});

// Regression: the addresses of two hours were compared with those of an hour and a half, which were counted in two.
test('addresses are compared only with those of about the same length of time', async () => {
  const addressesOf = await siteOfYesterday();
  expect(await addressesOf(at(0, 12), at(0, 14))).toMatchObject({ value: 1, previous: 1 });
  expect(await addressesOf(at(0, 12.5), at(0, 14))).toMatchObject({ value: 1, previous: null });
  // Half an hour of a day.
  expect(await addressesOf(at(0, 12.5), at(1, 12))).toMatchObject({ value: 2, previous: 1 });
});

// Regression: only the start was widened to a day, so the hours of the end, which are dropped before, had no addresses.
test('addresses of a time whose hours are not kept any more are those of its whole days', async () => {
  const addressesOf = await siteOfYesterday();
  vi.useFakeTimers({ toFake: ['Date'], now: at(40, 0) });
  await logStore(installation.pool).maintain(new Date());
  // No more than its two requests.
  const wholeDay = { from: at(0, 0).toISOString(), to: at(1, 0).toISOString() };
  expect(await addressesOf(at(0, 10), at(0, 14))).toMatchObject({ value: 2, ...wholeDay });
  // The hours of the end are still kept.
  const untilHour = { from: at(0, 0).toISOString(), to: at(38, 5).toISOString() };
  expect(await addressesOf(at(0, 10), at(38, 5))).toMatchObject({ value: 3, ...untilHour });
});
