// A site's rules for crawlers, by visitors that name crawlers in their User-Agent.
import { randomUUID } from 'node:crypto';
import type { BotVerdict } from '@edgeloom/agent/nginx/admin.ts';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import type { SiteDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { startEdge, type Edge, type Reply } from '../support/services/edge.ts';

/** The test names its visitors' addresses in a header. */
const zone: Partial<ZoneDoc> = {
  id: randomUUID(),
  worker: { processes: 1, connections: 1024 },
  visitorAddress: { networks: ['127.0.0.1/32'], header: 'X-Forwarded-For' },
  firewall: { level: 0, whitelist: ['192.0.2.99'], blacklist: [], synProtection: false },
};
let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ zone });
});
afterAll(() => edge.stop());

const agents = {
  google: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  bing: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  gpt: 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot',
  ahrefs: 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  browser: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};
type Agent = keyof typeof agents;
type Rule = NonNullable<SiteDoc['crawlers']>[number];

const rule = (category: string, action: Rule['action'], over: Partial<Rule> = {}): Rule => ({
  id: randomUUID(),
  category,
  action,
  ...over,
});
const hostWith = async (...crawlers: Rule[]) => (await edge.site({ crawlers })).name;
const visitAs = (agent: Agent, host: string, address = '192.0.2.1') =>
  edge.get('/', { host, headers: { 'user-agent': agents[agent], 'x-forwarded-for': address } });
const statusAs = async (...visit: Parameters<typeof visitAs>) => (await visitAs(...visit)).status;
const verdictOn = (address: string, over: Partial<BotVerdict> = {}): BotVerdict => ({
  bot: 'Googlebot',
  address,
  verified: true,
  seconds: 86_400,
  renewsIn: 82_800,
  ...over,
});
const causeOf = async (reply: Reply) => {
  const { cause, rule: id } = await edge.accessLogEntry(reply);
  return { cause, id };
};

test.each([
  ['block', 403],
  ['pay', 402],
  ['challenge', 978],
] as const)('crawlers of a category with %s get %i, which names the rule in the log', async (action, status) => {
  const seo = rule('seo', action);
  const host = await hostWith(seo);
  const reply = await visitAs('ahrefs', host);
  expect(reply.status).toBe(status);
  expect(reply.header('cache-control')).toBe('no-store');
  expect(await causeOf(reply)).toEqual({ cause: 'crawlers', id: seo.id });
  expect(await statusAs('google', host)).toBe(200);
  expect(await statusAs('browser', host)).toBe(200);
});

test('each crawler has its own limit per minute', async () => {
  const host = await hostWith(rule('search', 'limit', { perMinute: 2 }));
  const seen = [];
  for (let i = 0; i < 3; i += 1) seen.push(await visitAs('google', host));
  expect(seen.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(seen[2]?.header('retry-after')).toBe('60');
  expect(await statusAs('bing', host)).toBe(200);
  expect(await statusAs('browser', host)).toBe(200);
});

test('visitors in the name of a crawler do not use up the limit of its verified addresses', async () => {
  const host = await hostWith(rule('search', 'limit', { perMinute: 1 }));
  await edge.admin.changeBots([verdictOn('192.0.2.10')]);
  expect(await statusAs('google', host, '192.0.2.11')).toBe(200);
  expect(await statusAs('google', host, '192.0.2.12')).toBe(429);
  expect(await statusAs('google', host, '192.0.2.10')).toBe(200);
  expect(await statusAs('google', host, '192.0.2.10')).toBe(429);
});

test('a rule that monitors lets the crawler through, and is named in the log', async () => {
  const monitored = rule('aiTraining', 'block', { monitor: true });
  const limited = rule('search', 'limit', { perMinute: 1, monitor: true });
  const host = await hostWith(monitored, limited);
  const reply = await visitAs('gpt', host);
  expect(reply.status).toBe(200);
  expect(await causeOf(reply)).toEqual({ cause: 'crawlers', id: `monitor/${monitored.id}` });
  expect(await causeOf(await visitAs('google', host))).toEqual({ cause: '', id: '' });
  expect(await causeOf(await visitAs('google', host))).toEqual({ cause: 'crawlers', id: `monitor/${limited.id}` });
});

test('impostors have a rule of their own, and without it count as the crawler that they name', async () => {
  await edge.admin.changeBots([verdictOn('198.51.100.1', { verified: false }), verdictOn('192.0.2.20')]);
  const own = await hostWith(rule('impostor', 'block'));
  expect(await statusAs('google', own, '198.51.100.1')).toBe(403);
  expect(await statusAs('google', own, '192.0.2.20')).toBe(200);
  const none = await hostWith(rule('search', 'pay'));
  expect(await statusAs('google', none, '198.51.100.1')).toBe(402);
});

test('a verified search engine is never challenged, but other actions apply to it', async () => {
  await edge.admin.changeBots([verdictOn('192.0.2.30')]);
  expect(await statusAs('google', await hostWith(rule('search', 'challenge')), '192.0.2.30')).toBe(200);
  expect(await statusAs('google', await hostWith(rule('search', 'block')), '192.0.2.30')).toBe(403);
});

test('allow lists of the site and of the zone exempt from the rules', async () => {
  const white = listDoc({ id: randomUUID(), value: ['192.0.2.40'], expires: [] });
  await edge.put(white);
  const { name } = await edge.site({ crawlers: [rule('seo', 'block')], lists: [{ id: white.id, isBlack: false }] });
  const statuses = ['192.0.2.40', '192.0.2.99', '192.0.2.41'].map((ip) => statusAs('ahrefs', name, ip));
  expect(await Promise.all(statuses)).toEqual([200, 200, 403]);
});

// Once, requests of an always allowed address were counted, and the crawler's first own request was refused.
test("visitors on the zone's allow list do not use up a crawler's limit", async () => {
  const host = await hostWith(rule('seo', 'limit', { perMinute: 2 }));
  for (let i = 0; i < 3; i += 1) expect(await statusAs('ahrefs', host, '192.0.2.99')).toBe(200);
  expect(await statusAs('ahrefs', host)).toBe(200);
});

test('a simulation explains the rule, and counts nothing', async () => {
  const limited = rule('search', 'limit', { perMinute: 1 });
  const blocked = rule('seo', 'block');
  const host = await hostWith(limited, blocked);
  const stepOf = async (agent: Agent) => {
    const headers: [string, string][] = [['User-Agent', agents[agent]]];
    const { steps } = await simulateRequest(edge, host, '/', { ip: '192.0.2.50', headers });
    return steps.find(({ step }) => step === 'crawlers');
  };
  expect(await stepOf('google')).toMatchObject({
    decision: 'passed',
    detail: { name: 'Googlebot', state: 'declared' },
  });
  expect(await stepOf('google')).toMatchObject({ decision: 'passed' });
  expect(await stepOf('ahrefs')).toMatchObject({
    decision: 'refused',
    rule: { kind: 'crawlers', id: blocked.id },
    detail: { status: '403', name: 'AhrefsBot' },
  });
  expect(await stepOf('browser')).toMatchObject({ decision: 'noRule' });
  expect(await statusAs('google', host, '192.0.2.50')).toBe(200);
  expect(await stepOf('google')).toMatchObject({ decision: 'refused', rule: { id: limited.id } });
});
