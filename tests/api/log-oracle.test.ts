// Figures of random log lines are those that an oracle of plain loops computes from the lines.
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { ChartMetric, ChartRange } from '@edgeloom/contract/charts/charts.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, seriesTypes, topTypes, type ReportInterval } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { locate, randomLine, unreadableLines } from '../support/builders/random-log-lines.ts';
import { SeededRandom } from '../support/builders/seeded-random.ts';
import { logBatch, logLine, logStore } from '../support/builders/traffic.ts';
import * as oracle from '../support/fakes/access-log-oracle.ts';
import { testApp } from '../support/services/app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Batches of each node. A third is of the weeks before. */
const BATCHES = isLongRun ? 18 : 9;
const LINES_OF_BATCH = isLongRun ? 400 : 120;
const OLDEST_MS = 45 * DAY_MS;
const ms = (text: string) => Date.parse(text);
const utc = (text: string) => ms(`${text}:00Z`);
/** In New York, the day before has 25 hours. */
const now = Date.parse('2026-11-02T07:37:21.400Z');

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(async () => {
  vi.useRealTimers();
  await app.close();
});

let all: oracle.CountedLine[];
let owner: SignedInAccount;
let operator: SignedInAccount;
let sites: Record<'whole' | 'sampled' | 'unstored' | 'other', BuiltSite>;
const siteOfDomain = new Map<string, string>();
let domainNames: string[];
let domainIDs: string[];

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now });
  const zone = await build.zone();
  const other = await build.zone({ tenant: zone });
  const [product, without, ofOther] = [
    await build.product({ zone }),
    await build.product({ zone }),
    await build.product({ zone: other }),
  ];
  await pool.query('UPDATE products SET access_log = FALSE WHERE id = $1', [without.id]);
  owner = await build.user(zone);
  operator = zone.client;
  sites = {
    whole: await build.site({ product, owner, tags: ['chosen'] }),
    sampled: await build.site({ product, owner }),
    unstored: await build.site({ product: without, owner, tags: ['chosen'] }),
    other: await build.site({ product: ofOther }),
  };
  await pool.query('UPDATE sites SET log_sampling = 4 WHERE id = $1', [sites.sampled.id]);

  const domains = await Promise.all(
    [sites.whole, sites.whole, sites.whole, sites.sampled, sites.other].map((site) => build.domain({ site })),
  );
  const [first, second, removed, ofSampled] = domains;
  await installation.db.domain.delete({ where: { id: removed?.id ?? '' } });
  for (const { id, siteId } of domains) if (id !== removed?.id) siteOfDomain.set(id, siteId);
  domainNames = [first?.name ?? '', ofSampled?.name ?? ''];
  domainIDs = [first?.id ?? '', ofSampled?.id ?? ''];

  const ids = domains.map(({ id }) => id);
  const lines: Parameters<typeof randomLine>[2] = [
    [sites.whole.id, [first?.id ?? '', first?.id ?? '', second?.id ?? '', removed?.id ?? '', '']],
    [sites.sampled.id, [ofSampled?.id ?? '', first?.id ?? '', '']],
    [sites.unstored.id, ['']],
    [sites.other.id, [ids[4] ?? '']],
    ['', ['']],
  ];
  const nodes = [
    { id: (await build.node({ zone })).id, zone: zone.id, sites: ['whole', 'sampled', 'unstored'], clock: -1500 },
    { id: (await build.node({ zone })).id, zone: zone.id, sites: ['whole', 'sampled', 'unstored'], clock: HOUR_MS },
    { id: (await build.node({ zone: other })).id, zone: other.id, sites: ['other'], clock: -40 * MINUTE_MS },
  ] as const;
  const batches = await Promise.all(nodes.map((node, seed) => storeRandom({ ...node, seed, lines })));
  await logStore(pool).maintain(new Date());
  all = oracle.countedLines(batches.flat());
}, 300_000);

interface Sender {
  id: string;
  zone: string;
  sites: readonly (keyof typeof sites)[];
  /** How much its clock is ahead, in milliseconds. */
  clock: number;
  seed: number;
  lines: Parameters<typeof randomLine>[2];
}

/** When a node sent its batches: some weeks ago, the others in the last hours. */
const sendingTimes = Array.from({ length: BATCHES }, (_, i) => {
  const left = BATCHES - 1 - i;
  return i * 3 < BATCHES ? now - OLDEST_MS + (i * OLDEST_MS * 3) / BATCHES : now - left * 7 * MINUTE_MS;
});

