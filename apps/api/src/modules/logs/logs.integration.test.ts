import { randomBytes, randomUUID } from 'node:crypto';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import type * as z from 'zod';
import type { LogQuery } from '@edgeloom/contract/logs/logs.ts';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { addLogs, logBatch, logLine, logStore, retention } from '../../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../../tests/support/services/app.ts';
import { LogStore } from '../../statistics/log-store.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const site = await build.site();
const node = await build.node({ zone: site.zone });
const domain = await build.domain({ site });
const MINUTE = 60_000;
const iso = (fromNow: number) => new Date(Date.now() + fromNow).toISOString();
const times = () => ({ startTime: iso(-30 * MINUTE), endTime: iso(MINUTE) });
type Query = Partial<Omit<z.input<typeof LogQuery>, 'startTime' | 'endTime'>>;
const search = (query: Query = {}, account = site.owner) =>
  as(account).call(logs.access, { body: { ...times(), ...query } });
const paths = async (query: Query) => (await search(query)).data.map(({ uri }) => uri).toSorted();

const secondsAgo = (seconds: number) => Date.now() / 1000 - seconds;
const [first, second, third] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)];
await addLogs(pool, node.id, [
  logLine(site.id, {
    id: first,
    time: secondsAgo(30),
    domain: domain.id,
    host: domain.name,
    uri: '/Checkout',
    args: 'step=2',
    method: 'POST',
    status: 502,
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
    bytes: 1000,
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
  expect(data[1]).toMatchObject({
    domainID: null,
    domain: '',
    address: '2001:db8::7',
    upstreamTime: null,
    country: '',
  });
  expect((await search({}, site.client)).data[0]?.nodeName).toBe(node.name);
});

test.each<[Query, string[]]>([
  [{ status: ['5xx'] }, ['/Checkout']],
  [{ status: ['929', '200'] }, ['/login', '/logo.png']],
  [{ uri: ['check'] }, ['/Checkout']],
  [{ uri: ['%', '_'] }, []],
  [{ remoteIP: ['192.0.2.0/24', '2001:db8::/32'] }, ['/Checkout', '/logo.png']],
  [{ cacheStatus: ['HIT'] }, ['/logo.png']],
  [{ cacheStatus: ['-'] }, ['/login']],
  [{ method: ['POST'] }, ['/Checkout']],
  [{ country: ['JP'] }, ['/login']],
  [{ cause: ['antiCC'] }, ['/login']],
  [{ userAgent: ['x11'] }, ['/Checkout']],
  [{ referer: ['SEARCH.example'] }, ['/Checkout']],
  [{ domains: [domain.name] }, ['/Checkout']],
  [{ domains: ['other.example'] }, []],
  [{ siteIDs: [site.id], reqID: second }, ['/logo.png']],
  [{ nodeIDs: [node.id], not: { status: ['5xx'], remoteIP: ['198.51.100.9'] } }, ['/logo.png']],
  [{ not: { domains: [domain.name], uri: ['LOGO'] } }, ['/login']],
])('%j finds %j', async (query, found) => {
  expect(await paths(query)).toEqual(found);
});

test('pages by number, and from a row on', async () => {
  expect((await search({ page: 2, pageSize: 1 })).data.map(({ id }) => id)).toEqual([second]);
  expect(await search({ page: 9, pageSize: 1 })).toEqual({ data: [], total: 3, reached: null });
  const [newest] = (await search({ pageSize: 1 })).data;
  const older = await search({ before: { time: newest?.time ?? '', id: newest?.id ?? '' } });
  expect(older.data.map(({ id }) => id)).toEqual([second, first]);
});

test('more matches than are counted are all reached from row to row', async () => {
  const many = await build.site();
  const { id } = await build.node({ zone: many.zone });
  const ids = Array.from({ length: 1203 }, () => randomBytes(16).toString('hex'));
  await addLogs(
    pool,
    id,
    ids.map((each, i) => logLine(many.id, { id: each, time: Math.floor(secondsAgo(i / 100)) })),
  );
  expect((await search({}, many.owner)).total).toBe(1000);
  const found: string[] = [];
  let before: Query['before'];
  for (;;) {
    const { data } = await search({ pageSize: 500, ...(before && { before }) }, many.owner);
    const last = data.at(-1);
    if (last === undefined) break;
    found.push(...data.map((row) => row.id));
    before = { time: last.time, id: last.id };
  }
  expect(found.toSorted()).toEqual(ids.toSorted());
});

test('a search that takes too long says how far it got, and continues there', async () => {
  const { env } = installation;
  installation.env = { ...env, LOG_SEARCH_MS: 0 };
  onTestFinished(() => {
    installation.env = env;
  });
  const { startTime, endTime } = times();
  // A client that does not know `reached` gets all rows.
  expect(await search({ status: ['502'] })).toMatchObject({ total: 1, reached: null });
  const early = await search({ status: ['404'], mayEndEarly: true });
  expect(early).toMatchObject({ data: [], total: 0, reached: expect.any(String) });
  const body = { startTime, endTime, until: early.reached ?? '', status: ['404'], mayEndEarly: true };
  const next = await as(site.owner).call(logs.access, { body });
  expect(Date.parse(next.reached ?? '')).toBe(Date.parse(early.reached ?? '') - 15_000);
  const end = new Date(Date.parse(startTime) + 15_000).toISOString();
  const last = await as(site.owner).call(logs.access, { body: { ...body, until: end } });
  expect(last.reached).toBeNull();
});

describe('a reader', () => {
  test('finds requests of its own sites only', async () => {
    const other = await build.site();
    expect((await search({}, other.owner)).total).toBe(0);
    expect((await search({}, other.client)).total).toBe(0);
    await expect(search({ siteIDs: [site.id] }, other.owner)).rejects.toMatchObject({ status: 404 });
    await expect(as(other.owner).call(logs.request, { params: { reqID: first } })).rejects.toMatchObject({
      status: 404,
    });
    expect(await as(site.owner).call(logs.request, { params: { reqID: first } })).toMatchObject({ uri: '/Checkout' });
  });

  test('may search one day at a time', async () => {
    const body = { startTime: iso(-26 * 60 * MINUTE), endTime: iso(0) };
    await expect(as(site.owner).call(logs.access, { body })).rejects.toMatchObject({
      status: 400,
      envelope: { errorData: [{ path: 'endTime', message: 'at most one day' }] },
    });
  });
});

test('hostile text is stored as it came', async () => {
  const hostile = await build.site();
  const { id } = await build.node({ zone: hostile.zone });
  const uri = '/\t\\N\\.\n\r\u0000"\'<script>\uD800 ‮';
  await addLogs(pool, id, [
    logLine(hostile.id, { uri, userAgent: uri, referer: 'x'.repeat(5000), address: '::ffff:192.0.2.1' }),
  ]);
  const { data } = await search({}, hostile.owner);
  const clean = uri.replace('\u0000', '\uFFFD').replace('\uD800', '\uFFFD');
  expect(data).toMatchObject([{ uri: clean, userAgent: clean, referer: 'x'.repeat(1024) }]);
});

test('bytes of paths that are not UTF-8 are stored as escapes, and are found by them', async () => {
  const old = await build.site();
  const { id } = await build.node({ zone: old.zone });
  // nginx logs the decoded path. C6 B7 alone is UTF-8.
  const bytes = Buffer.from('\xb2\xfa\xc6\xb7', 'latin1');
  const [before = '', after = ''] = logLine(old.id, { uri: '/GBK"/GBK.html', userAgent: '產品' }).split(/GBK\\"\/GBK/);
  const lines = [Buffer.from(before), bytes, Buffer.from('\\"/'), bytes, Buffer.from(after)];
  const batch = logBatch(Buffer.concat([...lines, Buffer.from(logLine(old.id, { uri: '/中 "%B2' }))]));
  await logStore(pool).store(id, batch, new Date());
  const found = async (uri: string) =>
    (await search({ uri: [uri] }, old.owner)).data.map((row) => [row.uri, row.userAgent]);
  expect(await found('%B2%FA')).toEqual([['/%B2%FA%C6%B7"/%B2%FA%C6%B7.html', '產品']]);
  expect(await found('/中')).toMatchObject([['/中 "%B2', expect.anything()]]);
});

test('a line with figures that no column holds does not stop the lines after it', async () => {
  const odd = await build.site();
  const { id } = await build.node({ zone: odd.zone });
  const days = 86_400;
  await addLogs(pool, id, [
    logLine(odd.id, { requestTime: 40 * days, upstreamTime: `${40 * days}.000` }),
    logLine(odd.id, { port: 2 ** 40 }),
    logLine(odd.id, { address: 'fe80::1%eth0' }),
    logLine(odd.id, { uri: '/after' }),
  ]);
  const { data } = await search({}, odd.owner);
  expect(data.map(({ uri, requestTime }) => [uri, requestTime]).toSorted()).toEqual([
    ['/', 2 ** 31 - 1],
    ['/after', 12],
  ]);
});

test('a node cannot write rows of a site of another zone', async () => {
  const [own, other] = [await build.site(), await build.site()];
  const { id } = await build.node({ zone: own.zone });
  await addLogs(pool, id, [logLine(other.id)]);
  expect((await search({}, other.owner)).total).toBe(0);
});

test('a clock that is an hour off is corrected', async () => {
  const late = await build.site();
  const { id } = await build.node({ zone: late.zone });
  const HOUR = 3_600_000;
  const batch = { ...logBatch(logLine(late.id, { time: secondsAgo(3605) })), sentAt: Date.now() - HOUR };
  await logStore(pool).store(id, batch, new Date());
  const [row] = (await search({}, late.owner)).data;
  expect(Math.abs(Date.now() - 5000 - Date.parse(row?.time ?? ''))).toBeLessThan(MINUTE);
});

describe('decisions', () => {
  test('a request names the rules that decided about it, and rules removed since by their id', async () => {
    const { id: ruleID } = await installation.db.antiHeader.create({
      data: {
        siteId: site.id,
        name: 'X-Robot',
        operator: 'exists',
        value: '',
        action: 'deny',
        priority: 1,
        enabled: true,
      },
    });
    const [refused, gone] = ['d'.repeat(32), 'e'.repeat(32)];
    const removed = randomUUID();
    await addLogs(pool, node.id, [
      logLine(site.id, {
        id: refused,
        status: 403,
        cause: 'antiHeader',
        rule: ruleID,
        trail: `9.8|tokenAuth,pass,4.1,;antiHeader,403,2.5,${ruleID}`,
      }),
      logLine(site.id, { id: gone, cache: 'HIT', trail: `|cache,rule,,${removed}` }),
    ]);
    const request = (reqID: string) => as(site.owner).call(logs.request, { params: { reqID } });
    const { trail, microseconds } = await request(refused);
    expect(microseconds).toBe(9.8);
    expect(trail).toMatchObject([
      { step: 'host', decision: 'passed', detail: `www.example.com → ${site.name}`, rule: null },
      { step: 'tokenAuth', decision: 'passed', microseconds: 4.1 },
      {
        step: 'antiHeader',
        decision: 'refused',
        status: 403,
        microseconds: 2.5,
        rule: { id: ruleID, name: expect.stringContaining('X-Robot') },
      },
    ]);
    expect((await request(gone)).trail).toMatchObject([
      { step: 'host' },
      { step: 'cache', decision: 'applied', rule: { id: removed, name: null } },
      { step: 'store', decision: 'served', detail: 'HIT' },
    ]);
  });

  test('what a log leaves out is part of the documents of the site and its forwards', async () => {
    const masked = await build.site();
    const { params } = masked;
    const body = { maskAddress: true, maskQuery: true, sampling: 10 };
    expect(await as(masked.owner).call(sites.setLogSetting, { params, body })).toEqual(body);
    expect(await as(masked.client).call(sites.logSetting, { params })).toEqual(body);
    const { rows } = await pool.query('SELECT key FROM outbox WHERE zone_id = $1', [masked.zone.id]);
    expect(rows).toContainEqual({ key: `site/${masked.id}` });
    await expect(as(site.owner).call(sites.logSetting, { params })).rejects.toMatchObject({ status: 404 });
    await expect(as(site.owner).call(sites.setLogSetting, { params, body })).rejects.toMatchObject({ status: 404 });
  });
});

test('rare user agents and referers are found in each hour, merged or not, and cut or removed values too', async () => {
  const rare = await build.site();
  const { id } = await build.node({ zone: rare.zone });
  const now = Date.now() / 1000;
  const hoursAgo = (hours: number) => now - hours * 3600;
  const common = [1, 2, 3].map((hours) => logLine(rare.id, { time: hoursAgo(hours), uri: '/common' }));
  await addLogs(pool, id, [
    ...common,
    logLine(rare.id, { time: hoursAgo(2), uri: '/agent', userAgent: 'Rare-Agent/1.0' }),
    logLine(rare.id, { time: hoursAgo(3), uri: '/long', referer: `https://r.example/?${'x'.repeat(600)}needle` }),
    logLine(rare.id, { time: hoursAgo(4), uri: '/wide', referer: `https://r.example/?${'😀'.repeat(300)}haystack` }),
  ]);
  const day = { startTime: iso(-23 * 60 * MINUTE), endTime: iso(MINUTE) };
  const find = async (query: Query) =>
    (await as(rare.owner).call(logs.access, { body: { ...day, ...query } })).data.map(({ uri }) => uri);
  expect(await find({ userAgent: ['rare-agent'] })).toEqual(['/agent']);
  expect(await find({ referer: ['NEEDLE'] })).toEqual(['/long']);
  expect(await find({ referer: ['haystack'] })).toEqual(['/wide']);
  expect(await find({ userAgent: ['none such'] })).toEqual([]);
  expect(await find({ userAgent: ['rare', 'curl'], referer: ['r.example'] })).toEqual(['/long', '/wide']);

  const pending = logBatch(logLine(rare.id, { time: hoursAgo(1), uri: '/pending', userAgent: 'rare-agent/2' }), 0, 'p');
  await logStore(pool).store(id, pending, new Date());
  expect(await find({ userAgent: ['rare-agent'] })).toEqual(['/pending', '/agent']);

  // A process of the release before counts no user agents, so that the hour is not complete.
  const before = logBatch(logLine(rare.id, { time: hoursAgo(5), uri: '/old', userAgent: 'rare-agent/0' }), 0, 'o');
  await logStore(pool).store(id, before, new Date());
  await pool.query(
    `UPDATE pending_tops SET hours = '{}', groups = replace(groups::text, '[101,[["rare-agent/0",1,1000]]]', '[1,[]]')::json`,
  );
  await logStore(pool).mergeTops(new Date());
  await addLogs(pool, id, [logLine(rare.id, { time: hoursAgo(5), userAgent: 'other' })]);
  expect(await find({ userAgent: ['rare-agent'] })).toEqual(['/pending', '/agent', '/old']);

  // As after a removal of rare values.
  await pool.query('DELETE FROM top_values WHERE site_id = $1 AND type = 101', [rare.id]);
  await logStore(pool).mergeTops(new Date());
  await pool.query('UPDATE top_groups SET removed = 1 WHERE site_id = $1 AND type = 101', [rare.id]);
  expect(await find({ userAgent: ['rare-agent'] })).toEqual(['/pending', '/agent', '/old']);
});

test('a search for rare statuses reads only the five minutes that have them, up to their borders', async () => {
  const rare = await build.site();
  const { id } = await build.node({ zone: rare.zone });
  const step = Math.floor(Date.now() / 300_000) * 300 - 600;
  const at = (seconds: number, status: number) =>
    logLine(rare.id, { time: step + seconds, status, uri: `/${status}/${seconds}` });
  await addLogs(pool, id, [at(0, 502), at(299.999, 503), at(300, 504), at(10, 404), at(20, 101), at(30, 200)]);
  const find = async (status: string[]) => (await search({ status }, rare.owner)).data.map(({ uri }) => uri);
  expect(await find(['5xx'])).toEqual(['/504/300', '/503/299.999', '/502/0']);
  expect(await find(['404', '5xx'])).toEqual(['/504/300', '/503/299.999', '/404/10', '/502/0']);
  // No sum counts 1xx.
  expect(await find(['101', '404'])).toEqual(['/101/20', '/404/10']);
  await pool.query('UPDATE traffic SET s5 = 0, s2 = 0 WHERE site_id = $1 AND step = 300 AND at = to_timestamp($2)', [
    rare.id,
    step,
  ]);
  expect(await find(['5xx'])).toEqual(['/504/300']);
  expect(await find(['503', '404'])).toEqual(['/503/299.999', '/404/10']);
  expect(await find(['2xx'])).toEqual(['/200/30']);
});

test('a search for addresses reads only hours that have them, and networks are found in all hours', async () => {
  const rare = await build.site();
  const { id } = await build.node({ zone: rare.zone });
  const now = Date.now() / 1000;
  const hoursAgo = (hours: number) => now - hours * 3600;
  await addLogs(pool, id, [
    logLine(rare.id, { time: hoursAgo(1), address: '198.51.100.7', uri: '/one' }),
    logLine(rare.id, { time: hoursAgo(2), address: '198.51.100.7', uri: '/two', status: 502 }),
    logLine(rare.id, { time: hoursAgo(3), address: '2001:db8::7', uri: '/six' }),
  ]);
  const find = async (query: Query) => {
    const body = { startTime: iso(-23 * 60 * MINUTE), endTime: iso(MINUTE), ...query };
    return (await as(rare.owner).call(logs.access, { body })).data.map(({ uri }) => uri);
  };
  const address = { remoteIP: ['198.51.100.7'] };
  expect(await find(address)).toEqual(['/one', '/two']);
  expect(await find({ ...address, status: ['5xx'] })).toEqual(['/two']);
  // Shows which hours are read.
  await pool.query('DELETE FROM top_values WHERE site_id = $1 AND type = $2 AND at < to_timestamp($3)', [
    rare.id,
    topTypes.address,
    Math.floor(hoursAgo(1) / 3600) * 3600,
  ]);
  expect(await find(address)).toEqual(['/one']);
  expect(await find({ ...address, status: ['5xx'] })).toEqual([]);
  expect(await find({ remoteIP: ['198.51.100.0/24'] })).toEqual(['/one', '/two']);
  expect(await find({ remoteIP: ['198.51.100.7', '2001:DB8:0::7'] })).toEqual(['/one', '/two', '/six']);
  expect(await find({ not: { remoteIP: ['198.51.100.9'] } })).toEqual(['/one', '/two', '/six']);
  await pool.query('UPDATE top_groups SET removed = 1 WHERE site_id = $1 AND type = $2', [rare.id, topTypes.address]);
  expect(await find(address)).toEqual(['/one', '/two']);
});

// Regression: after TOP_VALUES_DAYS was raised, the hours of such lines counted as complete.
test.each([
  ['in hours with other lines', true],
  ['in hours without', false],
])('lines that arrive later than top values are kept are found, %s', async (_, hasOthers) => {
  const { env } = installation;
  onTestFinished(() => {
    installation.env = env;
  });
  const late = await build.site();
  const { id } = await build.node({ zone: late.zone });
  const storeOf = (topValues: number) =>
    new LogStore(pool, { lookup: () => ({ country: '', province: '', isp: '' }) }, { ...retention, topValues });
  const now = Date.now();
  const before = now - 3 * 24 * 60 * MINUTE;
  const send = async (file: string, address: string, sentAt: number, topValues: number) => {
    const line = logLine(late.id, { time: before / 1000, address, uri: `/${file}`, userAgent: file, referer: file });
    const store = storeOf(topValues);
    await store.store(id, { ...logBatch(line, 0, file), sentAt }, new Date(sentAt));
    await store.mergeTops(new Date(sentAt));
  };
  const times = { startTime: iso(before - now - MINUTE), endTime: iso(before - now + MINUTE) };
  const expectFound = async (file: string, address: string, topValues: number) => {
    installation.env = { ...env, TOP_VALUES_DAYS: topValues };
    for (const query of [{ remoteIP: [address] }, { userAgent: [file] }, { referer: [file] }]) {
      const { data } = await as(late.owner).call(logs.access, { body: { ...times, ...query } });
      expect(data.map(({ uri }) => uri)).toEqual([`/${file}`]);
    }
  };
  if (hasOthers) await send('in-time', '198.51.100.7', before, 2);
  await send('late', '198.51.100.8', now, 2);
  for (const topValues of [2, 32]) await expectFound('late', '198.51.100.8', topValues);
  await send('second', '198.51.100.9', now, 32);
  await expectFound('late', '198.51.100.8', 32);
  await expectFound('second', '198.51.100.9', 32);
});
