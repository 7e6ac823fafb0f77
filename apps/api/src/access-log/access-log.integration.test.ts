// Both stores of requests answer alike.
import { gunzipSync } from 'node:zlib';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { logExports } from '@edgeloom/contract/log-exports/log-exports.endpoints.ts';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { LogLine } from '@edgeloom/contract/edge/log-batches.ts';
import { LogQuery } from '@edgeloom/contract/logs/logs.ts';
import type { WafLogQuery, WafSearch } from '@edgeloom/contract/logs/waf.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import type { BuiltSite } from '../../../../tests/support/builders/build.ts';
import { addLogs, logLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp, type TestApp } from '../../../../tests/support/services/app.ts';
import { startClickHouse } from '../../../../tests/support/services/clickhouse.ts';
import { isTimeout, reading, sql, type Visible } from '../core/sql.ts';
import type { ExportPosition } from './access-log.ts';
import { isTimeout as isClickHouseTimeout } from './clickhouse-client.ts';
import { accessLogOf, clickHouseOf } from './open.ts';
import { postgresAccessLog } from './postgres.ts';
import { claimExport, runExport } from '../log-exports/run-export.ts';

const MINUTE = 60_000;
const iso = (fromNow: number) => new Date(Date.now() + fromNow).toISOString();
const secondsAgo = (seconds: number) => Date.now() / 1000 - seconds;
type Query = Partial<Omit<z.input<typeof LogQuery>, 'startTime' | 'endTime'>>;
const [first, second, third] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)];
const hostile = '/\t\\N\\.\n\r"\'<script>{v0:String} %_ ‮é';