/** Stores batches as if a node had sent them, some of them twice. */
async function storeRandom({ id, zone, sites: own, clock, seed, lines }: Sender): Promise<oracle.SentBatch[]> {
  const random = new SeededRandom(seed);
  const store = logStore(pool, undefined, locate);
  const sent: oracle.SentBatch[] = [];
  let from = 0;
  for (const receivedAt of sendingTimes) {
    const made = Array.from({ length: LINES_OF_BATCH }, () => randomLine(random, receivedAt + clock, lines));
    const texts = made.map(({ site, ...line }) => logLine(site, line));
    const text = [...texts, ...unreadableLines(logLine(sites.whole.id)).map((each) => `${each.trim()}\n`)].join('');
    const batch = { ...logBatch(text, from, 'access'), sentAt: receivedAt + clock };
    from = batch.to;
    for (let times = random.is(0.3) ? 2 : 1; times > 0; times -= 1)
      expect(await store.store(id, batch, new Date(receivedAt))).toEqual({ reached: from });
    await store.mergeTops(new Date(receivedAt));
    const { sentAt } = batch;
    sent.push({ zone, sites: new Set(own.map((name) => sites[name].id)), lines: made, sentAt, receivedAt });
  }
  return sent;
}

interface Chosen {
  who: () => SignedInAccount;
  body: () => { siteIDs?: string[]; domains?: string[]; tags?: string[]; noSite?: true };
  has: (line: oracle.CountedLine) => boolean;
  /** Zones whose nodes measure. */
  zones: () => string[];
}
const isOneOf = (line: oracle.CountedLine, ...names: (keyof typeof sites)[]) =>
  names.some((name) => sites[name].id === line.site);
const ownZone = () => [sites.whole.zoneId];
const bothZones = () => [sites.whole.zoneId, sites.other.zoneId];

const NO_SITE = 'requests of no site';
const selections: Record<string, Chosen> = {
  'the sites of a customer': {
    who: () => owner,
    body: () => ({}),
    has: (line) => isOneOf(line, 'whole', 'sampled', 'unstored'),
    zones: ownZone,
  },
  'a site that stores one of four requests': {
    who: () => owner,
    body: () => ({ siteIDs: [sites.sampled.id] }),
    has: (line) => isOneOf(line, 'sampled'),
    zones: ownZone,
  },
  'a tag': {
    who: () => owner,
    body: () => ({ tags: ['chosen'] }),
    has: (line) => isOneOf(line, 'whole', 'unstored'),
    zones: ownZone,
  },
  'two domains': {
    who: () => owner,
    body: () => ({ domains: domainNames }),
    has: (line) => isOneOf(line, 'whole', 'sampled') && domainIDs.includes(line.domain),
    zones: ownZone,
  },
  'the sites of an operator': {
    who: () => operator,
    body: () => ({}),
    has: (line) => isOneOf(line, 'whole', 'sampled', 'unstored', 'other'),
    zones: bothZones,
  },
  [NO_SITE]: {
    who: () => operator,
    body: () => ({ noSite: true }),
    has: (line) => line.site === line.zone,
    zones: bothZones,
  },
};

const day = { timeZone: 'America/New_York' } as const;
const custom = (startTime: string, endTime: string) => ({ timeInterval: 'custom', startTime, endTime }) as const;
/** When each begins and ends, and which steps it may have. */
const periods = {
  oneHour: [{ timeInterval: 'oneHour' }, '2026-11-02T06:45', '2026-11-02T07:40', [1, 5, 15, 60]],
  sixHours: [{ timeInterval: 'sixHours' }, '2026-11-02T02:00', '2026-11-02T07:40', [1, 5, 60]],
  oneDay: [{ timeInterval: 'oneDay' }, '2026-11-01T08:00', '2026-11-02T07:40', [1, 15, 1440]],
  sevenDays: [{ timeInterval: 'sevenDays' }, '2026-10-26T08:00', '2026-11-02T07:40', [5, 60, 1440]],
  thirtyDays: [{ timeInterval: 'thirtyDays', ...day }, '2026-10-03T08:00', '2026-11-02T07:40', [15, 60, 1440]],
  today: [{ timeInterval: 'today', ...day }, '2026-11-02T05:00', '2026-11-02T07:40', [1, 15, 1440]],
  yesterday: [{ timeInterval: 'yesterday', ...day }, '2026-11-01T04:00', '2026-11-02T05:00', [5, 60, 1440]],
  'two minutes': [custom('2026-11-02T06:58:00Z', '2026-11-02T07:00:00Z'), '2026-11-02T06:58', '2026-11-02T07:00', [1]],
  'odd minutes': [
    custom('2026-11-02T02:03:00Z', '2026-11-02T05:20:00Z'),
    '2026-11-02T02:03',
    '2026-11-02T05:20',
    [1, 5],
  ],
  'weeks ago': [
    custom('2026-09-20T10:00:00Z', '2026-10-01T12:35:00Z'),
    '2026-09-20T10:00',
    // Longer than two days: whole hours.
    '2026-10-01T13:00',
    [5, 60],
  ],
} as const satisfies Record<string, readonly [object, string, string, readonly ReportInterval[]]>;
const allPeriods = Object.entries(periods).map(([period, [times, from, to, steps]]) => ({
  period,
  times,
  from: utc(from),
  to: utc(to),
  steps,
}));
type Period = (typeof allPeriods)[number];

