import { randomUUID } from 'node:crypto';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { clientDomains, domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { clientSites, ownSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { nodeStatistics, statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, seriesTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { BuiltSite } from '../../../../../tests/support/builders/build.ts';
import { addLogs, logBatch, logLine, logStore } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { useOwnCountries } from '../../../../../tests/support/services/own-countries.ts';
import { VALUES_KEPT } from '../../statistics/top-values.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
let site: BuiltSite;
let domain: { id: string; name: string };
beforeAll(async () => {
  site = await build.site();
  domain = await build.domain({ site });
  const { id } = await build.node({ zone: site.zone });
  const ago = (ms: number) => (Date.now() - ms) / 1000;
  await addLogs(pool, id, [
    logLine(site.id, {
      domain: domain.id,
      bytes: 3000,
      cache: 'HIT',
      host: 'a.example',
      uri: '/x',
      referer: 'https://r.example/p?q=1',
    }),
    logLine(site.id, {
      domain: domain.id,
      bytes: 1000,
      address: '198.51.100.3',
      status: 404,
      host: 'a.example',
      uri: '/y',
    }),
    logLine(site.id, { bytes: 500, address: '2001:db8::1', status: 929, cause: 'blacklist', method: 'POST' }),
    logLine(site.id, { time: ago(30 * HOUR), domain: domain.id, bytes: 7000 }),
  ]);
});

const cardsOf = async (body: object = {}) => {
  const { data } = await as(site.owner).call(statistics.cards, { body });
  return Object.fromEntries(data.map(({ type, value, previous }) => [type, [value, previous]]));
};

test('cards have the figures of the time and of the time before', async () => {
  const cards = await cardsOf();
  expect(cards).toMatchObject({
    [cardTypes.traffic]: [4500, 7000],
    [cardTypes.requests]: [3, 1],
    [cardTypes.hitRate]: [1 / 3, 0],
    [cardTypes.addresses]: [3, 1],
  });
  expect(cards[cardTypes.bandwidth95]?.[1]).toBeCloseTo((7000 * 8) / 300);
  expect((await cardsOf({ timeInterval: 'sevenDays' }))[cardTypes.traffic]).toEqual([11_500, null]);
  expect((await cardsOf({ domains: [domain.name] }))[cardTypes.requests]).toEqual([2, 1]);
  expect((await cardsOf({ tags: ['none'] }))[cardTypes.requests]).toEqual([null, null]);
});

test.each([1, 5, 15, 60, 1440] as const)(
  'series in steps of %i minutes add up to the same sums',
  async (reportInterval) => {
    const body = {
      types: [2, 12, 13],
      reportInterval,
      timeInterval: 'custom',
      startTime: new Date(Date.now() - 48 * HOUR).toISOString(),
      endTime: new Date().toISOString(),
    } as const;
    const { series, times, stepSeconds } = await as(site.owner).call(statistics.timeSeries, {
      body: { ...body, types: [...body.types] },
    });
    expect(stepSeconds).toBe(reportInterval * 60);
    const sums = Object.fromEntries(
      series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]),
    );
    expect(sums).toMatchObject({ traffic: 11_500, '2xx': 2, '3xx': 0, '4xx': 1, '5xx': 0, '9xx': 1, ipv4: 3, ipv6: 1 });
    for (const { values } of series) expect(values).toHaveLength(times.length);
  },
);

test.each([
  [
    'url',
    [
      ['a.example/x', 1, 3000],
      ['a.example/y', 1, 1000],
      ['www.example.com/', 1, 500],
    ],
  ],
  [
    'address',
    [
      ['192.0.2.1', 1, 3000],
      ['198.51.100.3', 1, 1000],
      ['2001:db8::1', 1, 500],
    ],
  ],
  [
    'country',
    [
      ['JP', 1, 1000],
      ['TW', 1, 3000],
    ],
  ],
  [
    'status',
    [
      ['200', 1, 3000],
      ['404', 1, 1000],
      ['929', 1, 500],
    ],
  ],
  ['referer', [['https://r.example/p', 1, 3000]]],
  [
    'method',
    [
      ['GET', 2, 4000],
      ['POST', 1, 500],
    ],
  ],
  ['blacklist', [['blacklist', 1, 500]]],
] as const)('the top of %s', async (type, rows) => {
  const top = await as(site.owner).call(statistics.top, { body: { type: topTypes[type], timeInterval: 'sixHours' } });
  expect(top.data).toEqual(rows.map(([value, requests, bytes]) => ({ value, requests, bytes, error: 0 })));
  expect(top.total).toEqual({ requests: 3, bytes: 4500 });
});

test('domains are ranked, and exported without formulas', async () => {
  await build.domain({ site });
  const { data, total } = await as(site.owner).call(statistics.rank, { body: { sortBy: 'traffic' } });
  expect({ data, total }).toEqual({
    data: [
      {
        siteID: site.id,
        siteName: site.name,
        domainID: domain.id,
        domain: domain.name,
        isRemoved: false,
        requests: 2,
        traffic: 4000,
        hitRate: 0.5,
        toUpstream: 0,
        errors: 1,
      },
      {
        siteID: site.id,
        siteName: site.name,
        domainID: null,
        domain: '',
        isRemoved: false,
        requests: 1,
        traffic: 500,
        hitRate: 0,
        toUpstream: 0,
        errors: 1,
      },
    ],
    total: 2,
  });
  await pool.query('UPDATE sites SET name = $2 WHERE id = $1', [site.id, '=HYPERLINK("x")']);
  const csv = await as(site.owner).call(statistics.export, { body: {} });
  expect(csv).toContain(`"'=HYPERLINK(""x"")",${domain.name},2,4000,0.5,0,1`);
});

test('removed domains of a site stay in the ranks as one row, so that they add up', async () => {
  const ranked = await build.site();
  const { id } = await build.node({ zone: ranked.zone });
  const [kept, ...removed] = [
    await build.domain({ site: ranked }),
    await build.domain({ site: ranked }),
    await build.domain({ site: ranked }),
  ];
  const requests = [kept, kept, ...removed, undefined].map((each) => logLine(ranked.id, { domain: each?.id ?? '' }));
  await addLogs(pool, id, requests);
  await db.domain.deleteMany({ where: { id: { in: removed.map((each) => each.id) } } });
  const owner = as(ranked.owner);
  // From sums, and from the requests themselves.
  for (const filters of [undefined, { method: ['GET'] }]) {
    const body = filters && { filters };
    const { data, total, domains } = await owner.call(statistics.rank, { body: { ...body } });
    const rows = data.map((row) => [row.domainID, row.domain, row.isRemoved, row.requests]);
    expect(rows.toSorted((a, b) => Number(b[3]) - Number(a[3]))).toEqual(
      expect.arrayContaining([
        [kept?.id, kept?.name, false, 2],
        [null, '', true, 2],
        [null, '', false, 1],
      ]),
    );
    expect([rows.length, total, domains]).toEqual([3, 3, 1]);
    const cards = await owner.call(statistics.cards, { body: { ...body } });
    expect(cards.data.find(({ type }) => type === cardTypes.requests)?.value).toBe(5);
  }
  const { data } = await owner.call(statistics.rank, { body: { domains: [kept?.name ?? ''] } });
  expect(data.map((row) => row.requests)).toEqual([2]);
  const beyond = await owner.call(statistics.rank, { body: { page: 9 } });
  expect([beyond.data.length, beyond.total, beyond.domains]).toEqual([0, 3, 1]);

  const exported = async (language?: 'zh-CN' | 'zh-TW') => {
    const csv = await owner.call(statistics.export, { body: { ...(language && { language }) } });
    return csv
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[1]);
  };
  const all = (...names: (string | undefined)[]) => expect.arrayContaining(names);
  expect(await exported()).toEqual(all(kept?.name, 'Removed domains', 'Without a domain'));
  expect(await exported('zh-TW')).toEqual(all(kept?.name, '已移除的網域', '沒有對應的網域'));
  expect(await exported('zh-CN')).toEqual(all(kept?.name, '已移除的域名', '没有对应的域名'));
});

