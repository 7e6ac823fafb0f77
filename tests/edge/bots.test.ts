// Search engines and other bots on a real edge, verified by the agent's code with a DNS server of the test.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { BotVerifier } from '@edgeloom/agent/bots/bot-verifier.ts';
import { createVerifyBot, reverseName } from '@edgeloom/agent/bots/verify-bot.ts';
import type { BotVerdict } from '@edgeloom/agent/nginx/admin.ts';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { settled } from '@edgeloom/api/modules/acl/acl.service.ts';
import { AclRuleInput } from '@edgeloom/contract/acl/acl.ts';
import type { SiteDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { noAntiCC, ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startEdge, zoneDoc, type Edge, type LuaChange } from '../support/services/edge.ts';

/** The test names its visitors' addresses in a header. */
const zone: Partial<ZoneDoc> = {
  id: randomUUID(),
  worker: { processes: 1, connections: 1024 },
  visitorAddress: { networks: ['127.0.0.1/32'], header: 'X-Forwarded-For' },
};
const { onEnd, stopAll } = collectedStops();
afterAll(stopAll);

let edge: Edge;
/** An edge without an agent, whose candidates the test fetches. */
let alone: Edge;
let names: Awaited<ReturnType<typeof startNameServer>>;
beforeAll(async () => {
  names = await startNameServer();
  onEnd(() => names.stop());
  edge = await startEdge({ zone });
  onEnd(() => edge.stop());
  const verifier = startVerifier(edge);
  onEnd(() => verifier.stop());
  alone = await startEdge({ zone });
  onEnd(() => alone.stop());
});

function startVerifier(of: Edge): BotVerifier {
  const file = path.join(of.dir, 'bots.json');
  const log = { warn: () => undefined };
  return new BotVerifier({ file, nginx: of.admin, verify: createVerifyBot([names.address]), log, intervalMs: 50 });
}

const agents = {
  google: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  bing: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  ahrefs: 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  duck: 'DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)',
  browser: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};
type Agent = keyof typeof agents;

const challengesAll: NonNullable<SiteDoc['antiCCs']> = [
  {
    id: randomUUID(),
    urlRegex: '',
    header: '',
    headerValue: '',
    mode: 1,
    frequency: 0,
    seconds: 300,
    siteRate: 0,
    errorPercent: 0,
    originMs: 0,
    raiseMinutes: 5,
    difficulty: 1,
    passSeconds: 3600,
    monitor: false,
  },
];
async function underAttack(of: Edge = edge, over: Partial<SiteDoc> = {}): Promise<string> {
  return (await of.site({ antiCCs: challengesAll, ...over })).name;
}

async function visit(host: string, address: string, agent: Agent, of: Edge = edge): Promise<number> {
  const headers = { 'user-agent': agents[agent], 'x-forwarded-for': address };
  return (await of.get('/', { host, headers })).status;
}
const isServed = (host: string, address: string, agent: Agent, of: Edge = edge) =>
  eventually(async () => expect(await visit(host, address, agent, of)).toBe(200));

function giveName(address: string, name: string, addresses: string[] = [address]): void {
  names.records.set(reverseName(address), { ptr: [name] });
  names.records.set(name, address.includes(':') ? { aaaa: addresses } : { a: addresses });
}
/** A verdict on Googlebot, as the agent sends it. */
const verdictOn = (address: string, over: Partial<BotVerdict> = {}): BotVerdict => ({
  bot: 'Googlebot',
  address,
  verified: true,
  seconds: 86_400,
  renewsIn: 82_800,
  ...over,
});
/** More than fit into a dictionary of 16 KiB. */
const manyVerdicts = (over: Partial<BotVerdict> = {}) =>
  Array.from({ length: 1000 }, (_, i) => verdictOn(`198.18.${i >> 8}.${i % 256}`, over));
const queriesFor = (address: string) => names.asked.filter((query) => query === `${reverseName(address)} PTR`).length;

test('a search engine is challenged until its address is verified, and then never', async () => {
  giveName('192.0.2.1', 'crawl-192-0-2-1.googlebot.com');
  const host = await underAttack();
  expect(await visit(host, '192.0.2.1', 'google')).toBe(978);
  await isServed(host, '192.0.2.1', 'google');
  expect(await visit(await underAttack(), '192.0.2.1', 'google')).toBe(200);
  expect(queriesFor('192.0.2.1')).toBe(1);
  // Its address alone does not make a search engine, nor does the name of another one.
  expect(await visit(host, '192.0.2.1', 'browser')).toBe(978);
  expect(await visit(host, '192.0.2.1', 'bing')).toBe(978);
});

test('a search engine is verified at an IPv6 address', async () => {
  const address = '2001:db8:0:1:0:0:0:66';
  giveName(address, 'msnbot.search.msn.com');
  const host = await underAttack();
  expect(await visit(host, '2001:db8:0:1::66', 'bing')).toBe(978);
  await isServed(host, '2001:db8:0:1::66', 'bing');
  expect(await visit(host, '2001:db8:0:1::67', 'bing')).toBe(978);
});

test.each([
  ['another name', 'host.example.com', undefined],
  ['a name that only ends with the same letters', 'evilgooglebot.com', undefined],
  ['a name that only begins with the domain', 'googlebot.com.evil.example', undefined],
  ['a name that belongs to another address', 'crawl-198-51-100-1.googlebot.com', ['198.51.100.1']],
])('a visitor in the name of a search engine stays challenged: %s', async (_, name, addresses) => {
  const last = 10 + names.asked.length;
  const address = `198.18.${last % 250}.7`;
  giveName(address, name, addresses);
  const host = await underAttack();
  expect(await visit(host, address, 'google')).toBe(978);
  await eventually(() => expect(queriesFor(address)).toBe(1));
  // A later candidate has its verdict, so the former one has, too.
  const real = `198.19.${last % 250}.7`;
  giveName(real, `crawl-${last}.googlebot.com`);
  expect(await visit(host, real, 'google')).toBe(978);
  await isServed(host, real, 'google');
  expect(await visit(host, address, 'google')).toBe(978);
  expect(queriesFor(address)).toBe(1);
});

test('lists, user agent rules that refuse, and limits apply to a verified search engine', async () => {
  const address = '192.0.2.20';
  giveName(address, 'crawl-192-0-2-20.googlebot.com');
  const host = await underAttack();
  expect(await visit(host, address, 'google')).toBe(978);
  await isServed(host, address, 'google');

  const black = listDoc({ id: randomUUID(), value: [address], expires: [] });
  await edge.put(black);
  const listed = await edge.site({ lists: [{ id: black.id, isBlack: true }] });
  expect(await visit(listed.name, address, 'google')).toBe(403);
  const limit = { urlRegex: '', type: 1, header: '', status: 929, monitor: false } as const;
  const limited = await edge.site({ frequencies: [{ ...limit, id: randomUUID(), times: 1, seconds: 3600 }] });
  expect(await visit(limited.name, address, 'google')).toBe(200);
  expect(await visit(limited.name, address, 'google')).toBe(929);
  const rules = (blockType: 0 | 1) => ({ userAgents: [{ id: randomUUID(), pattern: 'Googlebot', blockType }] });
  expect(await visit((await edge.site(rules(0))).name, address, 'google')).toBe(403);
  // Only this one challenges.
  const challenging = (await edge.site(rules(1))).name;
  expect(await visit(challenging, address, 'google')).toBe(200);
  // In another network, since an impostor delays the verification of others in its own.
  expect(await visit(challenging, '203.0.113.21', 'google')).toBe(978);
});

test('verified bots of other categories are challenged', async () => {
  const address = '192.0.2.30';
  giveName(address, 'crawler.ahrefs.com');
  const refusesVerified = await refusing('botState', ['verified'], edge);
  await eventually(async () => expect(await visit(refusesVerified, address, 'ahrefs')).toBe(929));
  expect(await visit(await underAttack(), address, 'ahrefs')).toBe(978);
  expect(queriesFor(address)).toBe(1);
});

test("the zone's challenges exempt a verified search engine", async () => {
  const antiCC = ZoneAntiCC.omit({ enabled: true }).parse({ ...noAntiCC, requests: 0, difficulty: 1 });
  await edge.put(zoneDoc(edge.ports, { ...zone, antiCC: { ...antiCC, whitelist: [] } }));
  onTestFinished(() => edge.put(zoneDoc(edge.ports, zone)));
  giveName('192.0.2.40', 'crawl-192-0-2-40.googlebot.com');
  const { name } = await edge.site();
  expect(await visit(name, '192.0.2.40', 'google')).toBe(978);
  await isServed(name, '192.0.2.40', 'google');
  expect(await visit(name, '192.0.2.41', 'browser')).toBe(978);
});

/** An edge that blocks an address after two challenges, and the statuses of four requests from an address. */
async function blockingEdge(lua: LuaChange[] = []) {
  const antiCC = ZoneAntiCC.omit({ enabled: true }).parse({ ...noAntiCC, requests: 0, difficulty: 1, fails: 2 });
  const ipset = { timeout: 600, max: 1000 };
  const own = await startEdge({ zone: { ...zone, ipset, antiCC: { ...antiCC, whitelist: [] } }, lua });
  onTestFinished(() => own.stop());
  const { name } = await own.site();
  const fourVisits = async (address: string, agent: Agent, more: Record<string, string> = {}) => {
    const headers = { 'user-agent': agents[agent], 'x-forwarded-for': address, ...more };
    const seen = [];
    for (let i = 0; i < 4; i += 1) seen.push((await own.get('/', { host: name, headers })).status);
    return seen;
  };
  return { own, fourVisits };
}
const challenged = [978, 978, 978, 978];
const blocked = [978, 978, 403, 403];

test('a search engine is not blocked for unsolved challenges while its verdict is on its way', async () => {
  const { own, fourVisits } = await blockingEdge();
  expect(await fourVisits('192.0.2.70', 'google')).toEqual(challenged);
  expect(await fourVisits('192.0.2.71', 'browser')).toEqual(blocked);
  // Neither can be verified as a bot that is not challenged.
  expect(await fourVisits('192.0.2.72', 'duck')).toEqual(blocked);
  expect(await fourVisits('192.0.2.73', 'ahrefs')).toEqual(blocked);
  await own.admin.changeBots([verdictOn('192.0.2.70', { verified: false })]);
  expect(await fourVisits('192.0.2.70', 'google')).toEqual(blocked);
});

test('a search engine without a verdict is blocked like any visitor after some seconds', async () => {
  const { fourVisits } = await blockingEdge([
    { file: 'edge/core/bots.lua', from: 'VERDICT_WAIT_SECONDS = 10', to: 'VERDICT_WAIT_SECONDS = 0' },
  ]);
  expect(await fourVisits('192.0.2.70', 'google')).toEqual(blocked);
});

// Regression: each further name that the address gave began another ten seconds.
test('a visitor that names one search engine after another is not exempt for longer', async () => {
  const { fourVisits } = await blockingEdge([
    {
      file: 'edge/core/bots.lua',
      from: 'string.sub, ngx.time, ngx.var',
      to: 'string.sub, function() return ngx.time() + (tonumber(ngx.var.http_x_later) or 0) end, ngx.var',
    },
  ]);
  expect(await fourVisits('192.0.2.70', 'google')).toEqual(challenged);
  expect(await fourVisits('192.0.2.70', 'bing', { 'x-later': '11' })).toEqual(blocked);
});

test('an error of DNS leaves a bot unverified, and is no verdict', async () => {
  names.behave('fail');
  onTestFinished(() => void names.behave('answer'));
  const verify = createVerifyBot([names.address]);
  giveName('192.0.2.50', 'crawl-192-0-2-50.googlebot.com');
  const candidate = { address: '192.0.2.50', suffixes: ['googlebot.com'] };
  expect(await verify(candidate)).toBeNull();
  names.behave('failForIPv4');
  expect(await verify(candidate)).toBeNull();
  names.behave('answer');
  expect(await verify(candidate)).toBe(true);
});

test('a lost packet does not leave a bot unverified', async () => {
  const address = '192.0.2.51';
  const own = await startNameServer((name) =>
    name === reverseName(address) ? { ptr: ['crawl.googlebot.com'] } : { a: [address] },
  );
  onTestFinished(() => own.stop());
  own.behave('loseOne');
  expect(await createVerifyBot([own.address])({ address, suffixes: ['googlebot.com'] })).toBe(true);
  expect(own.asked).toEqual([`${reverseName(address)} PTR`, `${reverseName(address)} PTR`, 'crawl.googlebot.com A']);
});

test('verdicts survive a restart of nginx and of the agent', async () => {
  const own = await startEdge({ zone });
  onTestFinished(() => own.stop());
  giveName('192.0.2.60', 'crawl-192-0-2-60.googlebot.com');
  const host = await underAttack(own);
  const first = startVerifier(own);
  onTestFinished(() => first.stop());
  expect(await visit(host, '192.0.2.60', 'google', own)).toBe(978);
  await isServed(host, '192.0.2.60', 'google', own);
  await own.restart();
  await isServed(host, '192.0.2.60', 'google', own);

  await first.stop();
  await own.restart();
  const second = startVerifier(own);
  onTestFinished(() => second.stop());
  await isServed(host, '192.0.2.60', 'google', own);
  expect(queriesFor('192.0.2.60')).toBe(1);
});

test('each address waits once, at most a hundred do, and none from a network that is held', async () => {
  const host = await underAttack(alone);
  for (let i = 0; i < 3; i += 1) await visit(host, '203.0.113.1', 'google', alone);
  expect(await alone.admin.fetchBots(10)).toEqual({
    candidates: [{ bot: 'Googlebot', address: '203.0.113.1', suffixes: ['googlebot.com'] }],
  });
  await alone.admin.changeBots([verdictOn('203.0.113.1', { verified: false })], 'a mark');
  for (const address of ['203.0.113.1', '203.0.113.2']) expect(await visit(host, address, 'google', alone)).toBe(978);
  expect(await alone.admin.fetchBots(10)).toEqual({ mark: 'a mark', candidates: [] });

  await alone.admin.holdBots([{ bot: 'Googlebot', address: '203.0.121.1' }]);
  for (const address of ['203.0.121.1', '203.0.121.2']) expect(await visit(host, address, 'google', alone)).toBe(978);
  expect((await alone.admin.fetchBots(10)).candidates).toEqual([]);

  for (let i = 0; i < 150; i += 1) await visit(host, `198.18.${i}.1`, 'google', alone);
  expect((await alone.admin.fetchBots(1000)).candidates).toHaveLength(100);
});

test('usual browsers, bots without a domain and simulated requests are no candidates', async () => {
  const host = await underAttack(alone);
  for (const agent of ['browser', 'duck'] as const) expect(await visit(host, '203.0.114.1', agent, alone)).toBe(978);
  const headers: [string, string][] = [['User-Agent', agents.google]];
  const simulated = await simulateRequest(alone, host, '/', { ip: '203.0.114.1', headers });
  expect(simulated.steps).toContainEqual(expect.objectContaining({ step: 'antiCC', decision: 'refused' }));
  expect((await alone.admin.fetchBots(10)).candidates).toEqual([]);

  await alone.admin.changeBots([verdictOn('203.0.114.1')]);
  const { steps } = await simulateRequest(alone, host, '/', { ip: '203.0.114.1', headers });
  expect(steps.find(({ step }) => step === 'antiCC')).toMatchObject({ detail: { why: 'bot' } });
});

test('a bot that still comes is verified again before its verdict ends', async () => {
  const host = await underAttack(alone);
  await alone.admin.changeBots([verdictOn('203.0.115.1')]);
  expect(await visit(host, '203.0.115.1', 'google', alone)).toBe(200);
  expect((await alone.admin.fetchBots(10)).candidates).toEqual([]);
  await alone.admin.changeBots([verdictOn('203.0.115.1', { renewsIn: -1 })]);
  expect(await visit(host, '203.0.115.1', 'google', alone)).toBe(200);
  expect((await alone.admin.fetchBots(10)).candidates).toMatchObject([{ address: '203.0.115.1' }]);
});

test('a full dictionary keeps the verdicts that it has', async () => {
  const own = await startEdge({ zone, dicts: { bots: '16k' } });
  onTestFinished(() => own.stop());
  const host = await underAttack(own);
  await own.admin.changeBots([verdictOn('203.0.116.1')]);
  await own.admin.changeBots(manyVerdicts(), 'a mark');
  expect((await own.counters())['botsFull']).toBeGreaterThan(0);
  expect(await visit(host, '203.0.116.1', 'google', own)).toBe(200);
  expect(await visit(host, '203.0.117.1', 'google', own)).toBe(978);
  expect(await own.admin.fetchBots(10)).toMatchObject({ mark: 'a mark' });
});

test('verdicts that have ended make room for new ones behind a verdict that holds', async () => {
  const own = await startEdge({ zone, dicts: { bots: '16k' } });
  onTestFinished(() => own.stop());
  const host = await underAttack(own);
  await own.admin.changeBots([verdictOn('203.0.116.1')]);
  await own.admin.changeBots(manyVerdicts({ seconds: 1 }));
  expect((await own.counters())['botsFull']).toBeGreaterThan(0);
  await eventually(async () => {
    await own.admin.fetchBots(10);
    await own.admin.changeBots([verdictOn('203.0.117.1')]);
    expect(await visit(host, '203.0.117.1', 'google', own)).toBe(200);
  });
  expect(await visit(host, '203.0.116.1', 'google', own)).toBe(200);
});

/** A site that refuses requests for which the field has one of the values. */
async function refusing(field: string, value: string[], of: Edge = alone): Promise<string> {
  const conditions = [{ field, operator: 'in', value }];
  const rule = settled(AclRuleInput.parse({ name: 'Rule', conditions, action: 'deny' }));
  const doc = moduleDoc({ id: randomUUID(), kind: 'acl', settings: { rules: [rule] }, redirects: null });
  await of.put(doc);
  return (await of.site({}, { modules: { acl: doc.id } })).name;
}

test('access rules see name, category and state of a bot, which other visitors lack', async () => {
  const [real, fake, fresh] = ['203.0.118.1', '203.0.119.1', '203.0.120.1'];
  await alone.admin.changeBots([verdictOn(real), verdictOn(fake, { verified: false })]);
  const statuses = async (host: string) => ({
    real: await visit(host, real, 'google', alone),
    fake: await visit(host, fake, 'google', alone),
    fresh: await visit(host, fresh, 'google', alone),
    duck: await visit(host, real, 'duck', alone),
    browser: await visit(host, real, 'browser', alone),
  });
  const served = { real: 200, fake: 200, fresh: 200, duck: 200, browser: 200 };
  expect(await statuses(await refusing('botState', ['Impostor']))).toEqual({ ...served, fake: 929 });
  const unverified = { ...served, fake: 929, fresh: 929, duck: 929 };
  expect(await statuses(await refusing('botState', ['impostor', 'declared']))).toEqual(unverified);
  expect(await statuses(await refusing('botState', ['verified']))).toEqual({ ...served, real: 929 });
  expect(await statuses(await refusing('bot', ['duckduckbot']))).toEqual({ ...served, duck: 929 });
  const all = { real: 929, fake: 929, fresh: 929, duck: 929, browser: 200 };
  expect(await statuses(await refusing('botCategory', ['search']))).toEqual(all);
  expect(await statuses(await refusing('botCategory', ['seo']))).toEqual(served);
});