function chosen(name: string) {
  const selection = selections[name];
  if (selection === undefined) throw new Error(`no selection ${name}`);
  const { who, body, has, zones } = selection;
  const measuring = zones();
  return {
    call: as(who()).call,
    body: body(),
    lines: all.filter(has),
    measured: all.filter(({ zone }) => measuring.includes(zone)),
  };
}

const byValue = <Row extends { value: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.value < b.value ? -1 : 1));

/** Whole steps that contain a time. The current one goes on. */
function widened({ from, to }: Pick<Period, 'from' | 'to'>, stepOf: (at: number) => number): [number, number] {
  const end = Math.ceil(to / stepOf(to)) * stepOf(to);
  return [Math.floor(from / stepOf(from)) * stepOf(from), end > now ? to : end];
}
/** Sketches of hours are not kept as long as those of days. */
const stepOfAddresses = (at: number) => (at > now - 31 * DAY_MS ? HOUR_MS : DAY_MS);
/** Whole hours of the last 32 days. */
function timesOfTops(period: Period): [number, number] {
  const [from, to] = widened(period, () => HOUR_MS);
  return [Math.max(from, Math.ceil(now / HOUR_MS) * HOUR_MS - 32 * DAY_MS), to];
}

const starts = (from: number, to: number, step: number) =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step);

/** The beginning of each step. A period that goes on ends with the current one. */
function stepsOf({ from, to }: Period, step: number) {
  const end = to > now ? from + (Math.floor((now - from) / step) + 1) * step : to;
  return { begins: starts(from, end, step), end };
}

const dayCounts: Readonly<Record<string, number>> = { sevenDays: 7, thirtyDays: 30 };
/** Calendar days, of which the current one is the last, or yesterday. */
function daysOf({ period, times }: Period) {
  const timeZone = 'timeZone' in times ? times.timeZone : 'UTC';
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const hours = starts(Math.floor(now / HOUR_MS) * HOUR_MS - 32 * DAY_MS, now + DAY_MS, HOUR_MS);
  const midnights = hours.filter((at) => clock.format(at) === '00:00');
  const last = midnights.findIndex((at) => at > now) - (period === 'yesterday' ? 1 : 0);
  return { begins: midnights.slice(last - (dayCounts[period] ?? 1), last), end: midnights[last] };
}

async function forEachPeriod(check: (period: Period) => Promise<void>): Promise<void> {
  for (const period of allPeriods) await check(period);
}

test('sites have the bandwidth of each hour', async () => {
  const shown = Object.values(sites);
  const { times, data } = await as(operator).call(statistics.siteBandwidth, {
    body: { siteIDs: shown.map(({ id }) => id) },
  });
  const current = Math.floor(now / HOUR_MS) * HOUR_MS;
  const [begins, end] = [starts(current - 23 * HOUR_MS, current + HOUR_MS, HOUR_MS), current + HOUR_MS];
  expect(times.map(ms)).toEqual(begins);
  for (const { id, zoneId } of shown) {
    const sums = oracle.stepsOf(
      all.filter(({ site }) => site === id),
      begins,
      end,
    );
    const zones = oracle.stepsOf(
      all.filter(({ zone }) => zone === zoneId),
      begins,
      end,
    );
    const seconds = begins.map((at) => (Math.min(at + HOUR_MS, now) - at) / 1000);
    const { values = [] } = data.find((row) => row.id === id) ?? {};
    // Minutes between the reports of a node are measured without lines.
    const isMeasured = (i: number) => (zones[i]?.requests ?? 0) > 0 || values[i] === 0;
    expect(values).toEqual(sums.map(({ bytes }, i) => (isMeasured(i) ? (bytes * 8) / (seconds[i] ?? 0) : null)));
  }
});