test('a step without reports is unknown', async () => {
  const { series } = await as(site.owner).call(statistics.timeSeries, { body: { timeInterval: 'oneDay' } });
  // At least 23 hours in steps of five minutes, of which two or three have reports.
  expect(series[0]?.values.filter((value) => value === null).length).toBeGreaterThan(260);
});

test('live requests per second', async () => {
  const { values, times } = await as(site.owner).call(statistics.qps, { body: {} });
  expect(times.length).toBeGreaterThanOrEqual(72);
  expect(values.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBeGreaterThan(0);
});

test('a refusal by a rule is blocked with any status, monitoring and redirects are passed', async () => {
  const ruled = await build.site();
  const { id } = await build.node({ zone: ruled.zone });
  await addLogs(pool, id, [
    logLine(ruled.id, { status: 403, cause: 'acl', rule: 'one' }),
    logLine(ruled.id, { status: 929 }),
    logLine(ruled.id, { status: 404, cause: 'antiCC', rule: 'monitor/rate' }),
    logLine(ruled.id, { status: 301, cause: 'urlRedirect', rule: 'two' }),
    logLine(ruled.id, { status: 403 }),
  ]);
  const { series } = await as(ruled.owner).call(statistics.timeSeries, { body: { types: [seriesTypes.outcome] } });
  const sums = series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]);
  expect(sums).toEqual([
    ['passed', 3],
    ['blocked', 2],
  ]);
});