describe.each(['PostgreSQL', 'ClickHouse'])('in %s', (store) => {
  let app: TestApp;
  let site: BuiltSite;
  let node: { id: string; name: string };
  let domain: { id: string; name: string };
  let stop: () => Promise<void> = () => Promise.resolve();

  const add = (nodeID: string, lines: readonly string[]) =>
    addLogs(app.installation.pool, nodeID, lines, accessLogOf(app.installation));
  const search = (query: Query = {}, account = site.owner) =>
    app.as(account).call(logs.access, {
      body: { startTime: iso(-30 * MINUTE), endTime: iso(MINUTE), ...query },
    });
  const paths = async (query: Query, account = site.owner) =>
    (await search(query, account)).data.map(({ uri }) => uri).toSorted();

  /** The rows of an export in NDJSON. */
  async function exported(body: Sent<typeof logExports.create>['body'], account = site.owner) {
    const { id } = await app.as(account).call(logExports.create, { body });
    const claimed = await claimExport(app.installation.pool);
    if (claimed === null) throw new Error('nothing to export');
    await runExport(app.installation, claimed, new AbortController().signal);
    const file = await app.as(account).call(logExports.file, { params: { id } });
    return gunzipSync(Buffer.from(await file.arrayBuffer()))
      .toString()
      .trim()
      .split('\n')
      .map((line): { id: string } => JSON.parse(line));
  }
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);

  const readingAs = ({ id, email, clientId }: BuiltSite['owner'], kind: 'user' | 'client' = 'user') => {
    const session = { sessionId: id, apiTokenId: null, proxy: null, name: '', permissions: new Set<never>() };
    const owner = { id, clientId: clientId ?? '', email, kind, isRoot: true, rootId: id };
    return reading(app.installation.pool)({ ...owner, ...session });
  };

  beforeAll(async () => {
    if (store === 'ClickHouse') {
      const clickHouse = await startClickHouse();
      stop = clickHouse.stop;
      app = await testApp({ CLICKHOUSE_URL: clickHouse.url });
    } else app = await testApp();
    site = await app.build.site();
    node = await app.build.node({ zone: site.zone });
    domain = await app.build.domain({ site });
    await add(node.id, [
      logLine(site.id, {
        id: first,
        time: secondsAgo(30),
        domain: domain.id,
        host: domain.name,
        uri: '/Checkout',
        args: 'step=2',
        method: 'POST',
        status: 502,
        bytes: 3000,
        cache: 'MISS',
        upstream: '192.0.2.80:443',
        upstreamTime: '0.004, 0.120',
        requestTime: 0.13,
        userAgent: 'Mozilla/5.0 (X11)',
        referer: 'https://search.example/?q=shoes',
      }),
      logLine(site.id, { id: second, time: secondsAgo(20), uri: '/logo.png', cache: 'HIT', address: '2001:db8::7' }),
      logLine(site.id, {
        id: third,
        time: secondsAgo(10),
        uri: '/login',
        status: 929,
        cause: 'antiCC',
        rule: 'r1',
        address: '198.51.100.9',
      }),
    ]);
  });
  afterAll(async () => {
    await app.close();
    await stop();
  });

  describe('of the firewall', () => {
    const [blocked, monitored, old, damaged, later] = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(32));
    const cut = '6'.repeat(32);
    const explanation = {
      score: 5.5,
      points: 9,
      rules: [{ id: 'sqli-union-select', points: 5, from: 2, to: 14 }],
      place: 'query',
      name: 'id',
      steps: ['url'],
      excerpt: String.raw`1 union select "\xE4"`,
      tokens: [{ text: 'union select', weight: 1.5 }],
    };
    const inWaf = (query: Partial<z.input<typeof WafLogQuery>> = {}, account = firewalled.owner) =>
      app.as(account).call(logs.waf, { body: { startTime: iso(-30 * MINUTE), endTime: iso(MINUTE), ...query } });
    const ids = async (query: Partial<z.input<typeof WafLogQuery>>) => (await inWaf(query)).data.map(({ id }) => id);
    const detail = (reqID = '') => app.as(firewalled.owner).call(logs.request, { params: { reqID } });
    let firewalled: BuiltSite;

    beforeAll(async () => {
      firewalled = await app.build.site();
      const node = await app.build.node({ zone: firewalled.zone });
      const line = (id: string | undefined, seconds: number, rule: string, over: Partial<LogLine> = {}) =>
        logLine(firewalled.id, { id: id ?? '', time: secondsAgo(seconds), cause: 'waf', rule, ...over });
      await add(node.id, [
        logLine(firewalled.id, { cause: 'acl', rule: 'sqli-union-select' }),
        line(blocked, 10, 'sqli-union-select', { status: 403, waf: JSON.stringify(explanation) }),
        line(monitored, 20, 'monitor/sqli-union-select', { waf: JSON.stringify({ ...explanation, steps: undefined }) }),
        // A node of an earlier release sends no explanation.
        line(old, 30, 'monitor/files-dump'),
        line(damaged, 40, 'no-rule-of-ours', { waf: '{"points":1', status: 403 }),
        // A rule after the firewall, which only monitors, refused the request.
        line(later, 50, 'a-token', { cause: 'tokenAuth', status: 403, waf: JSON.stringify(explanation) }),
        logLine(firewalled.id, { cause: 'tokenAuth', rule: 'a-token', status: 403 }),
      ]);
    });

    test('a search returns its findings with rule, category, action and explanation', async () => {
      const { data, total } = await inWaf();
      expect(total).toBe(5);
      expect(data).toMatchObject([
        {
          id: blocked,
          ruleID: 'sqli-union-select',
          category: 'sqli',
          action: 'blocked',
          waf: explanation,
          nodeName: '',
        },
        { id: monitored, ruleID: 'sqli-union-select', action: 'monitored', waf: { points: 9 } },
        { id: old, ruleID: 'files-dump', category: 'files', action: 'monitored', waf: null },
        { id: damaged, ruleID: 'no-rule-of-ours', ruleName: null, category: null, action: 'blocked', waf: null },
        {
          id: later,
          ruleID: 'sqli-union-select',
          action: 'monitored',
          cause: 'tokenAuth',
          rule: 'a-token',
          waf: explanation,
        },
      ]);
      expect(data[0]?.ruleName?.['zh-TW']).toMatch(/\p{Script=Han}/u);
    });

    test('rules, a category and an action narrow the search, and match both actions otherwise', async () => {
      expect(await ids({ ruleIDs: ['sqli-union-select', 'files-dump'] })).toEqual([blocked, monitored, old, later]);
      expect(await ids({ category: 'sqli' })).toEqual([blocked, monitored, later]);
      expect(await ids({ category: 'sqli', ruleIDs: ['files-dump'] })).toEqual([]);
      expect(await ids({ action: 'monitored' })).toEqual([monitored, old, later]);
      expect(await ids({ action: 'blocked', ruleIDs: ['sqli-union-select'] })).toEqual([blocked]);
      expect(await ids({ status: ['403'] })).toEqual([blocked, damaged, later]);
    });

    test('pages go on', async () => {
      const [first] = (await inWaf({ pageSize: 1 })).data;
      expect(await ids({ pageSize: 1, page: 2 })).toEqual([monitored]);
      expect(await ids({ before: first && { time: first.time, id: first.id } })).toEqual([
        monitored,
        old,
        damaged,
        later,
      ]);
    });

    test('an export has the findings of a search, as the search shows them', async () => {
      const query = { startTime: iso(-30 * MINUTE), endTime: iso(MINUTE) };
      const filters: Partial<z.input<typeof WafSearch>>[] = [
        {},
        { category: 'sqli' },
        { action: 'blocked', status: ['403'] },
      ];
      for (const filter of filters) {
        const lines = await exported(
          { type: 'waf', format: 'ndjson', query: { ...query, ...filter } },
          firewalled.owner,
        );
        const { data } = await inWaf(filter);
        expect(lines.toSorted(byId)).toEqual(data.toSorted(byId));
        expect(data.length).toBeGreaterThan(1);
      }
    });

    // Regression: ClickHouse and the rows of the search read damaged JSON as one without a rule, PostgreSQL did not.
    test('a damaged explanation behind a later rule has the same rule in filters and rows', async () => {
      const guarded = await app.build.site();
      const node = await app.build.node({ zone: guarded.zone });
      const waf = JSON.stringify(explanation).slice(0, -20);
      await add(node.id, [logLine(guarded.id, { id: cut, cause: 'tokenAuth', rule: 'a-token', status: 403, waf })]);
      for (const query of [{}, { ruleIDs: ['sqli-union-select'] }, { category: 'sqli' as const }])
        expect((await inWaf(query, guarded.owner)).data).toMatchObject([
          { id: cut, ruleID: 'sqli-union-select', action: 'monitored', rule: 'a-token', waf: null },
        ]);
      expect((await inWaf({ ruleIDs: ['files-dump'] }, guarded.owner)).data).toEqual([]);
    });

    test('a request has its explanation, and one without it has none', async () => {
      expect((await detail(blocked)).waf).toEqual(explanation);
      expect((await detail(old)).waf).toBeNull();
      expect((await detail(damaged)).waf).toBeNull();
    });

    test('rows of others are not found', async () => {
      const other = await app.build.site();
      expect((await inWaf({}, other.owner)).data).toEqual([]);
      await expect(inWaf({ siteIDs: [firewalled.id] }, other.owner)).rejects.toMatchObject({ status: 404 });
    });
  });

  test('a read that takes longer than it may is ended by the store, and the next one is not', async () => {
    const { installation } = app;
    const endless = sql`SELECT count() AS count FROM numbers(1000000000000) WHERE number % 7 = 3`;
    const slow = (visible: Visible) => sql`SELECT pg_sleep(60), count(*) FROM sites s WHERE ${visible.site}`;
    const read = readingAs(site.owner);
    const hasTimedOut = await (store === 'ClickHouse'
      ? clickHouseOf(installation)?.read(endless, 100).catch(isClickHouseTimeout)
      : read(slow, 50).catch(isTimeout));
    expect(hasTimedOut).toBe(true);
    expect((await search()).total).toBe(3);
  });

  test('each read of a search has a time limit', async () => {
    const timeouts: unknown[] = [];
    const options = { limitMs: 20_000 };
    const query = LogQuery.parse({ startTime: iso(-30 * MINUTE), endTime: iso(MINUTE), uri: ['none such'] });
    const read = readingAs(site.owner);
    await postgresAccessLog.search(
      (build, timeoutMs) => {
        timeouts.push(timeoutMs);
        return read(build, timeoutMs);
      },
      query,
      options,
    );
    expect(timeouts.length).toBeGreaterThan(1);
    for (const timeout of timeouts) expect(timeout).toBeGreaterThanOrEqual(100);
  });

  test('a row has every field of its line', async () => {
    const { data, total } = await search();
    expect(total).toBe(3);
    expect(data.map(({ id }) => id)).toEqual([third, second, first]);
    expect(data[2]).toMatchObject({
      siteID: site.id,
      siteName: site.name,
      domainID: domain.id,
      domain: domain.name,
      nodeID: node.id,
      nodeName: '',
      host: domain.name,
      port: 443,
      address: '192.0.2.1',
      country: 'TW',
      method: 'POST',
      scheme: 'https',
      httpVersion: 'HTTP/2.0',
      uri: '/Checkout',
      args: 'step=2',
      status: 502,
      bytes: 3000,
      requestBytes: 100,
      requestTime: 130,
      upstreamTime: 124,
      upstream: '192.0.2.80:443',
      cacheStatus: 'MISS',
      userAgent: 'Mozilla/5.0 (X11)',
      referer: 'https://search.example/?q=shoes',
      cause: '',
      rule: '',
    });
    expect(Math.abs(Date.parse(data[2]?.time ?? '') - Date.now() + 30_000)).toBeLessThan(MINUTE);
    expect(data[1]).toMatchObject({ domainID: null, domain: '', address: '2001:db8::7', upstreamTime: null });
    expect((await search({}, site.client)).data[0]?.nodeName).toBe(node.name);
  });

  test('each filter finds its rows', async () => {
    const filters: [Query, string[]][] = [
      [{ status: ['5xx'] }, ['/Checkout']],
      [{ status: ['929', '200'] }, ['/login', '/logo.png']],
      [{ uri: ['check'] }, ['/Checkout']],
      [{ uri: ['%', '_', "'"] }, []],
      [{ remoteIP: ['192.0.2.77/24', '2001:db8::/32'] }, ['/Checkout', '/logo.png']],
      [{ remoteIP: ['198.51.100.9', '2001:db8::7'] }, ['/login', '/logo.png']],
      [{ remoteIP: ['0.0.0.0/0'] }, ['/Checkout', '/login']],
      [{ cacheStatus: ['HIT'] }, ['/logo.png']],
      [{ cacheStatus: ['-'] }, ['/login']],
      [{ method: ['POST'] }, ['/Checkout']],
      [{ country: ['JP'] }, ['/login']],
      [{ cause: ['antiCC'] }, ['/login']],
      [{ rule: ['r1', 'r2'] }, ['/login']],
      [{ rule: ['monitor/r1', 'r'] }, []],
      [{ host: [domain.name] }, ['/Checkout']],
      [{ host: [domain.name.slice(1), `www.${domain.name}`] }, []],
      [{ not: { host: [domain.name], rule: ['r1'] } }, ['/logo.png']],
      [{ userAgent: ['x11'] }, ['/Checkout']],
      [{ referer: ['SEARCH.example'] }, ['/Checkout']],
      [{ domains: [domain.name] }, ['/Checkout']],
      [{ domains: ['other.example'] }, []],
      [{ siteIDs: [site.id], reqID: second }, ['/logo.png']],
      [{ nodeIDs: [node.id], not: { status: ['5xx'], remoteIP: ['198.51.100.9'] } }, ['/logo.png']],
      [{ not: { domains: [domain.name], uri: ['LOGO'] } }, ['/login']],
      [{ not: { nodeIDs: [node.id] } }, []],
    ];
    for (const [query, found] of filters) expect([query, await paths(query)]).toEqual([query, found]);
  });

  test('pages continue after a row, also among rows of one millisecond', async () => {
    const busy = await app.build.site();
    const { id } = await app.build.node({ zone: busy.zone });
    const time = secondsAgo(60);
    await add(
      id,
      Array.from({ length: 25 }, (_, i) => logLine(busy.id, { uri: `/${i}`, time: time + (i % 3) / 1000 })),
    );
    const all = await search({ pageSize: 100 }, busy.owner);
    expect(all.total).toBe(25);
    const second = await search({ pageSize: 10, page: 2 }, busy.owner);
    expect(second.data).toEqual(all.data.slice(10, 20));
    const last = second.data.at(-1);
    const before = { time: last?.time ?? '', id: last?.id ?? '' };
    const third = await search({ pageSize: 10, before }, busy.owner);
    expect([third.total, third.data]).toEqual([5, all.data.slice(20)]);
  });

  test('a search for a rule also finds requests that it only monitored', async () => {
    const guarded = await app.build.site();
    const { id } = await app.build.node({ zone: guarded.zone });
    const rules = ['942100', 'monitor/942100', '9421', 'monitor/9421000', ''];
    await add(
      id,
      rules.map((rule) => logLine(guarded.id, { uri: `/${rule}`, cause: 'waf', rule })),
    );
    expect(await paths({ rule: ['942100'] }, guarded.owner)).toEqual(['/942100', '/monitor/942100']);
    expect(await paths({ rule: ['monitor/942100'] }, guarded.owner)).toEqual(['/monitor/942100']);
    const not = { rule: ['942100', '9421'] };
    expect(await paths({ not }, guarded.owner)).toEqual(['/', '/monitor/9421000']);
  });

  test('a search that ends early continues where it ended, and finds each row once', async () => {
    const slow = await app.build.site();
    const { id } = await app.build.node({ zone: slow.zone });
    const end = Math.floor(Date.now() / 1000);
    // Windows of 15 seconds end at whole ones of these seconds.
    const times = Array.from({ length: 90 }, (_, i) => end - Math.ceil((i + 1) / 3) * 7.5);
    await add(
      id,
      times.map((time, i) => logLine(slow.id, { uri: `/${i}`, time, status: i % 2 === 0 ? 200 : 404 })),
    );
    const query = LogQuery.parse({
      startTime: new Date((end - 300) * 1000).toISOString(),
      endTime: new Date(end * 1000).toISOString(),
      status: ['404'],
      pageSize: 50,
    });
    const accessLog = accessLogOf(app.installation);
    const options = { limitMs: 0 };
    const whole = await accessLog.search(readingAs(slow.owner), query, { ...options, limitMs: 20_000 });
    expect([whole.rows.length, whole.total, whole.reached]).toEqual([45, 45, null]);
    const found: string[] = [];
    let searches = 0;
    for (let until: Date | undefined; ; searches += 1) {
      const { rows, total, reached } = await accessLog.search(readingAs(slow.owner), { ...query, until }, options);
      expect(total).toBe(rows.length);
      found.push(...rows.map(({ id: each }) => each));
      if (reached === null) break;
      until = reached;
    }
    // The first window of PostgreSQL has 15 seconds, that of ClickHouse 15 minutes.
    expect(searches).toBe(store === 'PostgreSQL' ? 19 : 0);
    expect(found).toEqual(whole.rows.map(({ id: each }) => each));
    const { data, reached } = await app.as(slow.owner).call(logs.access, {
      body: { ...LogQuery.encode(query), until: new Date((end - 150) * 1000).toISOString() },
    });
    expect([data.map(({ id: each }) => each), reached]).toEqual([found.slice(-data.length), null]);
    expect(data.length).toBeGreaterThan(0);
  });

  test('a reader finds requests of its own sites only', async () => {
    const other = await app.build.site();
    expect((await search({}, other.owner)).total).toBe(0);
    expect((await search({}, other.client)).total).toBe(0);
    const request = (account: typeof other.owner) => app.as(account).call(logs.request, { params: { reqID: first } });
    await expect(request(other.owner)).rejects.toMatchObject({ status: 404 });
    expect(await request(site.owner)).toMatchObject({ uri: '/Checkout', domain: domain.name });
  });

  test('requests of no known site are their zone, and seen by its operator', async () => {
    await add(node.id, [logLine('', { uri: '/nobody' })]);
    expect(await paths({ noSite: true }, site.client)).toEqual(['/nobody']);
    expect(await paths({}, site.client)).not.toContain('/nobody');
  });

  test('the operator finds a request that nginx could not read by its ID', async () => {
    const id = 'e'.repeat(32);
    await add(node.id, [logLine('', { id, host: '_', method: '', httpVersion: '', status: 400, requestBytes: 0 })]);
    const request = (account: typeof site.owner) => app.as(account).call(logs.request, { params: { reqID: id } });
    expect(await request(site.client)).toMatchObject({ status: 400, method: '', siteID: null });
    await expect(request(site.owner)).rejects.toMatchObject({ status: 404 });
  });

  test('a request shows its decision trail', async () => {
    const id = 'd'.repeat(32);
    await add(node.id, [
      logLine(site.id, { id, uri: '/trail', time: secondsAgo(3600), trail: '9.8|tokenAuth,pass,4.1,' }),
    ]);
    expect(await app.as(site.owner).call(logs.request, { params: { reqID: id } })).toMatchObject({
      microseconds: 9.8,
      trail: [{ step: 'host' }, { step: 'tokenAuth', decision: 'passed', microseconds: 4.1 }],
    });
  });

  test('hostile text is stored as it came, and found', async () => {
    const odd = await app.build.site();
    const { id } = await app.build.node({ zone: odd.zone });
    const lines = [{ uri: hostile, userAgent: hostile, referer: 'x'.repeat(5000) }, { uri: '/other' }];
    await add(
      id,
      lines.map((line) => logLine(odd.id, line)),
    );
    const { data } = await search({ uri: [hostile.slice(3)] }, odd.owner);
    expect(data).toMatchObject([{ uri: hostile, userAgent: hostile, referer: 'x'.repeat(1024) }]);
    expect(await paths({ not: { uri: [hostile] } }, odd.owner)).toEqual(['/other']);
  });

  test('figures with filters count the requests with these values', async () => {
    const call = app.as(site.owner);
    const body = (filters: object) => ({ body: { siteIDs: [site.id], filters } });
    const cards = async (filters: object) => {
      const { data } = await call.call(statistics.cards, body(filters));
      return Object.fromEntries(data.map(({ type, value }) => [type, value]));
    };
    expect(await cards({ status: ['5xx'] })).toMatchObject({
      [cardTypes.traffic]: 3000,
      [cardTypes.requests]: 1,
      [cardTypes.hitRate]: 0,
      [cardTypes.addresses]: 1,
    });
    expect(await cards({ url: ['www.example.com/logo.png'] })).toMatchObject({
      [cardTypes.requests]: 1,
      [cardTypes.hitRate]: 1,
    });
    expect(await cards({ country: ['KR'] })).toMatchObject({ [cardTypes.requests]: 0, [cardTypes.addresses]: 0 });
    const { series } = await call.call(statistics.timeSeries, {
      body: { ...body({ method: ['POST', 'GET'] }).body, types: [12] },
    });
    const sums = series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]);
    expect(sums).toMatchObject([
      ['2xx', expect.any(Number)],
      ['3xx', 0],
      ['4xx', 0],
      ['5xx', 1],
      ['9xx', 1],
    ]);
    const top = async (type: keyof typeof topTypes, filters: object) => {
      const { data } = await call.call(statistics.top, { body: { ...body(filters).body, type: topTypes[type] } });
      return data.map(({ value, requests, bytes, error }) => [value, requests, bytes, error]);
    };
    expect(await top('url', { status: ['9xx'] })).toEqual([['www.example.com/login', 1, 1000, 0]]);
    expect(await top('referer', { status: ['502'] })).toEqual([['https://search.example/', 1, 3000, 0]]);
    expect(await top('address', { protocol: ['ipv6'] })).toEqual([['2001:db8::7', 1, 1000, 0]]);
    expect(await top('blacklist', { blocked: true })).toEqual([['antiCC', 1, 1000, 0]]);
    const { data } = await call.call(statistics.rank, body({ status: ['502', '929'] }));
    const ranked = data.map(({ domain: name, requests, errors }) => [name, requests, errors]);
    expect(ranked.toSorted()).toEqual([
      ['', 1, 1],
      [domain.name, 1, 1],
    ]);
  });

  test('a revalidated response counts as a request to the origin, with and without filters', async () => {
    const revalidated = await app.build.site();
    const { id: domainID } = await app.build.domain({ site: revalidated });
    const { id } = await app.build.node({ zone: revalidated.zone });
    await add(id, [
      logLine(revalidated.id, { domain: domainID, cache: 'REVALIDATED' }),
      logLine(revalidated.id, { domain: domainID, cache: 'HIT' }),
    ]);
    for (const filters of [undefined, { method: ['GET'] }]) {
      const { data } = await app.as(revalidated.owner).call(statistics.rank, { body: { ...(filters && { filters }) } });
      expect(data).toMatchObject([{ requests: 2, hitRate: 1, toUpstream: 1 }]);
    }
  });

  test('sampled requests stand for all of their site', async () => {
    const sampled = await app.build.site();
    const { id } = await app.build.node({ zone: sampled.zone });
    await app.installation.db.site.update({ where: { id: sampled.id }, data: { logSampling: 2 } });
    const ids = Array.from({ length: 10 }, (_, i) => i.toString(16).padStart(8, '0').padEnd(32, 'a'));
    await add(
      id,
      ids.map((requestID) => logLine(sampled.id, { id: requestID, cache: 'HIT' })),
    );
    expect((await search({}, sampled.owner)).total).toBe(5);
    const filters = { status: ['2xx'] };
    const { data, total } = await app
      .as(sampled.owner)
      .call(statistics.top, { body: { type: topTypes.country, filters } });
    expect(data.map(({ value, requests, bytes }) => [value, requests, bytes])).toEqual([['TW', 10, 10_000]]);
    expect(total).toEqual({ requests: 10, bytes: 10_000 });
  });

  test('equal requests that nothing refused are one group, the most frequent first', async () => {
    const own = await app.build.site();
    const line = (over: Partial<LogLine>) => logLine(own.id, { args: 'a=1', userAgent: 'é', ...over });
    const { id } = await app.build.node({ zone: own.zone });
    await add(id, [
      line({ uri: '/often', address: '2001:db8::7' }),
      line({ uri: '/often', address: '2001:db8::7' }),
      line({ uri: '/once', status: 404 }),
      line({ uri: '/refused', status: 929, cause: 'acl', rule: crypto.randomUUID() }),
      line({ uri: '/watched', status: 403, cause: 'acl', rule: `monitor/${crypto.randomUUID()}` }),
      line({ uri: '/earlier', time: secondsAgo(7200) }),
    ]);
    const times = { from: new Date(Date.now() - 60 * MINUTE), to: new Date(Date.now() + MINUTE) };
    const read = readingAs(own.owner);
    const groups = (limit: number) =>
      accessLogOf(app.installation).groups(read, { siteID: own.id, limit }, times, 10_000);
    const all = await groups(10);
    expect(all.map(({ uri, requests }) => [uri, requests])).toEqual([
      ['/often', 2],
      ['/once', 1],
      ['/watched', 1],
    ]);
    expect(all[0]).toEqual({
      address: '2001:db8::7',
      country: '',
      method: 'GET',
      scheme: 'https',
      host: 'www.example.com',
      port: 443,
      uri: '/often',
      args: 'a=1',
      userAgent: 'é',
      referer: '',
      requests: 2,
    });
    expect(await groups(1)).toEqual(all.slice(0, 1));
    expect(
      await accessLogOf(app.installation).groups(readingAs(site.owner), { siteID: own.id, limit: 9 }, times, 10_000),
    ).toEqual([]);
  });

  test('an export has every row of all sites once', async () => {
    const other = await app.build.site({ product: site.product, owner: site.owner });
    await add(
      node.id,
      Array.from({ length: 30 }, (_, i) => logLine(other.id, { uri: `/other-${i}`, time: secondsAgo(40 + (i % 2)) })),
    );
    const query = { startTime: iso(-30 * MINUTE), endTime: iso(MINUTE) };
    const lines = await exported({ query, format: 'ndjson' });
    const { data } = await search({ pageSize: 500 });
    expect(lines.map((line) => line.id).toSorted()).toEqual(data.map((row) => row.id).toSorted());
    expect(data.length).toBeGreaterThan(30);
  });

  test('reading on from a position misses no row and repeats none', async () => {
    const twins = Array.from({ length: 10 }, (_, i) => ({
      uri: `/twin-${i}`,
      id: 'e'.repeat(32),
      time: secondsAgo(50.5),
    }));
    await add(
      node.id,
      twins.map((twin) => logLine(site.id, { ...twin, time: twins[0]?.time ?? 0 })),
    );
    const accessLog = accessLogOf(app.installation);
    const read = readingAs(site.owner);
    const query = { startTime: new Date(iso(-30 * MINUTE)), endTime: new Date(iso(MINUTE)) };
    const whole = await accessLog.readOn(read, query, null, 1000);
    expect(whole.length).toBeGreaterThan(30);
    const pieces: typeof whole = [];
    for (let reached: ExportPosition | null = null; ;) {
      const page: typeof whole = await accessLog.readOn(read, query, reached, 7);
      pieces.push(...page);
      const last = page.at(-1);
      if (last === undefined) break;
      reached = { site: last.site, at: last.time.toISOString(), id: last.id, place: last.place };
    }
    expect(pieces.map((row) => row.uri)).toEqual(whole.map((row) => row.uri));
    const progress = pieces.map((row) => row.progress);
    expect(progress.every((share) => share > 0 && share <= 1)).toBe(true);
  });

  test('requests of no known site are read on as well', async () => {
    await add(
      node.id,
      Array.from({ length: 5 }, (_, i) => logLine('', { uri: `/nobody-${i}`, time: secondsAgo(50) })),
    );
    const read = readingAs(site.client, 'client');
    const query = {
      noSite: true as const,
      uri: ['/nobody-'],
      startTime: new Date(iso(-30 * MINUTE)),
      endTime: new Date(iso(MINUTE)),
    };
    const accessLog = accessLogOf(app.installation);
    const uris: string[] = [];
    for (let reached: ExportPosition | null = null; ;) {
      const [row, next] = await accessLog.readOn(read, query, reached, 2);
      if (row === undefined) break;
      uris.push(...[row, next].flatMap((found) => found?.uri ?? []));
      const { site: zone, time, id, place } = next ?? row;
      reached = { site: zone, at: time.toISOString(), id, place };
    }
    expect(uris.toSorted()).toEqual([0, 1, 2, 3, 4].map((i) => `/nobody-${i}`));
  });

  test('a live tail shows new rows that match, and no older ones', async () => {
    const leaving = new AbortController();
    const filter = JSON.stringify({ status: ['5xx'], not: { uri: ['health'] } });
    const stream = await app.as(site.owner).call(logs.tail, { query: { filter } }, { signal: leaving.signal });
    const events = stream[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ rows: [], dropped: 0 });
    await add(node.id, [
      logLine(site.id, { uri: '/live', status: 503 }),
      logLine(site.id, { uri: '/health', status: 503 }),
      logLine(site.id, { uri: '/fine' }),
    ]);
    const { value } = await events.next();
    expect(value).toMatchObject({ rows: [{ uri: '/live', siteID: site.id, nodeName: '' }], dropped: 0 });
    leaving.abort();
  });
});