describe.each(Object.keys(selections))('%s', (name) => {
  test('cards', () =>
    forEachPeriod(async ({ period, times, from, to }) => {
      const { call, body, lines, measured } = chosen(name);
      const cards = await call(statistics.cards, { body: { ...body, ...times } });
      const [sums, seen] = [oracle.within(lines, from, to), oracle.within(measured, from, to)].map((each) =>
        oracle.sumsOf(each),
      );
      const { requests = 0, bytes, hits = 0 } = sums ?? {};
      const card = (type: number) => cards.data.find((each) => each.type === type);
      expect(seen?.requests, period).toBeGreaterThan(0);
      expect([period, ms(cards.from), ms(cards.to)]).toEqual([period, from, to]);
      expect([period, card(cardTypes.requests)?.value]).toEqual([period, requests]);
      expect([period, card(cardTypes.traffic)?.value]).toEqual([period, bytes]);
      expect([period, card(cardTypes.hitRate)?.value]).toEqual([period, requests === 0 ? null : hits / requests]);

      const addresses = card(cardTypes.addresses);
      const wider = widened({ from, to }, stepOfAddresses);
      expect([period, ms(addresses?.from ?? ''), ms(addresses?.to ?? '')]).toEqual([period, ...wider]);
      const count = new Set(oracle.within(lines, ...wider).map(({ address }) => address)).size;
      expect([period, addresses?.isEstimate]).toEqual([period, count > 256]);
      // Three times the standard error.
      const [value, most] = [addresses?.value ?? NaN, Math.min(count, requests)];
      expect(Math.abs(value - most), period).toBeLessThanOrEqual(count > 256 ? most * 0.048 : 0);

      const step = 5 * MINUTE_MS;
      const [first, end] = [Math.floor(from / step) * step, Math.ceil(to / step) * step];
      const isMeasured = oracle.stepsOf(measured, starts(first, end, step), end).map((each) => each.requests > 0);
      const bytesOfSteps = oracle.stepsOf(lines, starts(first, end, step), end).map((each) => each.bytes);
      const expected = oracle.percentile95(bytesOfSteps.filter((_, i) => isMeasured[i]));
      expect([period, card(cardTypes.bandwidth95)?.value]).toEqual([period, expected]);
    }));

  test('series', () =>
    forEachPeriod(async (asked) => {
      const { call, body, lines, measured } = chosen(name);
      const { period, times, steps } = asked;
      for (const reportInterval of steps) {
        const label = `${period}, ${reportInterval} minutes`;
        const types = Object.values(seriesTypes);
        const found = await call(statistics.timeSeries, { body: { ...body, ...times, types, reportInterval } });
        const [begins, end] = [found.times.map(ms), ms(found.to)];
        expect(found.from).toBe(found.times[0]);
        expect([label, { begins, end }]).toEqual([
          label,
          reportInterval === 1440 ? daysOf(asked) : stepsOf(asked, reportInterval * MINUTE_MS),
        ]);
        const sums = oracle.stepsOf(lines, begins, end);
        const isMeasured = oracle.stepsOf(measured, begins, end).map(({ requests }) => requests > 0);
        const seconds = begins.map((at, i) => (Math.min(begins[i + 1] ?? end, Math.max(now, at + 1000)) - at) / 1000);
        const expected: Record<string, number[]> = {
          bandwidth: sums.map(({ bytes }, i) => (bytes * 8) / (seconds[i] ?? 0)),
          traffic: sums.map(({ bytes }) => bytes),
          ...Object.fromEntries(
            ([2, 3, 4, 5, 9] as const).map((first) => [`${first}xx`, sums.map(({ classes }) => classes[first])]),
          ),
          ipv4: sums.map(({ requests, ipv6 }) => requests - ipv6),
          ipv6: sums.map(({ ipv6 }) => ipv6),
          passed: sums.map(({ requests, blocked }) => requests - blocked),
          blocked: sums.map(({ blocked }) => blocked),
        };
        expect(found.series.map((each) => each.name).toSorted()).toEqual(Object.keys(expected).toSorted());
        for (const series of found.series)
          // Minutes between the reports of a node are measured without lines.
          expect([label, series.name, series.values]).toEqual([
            label,
            series.name,
            expected[series.name]?.map((value, i) => (isMeasured[i] || series.values[i] === 0 ? value : null)),
          ]);
      }
    }));

  test('tops', () =>
    forEachPeriod(async (asked) => {
      const { call, body, lines } = chosen(name);
      const { period, times } = asked;
      const [from, to] = timesOfTops(asked);
      const ofHours = oracle.within(lines, from, to);
      const { requests, bytes } = oracle.sumsOf(ofHours);
      const topOf = (kind: oracle.TopKind) => oracle.topOf(ofHours, (line) => oracle.valueOf(line, kind, locate));
      for (const kind of oracle.topKinds) {
        const query = { ...body, ...times, type: topTypes[kind], top: 1000 };
        const top = await call(statistics.top, { body: query });
        expect([period, ms(top.from), ms(top.to), top.total]).toEqual([period, from, to, { requests, bytes }]);
        expect([period, kind, byValue(top.data)]).toEqual([period, kind, topOf(kind)]);
      }
      for (const sortBy of ['requests', 'bytes'] as const) {
        const { data } = await call(statistics.top, { body: { ...body, ...times, type: topTypes.url, sortBy } });
        const largest = topOf('url')
          .map((row) => row[sortBy])
          .toSorted((a, b) => b - a);
        expect([period, data.map((row) => row[sortBy])]).toEqual([period, largest.slice(0, 10)]);
      }
    }));

  test('ranks', () =>
    forEachPeriod(async ({ period, times, from, to }) => {
      const { call, body, lines } = chosen(name);
      const { data } = await call(statistics.rank, { body: { ...body, ...times, pageSize: 500 } });
      const groups = oracle.rankGroups(oracle.within(lines, from, to), siteOfDomain);
      const zones = new RegExp(bothZones().join('|'), 'u');
      const expected = [...groups].map(([key, group]) => {
        const { requests, bytes, hits, toUpstream, errors } = oracle.sumsOf(group);
        return {
          key: key.replace(zones, NO_SITE),
          requests,
          traffic: bytes,
          hitRate: hits / requests,
          toUpstream,
          errors,
        };
      });
      const rows = data.map(({ siteID, siteName: _, domainID, domain: _domain, isRemoved, ...figures }) => ({
        key: `${siteID ?? NO_SITE} ${domainID ?? (isRemoved ? 'removed' : 'none')}`,
        ...figures,
      }));
      const byKey = (a: (typeof rows)[number], b: (typeof rows)[number]) =>
        a.key === b.key ? a.requests - b.requests : a.key < b.key ? -1 : 1;
      expect([period, rows.toSorted(byKey)]).toEqual([period, expected.toSorted(byKey)]);
      const requests = data.map((row) => row.requests);
      expect([period, requests]).toEqual([period, requests.toSorted((a, b) => b - a)]);
    }));
});