test('causes and WAF rules add up to blocked requests, and monitored WAF rules have a top of their own', async () => {
  const ruled = await build.site();
  const { id } = await build.node({ zone: ruled.zone });
  const waf = { cause: 'waf', rule: 'sqli', address: '203.0.113.1' };
  const monitored = { ...waf, rule: 'monitor/sqli' };
  await addLogs(
    pool,
    id,
    [
      { status: 403, ...waf },
      { status: 200, ...monitored },
      // An origin's error does not make it a refusal.
      { status: 404, ...monitored },
      // Nor does one of the node itself, which has no rule.
      { status: 930, ...monitored },
      { status: 999, cause: 'acl', rule: 'monitor/one' },
      { status: 499, ...waf },
      { status: 929, cause: 'acl', rule: 'one' },
      { status: 403, cause: 'acl', rule: 'one' },
      { status: 200, cause: 'acl', rule: 'monitor/one' },
      { status: 499, cause: 'antiCC', rule: 'two' },
      { status: 301, cause: 'urlRedirect', rule: 'three' },
      // Regression: visitors beyond a site's own limit looked like attackers.
      { status: 503, cause: 'siteLimits' },
      { status: 930 },
    ].map((over) => logLine(ruled.id, over)),
  );
  const call = as(ruled.owner);
  const topOf = async (kind: 'blacklist' | 'wafRule' | 'wafMonitored', filters?: object) => {
    const body = { type: topTypes[kind], ...(filters && { filters }) };
    const { data } = await call.call(statistics.top, { body });
    return data.map(({ value, requests }) => [value, requests]);
  };
  const { series } = await call.call(statistics.timeSeries, { body: { types: [seriesTypes.outcome] } });
  const blocked = series.find(({ name }) => name === 'blocked')?.values ?? [];
  const withoutRule = 3;
  // From the hourly counts, and from the requests themselves.
  for (const filters of [undefined, { protocol: ['ipv4'] }]) {
    // Regression: refusals by the WAF were no cause, so that causes were fewer than blocked requests.
    expect(await topOf('blacklist', filters)).toEqual([
      ['acl', 2],
      ['waf', 1],
    ]);
    expect(await topOf('wafRule', filters)).toEqual([['sqli', 1]]);
    expect(await topOf('wafMonitored', filters)).toEqual([['sqli', 3]]);
  }
  expect(blocked.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(2 + 1 + withoutRule);

  // Regression: rows of an earlier release, without a name, and of which a filter found nothing.
  await pool.query(
    `INSERT INTO top_values (at, site_id, type, domain_id, value, requests, bytes, error)
     SELECT at, site_id, type, domain_id, 'monitor/' || value, 4, 0, 0 FROM top_values WHERE site_id = $1 AND type = $2`,
    [ruled.id, topTypes.wafRule],
  );
  expect(await topOf('blacklist')).toContainEqual(['waf', 1]);
  expect(await topOf('wafRule')).toEqual([['sqli', 1]]);
  expect(await topOf('wafMonitored')).toEqual([['sqli', 7]]);

  const requestsOf = async (filters: object) => {
    const { data } = await call.call(statistics.cards, { body: { filters } });
    return data.find(({ type }) => type === cardTypes.requests)?.value;
  };
  expect(await requestsOf({ blacklist: ['acl'] })).toBe(2);
  expect(await requestsOf({ blacklist: ['waf'] })).toBe(1);
  expect(await requestsOf({ wafRule: ['sqli'] })).toBe(1);
  expect(await requestsOf({ wafMonitored: ['sqli'] })).toBe(3);
  const times = {
    startTime: new Date(Date.now() - HOUR).toISOString(),
    endTime: new Date(Date.now() + MINUTE).toISOString(),
  };
  const found = await call.call(logs.access, { body: { ...times, cause: ['waf'] } });
  expect(found.data.map(({ rule }) => rule).toSorted()).toEqual([
    'monitor/sqli',
    'monitor/sqli',
    'monitor/sqli',
    'sqli',
    'sqli',
  ]);
});

test('operators see requests of no known site, customers do not', async () => {
  const refused = await build.site();
  const { id } = await build.node({ zone: refused.zone });
  await addLogs(pool, id, [
    logLine(refused.id),
    logLine('', { status: 930, uri: '/nobody', bytes: 70, address: '198.51.100.9' }),
  ]);
  const operator = as(refused.client);
  const body = { noSite: true } as const;
  const { data } = await operator.call(statistics.cards, { body });
  const card = (type: number) => data.find((each) => each.type === type)?.value;
  expect([card(cardTypes.requests), card(cardTypes.traffic), card(cardTypes.addresses)]).toEqual([1, 70, 1]);
  const ofUrls = { ...body, type: topTypes.url };
  expect((await operator.call(statistics.top, { body: ofUrls })).data).toMatchObject([{ requests: 1 }]);
  const { series } = await operator.call(charts.get, { params: { metric: 'requests' }, query: { noSite: 'true' } });
  expect(series[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(1);
  const day = { startTime: new Date(Date.now() - HOUR), endTime: new Date(Date.now() + MINUTE) };
  const times = { startTime: day.startTime.toISOString(), endTime: day.endTime.toISOString() };
  const found = await operator.call(logs.access, { body: { ...body, ...times } });
  expect(found.data).toMatchObject([{ siteID: null, siteName: '', uri: '/nobody', nodeID: id }]);
  const reqID = found.data[0]?.id ?? '';
  expect(await operator.call(logs.request, { params: { reqID } })).toMatchObject(found.data[0] ?? {});

  const customer = as(refused.owner);
  expect((await customer.call(logs.access, { body: { ...body, ...times } })).data).toEqual([]);
  await expect(customer.call(logs.request, { params: { reqID } })).rejects.toMatchObject({ status: 404 });
  expect((await customer.call(statistics.top, { body: ofUrls })).data).toEqual([]);
  const both = { ...body, siteIDs: [refused.id] };
  await expect(operator.call(statistics.cards, { body: both })).rejects.toMatchObject({
    envelope: { errorData: [{ path: 'noSite' }] },
  });
});

test('equal ranks of requests of no site are ordered by their zones, so that pages have each once', async () => {
  const tenant = await build.client();
  const zones = await Promise.all(Array.from({ length: 6 }, () => build.zone({ tenant })));
  for (const zone of zones.toReversed()) {
    const { id } = await build.node({ zone });
    await addLogs(pool, id, [logLine('', { status: 930 })]);
  }
  const body = { noSite: true } as const;
  const names = new Map(zones.map(({ id, name }) => [id, name]));
  const { data } = await as(tenant.client).call(statistics.rank, { body });
  expect(data.map(({ siteName }) => siteName)).toEqual([...names.keys()].toSorted().map((id) => names.get(id)));
});

test('addresses stay counted when a site changes its customer, and once over hours and domains', async () => {
  const moved = await build.site();
  const { id } = await build.node({ zone: moved.zone });
  const line = (n: number, hoursAgo: number) =>
    logLine(moved.id, { address: `203.0.113.${n}`, time: Date.now() / 1000 - hoursAgo * 3600 });
  await addLogs(pool, id, [line(1, 2), line(2, 2), line(1, 1)]);
  const customer = await build.user(moved);
  await pool.query('UPDATE sites SET owner_id = $2 WHERE id = $1', [moved.id, customer.id]);
  await addLogs(pool, id, [line(2, 0), line(3, 0)]);
  const { data } = await as(customer).call(statistics.cards, { body: {} });
  expect(data.find(({ type }) => type === cardTypes.addresses)?.value).toBe(3);
});

test('hours that were read before follow late lines, and the choice of sites and domains', async () => {
  const product = await build.product();
  const owner = await build.user(product);
  const [one, two] = [await build.site({ product, owner }), await build.site({ product, owner })];
  const named = await build.domain({ site: one });
  const { id } = await build.node({ zone: product.zone });
  const late = (siteID: string, over: object = {}) => logLine(siteID, { time: Date.now() / 1000 - 5 * 3600, ...over });
  const requests = async (body: object = {}) => {
    const { series } = await as(owner).call(statistics.timeSeries, {
      body: { types: [seriesTypes.protocol], ...body },
    });
    return series[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  };
  await addLogs(pool, id, [late(one.id), late(two.id)]);
  expect([await requests(), await requests({ siteIDs: [one.id] })]).toEqual([2, 1]);
  await addLogs(pool, id, [late(one.id, { domain: named.id })]);
  expect([await requests(), await requests({ siteIDs: [one.id] })]).toEqual([3, 2]);
  expect([await requests({ domains: [named.name] }), await requests({ domains: ['none.example'] })]).toEqual([1, 0]);
  await pool.query('UPDATE sites SET owner_id = NULL WHERE id = $1', [two.id]);
  expect(await requests()).toBe(2);
});

test('addresses of a short time are not more than its requests, and say which hours were counted', async () => {
  const busy = await build.site();
  const { id } = await build.node({ zone: busy.zone });
  const hour = Math.floor(Date.now() / HOUR) * HOUR - 3 * HOUR;
  const lineAt = (minute: number, address: string) =>
    logLine(busy.id, { time: (hour + minute * MINUTE) / 1000, address });
  const many = Array.from({ length: 300 }, (_, i) => lineAt(61, `2001:db8::${i.toString(16)}`));
  await addLogs(pool, id, [
    lineAt(10, '192.0.2.1'),
    ...[2, 3, 4].map((last) => lineAt(30, `192.0.2.${last}`)),
    ...many,
  ]);
  const iso = (minute: number) => new Date(hour + minute * MINUTE).toISOString();
  const addressesOf = async (from: number, to: number, more: object = {}) => {
    const body = { timeInterval: 'custom', startTime: iso(from), endTime: iso(to), ...more } as const;
    const { data } = await as(busy.owner).call(statistics.cards, { body });
    const card = data.find(({ type }) => type === cardTypes.addresses);
    return [card?.value, card?.from, card?.to, card?.isEstimate];
  };
  expect(await addressesOf(10, 12)).toEqual([1, iso(0), iso(60), false]);
  expect(await addressesOf(30, 32)).toEqual([3, iso(0), iso(60), false]);
  expect(await addressesOf(0, 60)).toEqual([4, iso(0), iso(60), false]);
  expect(await addressesOf(10, 12, { filters: { method: ['GET'] } })).toEqual([1, iso(10), iso(12), false]);
  const [count, , , isEstimate] = await addressesOf(60, 120);
  expect(isEstimate).toBe(true);
  expect(Math.abs(Number(count) / 300 - 1)).toBeLessThan(0.1);
});

test('others see nothing', async () => {
  const other = await build.site();
  const { data } = await as(other.owner).call(statistics.top, { body: { type: topTypes.url } });
  expect(data).toEqual([]);
  await expect(as(other.owner).call(statistics.cards, { body: { siteIDs: [site.id] } })).rejects.toMatchObject({
    status: 404,
  });
});

test.each([
  [{ timeInterval: 'custom' }, 'startTime', 'required'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone', 'an IANA time zone'],
  [{ timeZone: 'JST' }, 'timeZone', 'an IANA time zone'],
  [
    { timeInterval: 'custom', startTime: '2026-02-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' },
    'endTime',
    'after the start',
  ],
] as const)('%j is refused', async (body, path, message) => {
  await expect(as(site.owner).call(statistics.cards, { body })).rejects.toMatchObject({
    envelope: { errorData: expect.arrayContaining([expect.objectContaining({ path, message })]) },
  });
});

test('steps too short for the time are refused', async () => {
  const body = { reportInterval: 1, timeInterval: 'thirtyDays' } as const;
  await expect(as(site.owner).call(statistics.timeSeries, { body })).rejects.toMatchObject({
    envelope: { errorData: [{ path: 'reportInterval', message: 'longer steps for this time' }] },
  });
});

test('rules and origins have their requests of the last 24 hours', async () => {
  const used = await build.domain({
    upstreams: [
      { address: '192.0.2.80', port: 443 },
      { address: '2001:db8::80', port: 443 },
      { address: 'origin.example.com', port: 443 },
      { address: '192.0.2.80', port: 8443 },
    ],
  });
  const { params } = used;
  const { owner, zone } = used.site;
  const readRules = () => as(owner).call(statistics.rules, { params: { siteId: params.siteId } });
  const readOrigins = () => as(owner).call(domainUpstreams.traffic, { params });
  const none = { isMeasured: false, data: [] };
  expect([await readRules(), await readOrigins()]).toEqual([none, none]);
  const { id } = await build.node({ zone });
  const [cacheRule, acl, geo, white] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const line = (over: Parameters<typeof logLine>[1]) => logLine(params.siteId, { domain: params.domainId, ...over });
  await addLogs(pool, id, [
    line({ upstream: '192.0.2.80:443', trail: `|cache,rule,,${cacheRule}` }),
    line({ upstream: '[2001:db8::80]:8443, 192.0.2.80:443', trail: `|cache,rule,,${cacheRule}` }),
    line({ upstream: '192.0.2.80:443', status: 503 }),
    line({ upstream: '198.51.100.1:443', status: 503 }),
    line({ upstream: '203.0.113.1:443 (origin.example.com)', status: 502 }),
    line({ upstream: '203.0.113.1:443 (gone.example.com)' }),
    line({ cache: 'HIT', trail: `|cache,rule,,${cacheRule}` }),
    line({ status: 929, cause: 'acl', rule: acl, trail: `4|acl,929,4,${acl}` }),
    line({ cause: 'acl', rule: `monitor/${acl}` }),
    // Two rules that only monitored, and a white list.
    line({ cause: 'acl', rule: `monitor/${acl}`, trail: `|geo,would,,${geo};acl,would,,${acl}` }),
    line({ cause: 'acl', rule: `monitor/${acl}`, trail: `|blacklist,white,,${white};acl,would,,${acl}` }),
    line({ time: Date.now() / 1000 - 25 * 3600, upstream: '192.0.2.80:443', cause: 'acl', rule: acl }),
    // Another domain of the site.
    logLine(params.siteId, { upstream: '192.0.2.80:443', status: 503 }),
  ]);
  const upstreamID = async (address: string) =>
    (await db.upstream.findFirstOrThrow({ where: { domainId: params.domainId, address, port: 443 } })).id;
  const { data, isMeasured } = await readRules();
  expect(isMeasured).toBe(true);
  expect(Object.fromEntries(data.map(({ ruleID, requests, wouldBlock }) => [ruleID, [requests, wouldBlock]]))).toEqual({
    [cacheRule]: [3, 0],
    [acl]: [4, 3],
    [geo]: [1, 1],
    [white]: [1, 0],
  });
  const origins = await readOrigins();
  expect(origins.isMeasured).toBe(true);
  expect(origins.data.toSorted((a, b) => b.attempts - a.attempts)).toEqual([
    { upstreamID: await upstreamID('192.0.2.80'), attempts: 3, failed: 1 },
    { upstreamID: await upstreamID('2001:db8::80'), attempts: 1, failed: 1 },
    { upstreamID: await upstreamID('origin.example.com'), attempts: 1, failed: 1 },
  ]);
  await expect(as(site.owner).call(statistics.rules, { params })).rejects.toMatchObject({ status: 404 });
  await expect(as(site.owner).call(domainUpstreams.traffic, { params })).rejects.toMatchObject({ status: 404 });
});

test('a site with many domains has all matches of its rules, and no figures of its origins', async () => {
  const { site: many, params } = await build.domain();
  const { id } = await build.node({ zone: many.zone });
  const rule = randomUUID();
  // All of one hour.
  const over = { time: Date.now() / 1000 - 3600, upstream: '192.0.2.80:443', trail: `|cache,rule,,${rule}` };
  const lines = () => Array.from({ length: 800 }, () => logLine(many.id, { ...over, domain: randomUUID() }));
  for (let sent = 0; sent <= 2 * VALUES_KEPT; sent += 800) await addLogs(pool, id, lines());
  expect(await as(many.owner).call(statistics.rules, { params })).toEqual({
    isMeasured: true,
    data: [{ ruleID: rule, requests: 4800, wouldBlock: 0 }],
  });
  expect(await as(many.owner).call(domainUpstreams.traffic, { params })).toEqual({ isMeasured: false, data: [] });
});

test('rules and origins have figures only if every hour with requests was counted by this release', async () => {
  const measuredAfter = async (forget: (siteID: string) => Promise<unknown>) => {
    const { site: used, params } = await build.domain();
    const { id } = await build.node({ zone: used.zone });
    const store = logStore(pool);
    // All of one hour, and without a match.
    const line = () => logLine(used.id, { time: Date.now() / 1000 - 3600 });
    const add = async (file: string) => store.store(id, logBatch(line(), 0, file), new Date());
    await add('before');
    await forget(used.id);
    await store.mergeTops(new Date());
    const read = async () => {
      const call = as(used.owner);
      const rules = await call.call(statistics.rules, { params });
      return [rules.isMeasured, (await call.call(domainUpstreams.traffic, { params })).isMeasured];
    };
    const before = await read();
    await add('after');
    await store.mergeTops(new Date());
    return [before, await read()];
  };
  const [yes, no] = [
    [true, true],
    [false, false],
  ];
  expect(await measuredAfter(() => Promise.resolve())).toEqual([yes, yes]);
  const countWithoutRules = () =>
    pool.query(`UPDATE pending_tops SET groups = replace(groups::text, '[103,[]]', '[1,[]]')::json`);
  expect(await measuredAfter(countWithoutRules)).toEqual([no, no]);
  const mergeWithoutRules = async (siteID: string) => {
    await logStore(pool).mergeTops(new Date());
    await pool.query('DELETE FROM top_groups WHERE site_id = $1 AND type >= 103', [siteID]);
  };
  expect(await measuredAfter(mergeWithoutRules)).toEqual([no, no]);
});

test('matches counted by an earlier release have no number of requests that would have been blocked', async () => {
  const { site: used, params } = await build.domain();
  const { id } = await build.node({ zone: used.zone });
  const acl = randomUUID();
  const store = logStore(pool);
  const line = () => logLine(used.id, { cause: 'acl', rule: `monitor/${acl}`, trail: `|acl,would,,${acl}` });
  const read = () => as(used.owner).call(statistics.rules, { params });
  await store.store(id, logBatch(line(), 0, 'new'), new Date());
  await store.mergeTops(new Date());
  expect(await read()).toEqual({ isMeasured: true, data: [{ ruleID: acl, requests: 1, wouldBlock: 1 }] });
  await store.store(id, logBatch(line(), 0, 'earlier'), new Date());
  await pool.query(`UPDATE pending_tops SET groups = replace(groups::text, '[106,[[', '[1,[[')::json`);
  await store.mergeTops(new Date());
  expect(await read()).toEqual({ isMeasured: true, data: [{ ruleID: acl, requests: 2, wouldBlock: null }] });
});

test('of too many values the largest stay, with the error of their counts', async () => {
  const many = await build.site();
  const { id } = await build.node({ zone: many.zone });
  const uris = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => logLine(many.id, { uri: `/${from + i}` }));
  const often = () => Array.from({ length: 5 }, () => logLine(many.id, { uri: '/often' }));
  for (let i = 0; i < 5; i += 1) await addLogs(pool, id, [...often(), ...uris(i * 1000, 1000)]);
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM top_values WHERE site_id = $1 AND type = $2',
    [many.id, topTypes.url],
  );
  expect(rows[0]?.count).toBeLessThanOrEqual(2 * VALUES_KEPT);
  const { data } = await as(many.owner).call(statistics.top, { body: { type: topTypes.url, top: 2 } });
  expect(data[0]).toEqual({ value: 'www.example.com/often', requests: 25, bytes: 25_000, error: 0 });
  await addLogs(pool, id, uris(9000, 1));
  const { rows: late } = await pool.query<{ error: string }>(
    `SELECT error FROM top_values WHERE site_id = $1 AND type = $2 AND value = 'www.example.com/9000'`,
    [many.id, topTypes.url],
  );
  expect(late).toEqual([{ error: '1' }]);
});

test('filters narrow every figure to the requests with these values', async () => {
  const call = as(site.owner);
  const country = { filters: { country: ['JP'] } };
  expect(await cardsOf(country)).toMatchObject({
    [cardTypes.traffic]: [1000, 0],
    [cardTypes.requests]: [1, 0],
    [cardTypes.hitRate]: [0, null],
    [cardTypes.addresses]: [1, 0],
  });
  const { series } = await call.call(statistics.timeSeries, { body: { ...country, types: [12] } });
  const sums = series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]);
  expect(sums).toEqual([
    ['2xx', 0],
    ['3xx', 0],
    ['4xx', 1],
    ['5xx', 0],
    ['9xx', 0],
  ]);
  const topOf = async (type: keyof typeof topTypes, filters: object) => {
    const { data, total } = await call.call(statistics.top, { body: { type: topTypes[type], filters } });
    return [data.map(({ value, requests }) => [value, requests]), total.requests];
  };
  expect(await topOf('url', { status: ['4xx'] })).toEqual([[['a.example/y', 1]], 1]);
  expect(await topOf('address', { status: ['929'], blacklist: ['blacklist'] })).toEqual([[['2001:db8::1', 1]], 1]);
  expect(await topOf('blacklist', { protocol: ['ipv6'] })).toEqual([[['blacklist', 1]], 1]);
  expect(await topOf('method', { url: ['a.example/x'], referer: ['https://r.example/p'] })).toEqual([[['GET', 1]], 1]);
  const { data } = await call.call(statistics.rank, { body: { filters: { status: ['200'] } } });
  expect(data.map(({ domain: name, requests, hitRate }) => [name, requests, hitRate])).toEqual([[domain.name, 1, 1]]);
});

test('each value of a top selects as many requests as the top counts', async () => {
  for (const [kind, type] of Object.entries(topTypes)) {
    const { data } = await as(site.owner).call(statistics.top, { body: { type } });
    for (const { value, requests } of data)
      expect([kind, value, (await cardsOf({ filters: { [kind]: [value] } }))[cardTypes.requests]?.[0]]).toEqual([
        kind,
        value,
        requests,
      ]);
  }
});

test('filters are accepted for a day that begins at any minute, in steps of a minute', async () => {
  const end = Math.floor(Date.now() / (5 * MINUTE)) * 5 * MINUTE - 4 * MINUTE;
  const body = {
    timeInterval: 'custom',
    startTime: new Date(end - 25 * HOUR).toISOString(),
    endTime: new Date(end).toISOString(),
    reportInterval: 1,
  } as const;
  const { from, to } = await as(site.owner).call(statistics.timeSeries, {
    body: { ...body, filters: { method: ['GET'] } },
  });
  expect([Date.parse(from), Date.parse(to)]).toEqual([end - 25 * HOUR - MINUTE, end + 4 * MINUTE]);
});

test.each([
  [{ timeInterval: 'sevenDays', filters: { method: ['GET'] } }, 'timeInterval'],
  [{ filters: { country: [] } }, 'filters.country'],
  [{ siteIDs: Array.from({ length: 21 }, () => '00000000-0000-7000-8000-000000000000') }, 'siteIDs'],
] as const)('%j is refused at its field', async (body, path) => {
  await expect(as(site.owner).call(statistics.cards, { body: body as object })).rejects.toMatchObject({
    envelope: { errorData: [expect.objectContaining({ path })] },
  });
});

test('lists of sites and domains have the traffic of the last 24 hours', async () => {
  const unmeasured = await build.site();
  const client = as(site.client);
  const sitesOf = async () => (await client.call(clientSites.list)).data.map(({ id, traffic }) => [id, traffic]);
  expect(await sitesOf()).toEqual([[site.id, 4500]]);
  expect((await as(unmeasured.client).call(clientSites.list)).data[0]?.traffic).toBeNull();
  const { data: own } = await as(site.owner).call(domains.list, { params: { siteId: site.id } });
  expect(own.find(({ id }) => id === domain.id)?.traffic).toBe(4000);
  const { data: all } = await client.call(clientDomains.list);
  expect(all.find(({ id }) => id === domain.id)?.traffic).toBe(4000);
  expect((await as(site.owner).call(ownSites.resources)).traffic).toBe(11_500);
  expect((await as(site.owner).call(sites.get, { params: { siteId: site.id } })).traffic).toBe(11_500);
  const sub = await build.subUser(site.owner, [site], { permissions: ['site:read'] });
  expect((await as(sub).call(ownSites.list)).data[0]?.traffic).toBeNull();
});

test('the bandwidth of nodes is by the hour, and only of own nodes', async () => {
  const { times, data } = await as(site.client).call(nodeStatistics.bandwidth);
  expect([times.length, data.length]).toEqual([24, 1]);
  // The hour may have changed since the rows were stored.
  expect(Math.max(...(data[0]?.values.slice(-2) ?? []).map((value) => value ?? 0))).toBeGreaterThan(0);
  expect(data[0]?.values.slice(0, -2).every((value) => value === null)).toBe(true);
  const other = await build.site();
  expect((await as(other.client).call(nodeStatistics.bandwidth)).data).toEqual([]);
});

test('sites have their bandwidth of each hour, 0 where only others had requests, and null where nothing was measured', async () => {
  const product = await build.product();
  const owner = await build.user(product);
  const [busy, idle] = [await build.site({ product, owner }), await build.site({ product, owner })];
  const { id } = await build.node({ zone: product.zone });
  const hour = Math.floor(Date.now() / HOUR) * HOUR - 3 * HOUR;
  await addLogs(pool, id, [logLine(busy.id, { time: hour / 1000, bytes: 4500 })]);
  const body = { siteIDs: [busy.id, idle.id] };
  for (const account of [owner, busy.client]) {
    const { times, data } = await as(account).call(statistics.siteBandwidth, { body });
    const valuesOf = (siteID: string) => data.find((row) => row.id === siteID)?.values ?? [];
    const at = times.findIndex((time) => Date.parse(time) === hour);
    expect([times.length, valuesOf(busy.id)[at], valuesOf(idle.id)[at]]).toEqual([24, (4500 * 8) / 3600, 0]);
    expect([valuesOf(busy.id)[at - 1], valuesOf(idle.id)[at - 1]]).toEqual([null, null]);
  }
  // A list may have a site that was removed since, or another customer's.
  const { data } = await as(owner).call(statistics.siteBandwidth, { body: { siteIDs: [busy.id, site.id] } });
  expect(data.map((row) => row.id)).toEqual([busy.id]);
});

// Regression: the consoles credited the bundled database, whichever was in use.
test('tops of countries name the database that is in use', async () => {
  const sourcesOf = async () => {
    const { call } = as(site.owner);
    const country = await call(statistics.top, { body: { type: topTypes.country } });
    const status = await call(statistics.top, { body: { type: topTypes.status } });
    const layer4 = await call(statistics.layer4TopCountries, { body: {} });
    return [country.countrySource, layer4.countrySource, status.countrySource];
  };
  expect(await sourcesOf()).toEqual(['bundled', 'bundled', undefined]);
  onTestFinished(await useOwnCountries(installation));
  expect(await sourcesOf()).toEqual(['own', 'own', undefined]);
});

test('figures of which a part is not kept any more are null, refused or of the part that is kept', async () => {
  const days = (from: number, to: number) => ({
    timeInterval: 'custom' as const,
    startTime: new Date(Date.now() - from * 24 * HOUR).toISOString(),
    endTime: new Date(Date.now() - to * 24 * HOUR + 10 * MINUTE).toISOString(),
  });
  const call = as(site.owner);
  const cardsOf = async (body: object) => {
    const { data } = await call.call(statistics.cards, { body });
    return new Map(data.map(({ type, value, previous }) => [type, [value, previous]]));
  };
  const recent = await cardsOf(days(90, 0));
  expect(recent.get(cardTypes.bandwidth95)?.[0]).toBeGreaterThan(0);
  expect(recent.get(cardTypes.bandwidth95)?.[1]).toBeNull();
  const old = await cardsOf(days(120, 0));
  expect(old.get(cardTypes.bandwidth95)?.[0]).toBeNull();
  expect(old.get(cardTypes.addresses)?.[0]).toBe(recent.get(cardTypes.addresses)?.[0]);

  // Shares are of the requests in the time of the values.
  const { from, data, total } = await call.call(statistics.top, { body: { type: topTypes.country, ...days(60, 0) } });
  expect(Date.now() - new Date(from).getTime()).toBeLessThanOrEqual(32 * 24 * HOUR);
  expect(data.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThanOrEqual(total.requests);

  const filters = { method: ['GET'] };
  await expect(call.call(statistics.cards, { body: { filters, ...days(20, 19.5) } })).rejects.toMatchObject({
    status: 400,
    envelope: { errorData: [{ path: 'timeInterval', rule: 'range' }] },
  });
  await cardsOf({ filters, ...days(7.9, 7.5) });
});