test.each(ChartRange.options.flatMap((range) => ChartMetric.options.map((metric) => [metric, range] as const)))(
  'the chart %s of %s',
  async (metric, range) => {
    const { call, lines, measured } = chosen('the sites of a customer');
    const { times, to, series } = await call(charts.get, { params: { metric }, query: { range } });
    const [begins, end] = [times.map(ms), ms(to)];
    const sums = oracle.stepsOf(lines, begins, end);
    const seconds = (i: number) => (Math.min(begins[i + 1] ?? end, now) - (begins[i] ?? 0)) / 1000;
    const expected = {
      traffic: [sums.map(({ bytes }) => bytes)],
      bandwidth: [sums.map(({ bytes }, i) => (bytes * 8) / seconds(i))],
      requests: [sums.map(({ requests }) => requests)],
      toUpstream: [sums.map(({ toUpstream }) => toUpstream)],
      cache: [sums.map(({ hits, requests }) => (requests === 0 ? null : hits / requests))],
      status: ([2, 3, 4, 5, 9] as const).map((first) => sums.map(({ classes }) => classes[first])),
    }[metric];
    const isMeasured = oracle.stepsOf(measured, begins, end).map(({ requests }) => requests > 0);
    expect(series.map(({ values }) => values)).toEqual(
      expected.map((values, s) =>
        values.map((value, i) => (isMeasured[i] || series[s]?.values[i] === 0 ? value : null)),
      ),
    );
  },
);

describe('requests that are stored', () => {
  let weights: Map<string, number>;
  let stored: number;
  const weightOf = ({ id }: oracle.CountedLine) => weights.get(id) ?? 0;
  beforeAll(async () => {
    const { rows } = await pool.query<{ id: string; weight: number }>('SELECT id, weight FROM access_log');
    weights = new Map(rows.map(({ id, weight }) => [id.replaceAll('-', ''), weight]));
    stored = rows.length;
  });

  test('are all of eight days, one of four, or none, and each once', () => {
    expect(weights.size).toBe(stored);
    const recent = all.filter(({ at }) => at >= now - 8 * DAY_MS);
    const of = (name: keyof typeof sites) => recent.filter((line) => isOneOf(line, name));
    expect(of('whole').filter((line) => weightOf(line) !== 1)).toEqual([]);
    expect(of('unstored').filter((line) => weightOf(line) !== 0)).toEqual([]);
    const sampled = of('sampled').map(weightOf);
    expect(new Set(sampled)).toEqual(new Set([0, 4]));
    const share = sampled.filter((weight) => weight > 0).length / sampled.length;
    expect(Math.abs(share - 0.25)).toBeLessThan(0.1);
  });

  const filters: [string, object, (line: oracle.CountedLine) => boolean][] = [
    ['a method', { method: ['GET', 'TRACE'] }, ({ method }) => method === 'GET' || method === 'TRACE'],
    ['statuses', { status: ['4xx', '503'] }, ({ status }) => status === 503 || (status >= 400 && status < 500)],
    ['IPv6', { protocol: ['ipv6'] }, ({ address }) => address.includes(':')],
    ['a country', { country: ['TW'] }, ({ address }) => locate(address).country === 'TW'],
    ['refusals', { blocked: true }, oracle.isBlocked],
    ['a cause', { blacklist: ['acl'] }, (line) => oracle.valueOf(line, 'blacklist', locate) === 'acl'],
    ['the WAF as a cause', { blacklist: ['waf'] }, (line) => oracle.isRefusedByRule(line) && line.cause === 'waf'],
    ['a rule that monitors', { wafMonitored: ['942100'] }, ({ rule }) => rule === 'monitor/942100'],
  ];
  test.each(filters)('have the figures of their lines with the filter of %s', async (_, filter, matches) => {
    const { call, body, lines } = chosen('the sites of a customer');
    const [times, from, to] = periods.oneDay;
    const query = { ...body, ...times, filters: filter };
    const found = oracle.within(lines, utc(from), utc(to)).filter(matches);
    const sums = oracle.sumsOf(found, weightOf);
    const { data } = await call(statistics.cards, { body: query });
    const card = Object.fromEntries(data.map(({ type, value }) => [type, value]));
    const stored = found.filter((line) => weightOf(line) > 0);
    expect(card).toMatchObject({
      [cardTypes.requests]: sums.requests,
      [cardTypes.traffic]: sums.bytes,
      [cardTypes.hitRate]: sums.hits / sums.requests,
      [cardTypes.addresses]: new Set(stored.map(({ address }) => address)).size,
    });
    for (const kind of oracle.topKinds) {
      const top = await call(statistics.top, { body: { ...query, type: topTypes[kind], top: 1000 } });
      expect([kind, byValue(top.data)]).toEqual([
        kind,
        oracle.topOf(stored, (line) => oracle.valueOf(line, kind, locate), weightOf),
      ]);
    }
    const ranked = await call(statistics.rank, { body: { ...query, pageSize: 500 } });
    expect(ranked.data.reduce((sum, { requests }) => sum + requests, 0)).toBe(sums.requests);
  });

  test('are found by each of their URLs and referers', async () => {
    const { call, lines } = chosen('the sites of a customer');
    const [times, from, to] = periods.oneDay;
    const found = oracle.within(lines, utc(from), utc(to)).filter((line) => weightOf(line) > 0);
    for (const kind of ['url', 'referer'] as const)
      for (const { value, requests } of oracle.topOf(found, (line) => oracle.valueOf(line, kind, locate), weightOf)) {
        const { data } = await call(statistics.cards, { body: { ...times, filters: { [kind]: [value] } } });
        expect([value, data.find(({ type }) => type === cardTypes.requests)?.value]).toEqual([value, requests]);
      }
  });
});
