// Anti-CC rules of a site on a real edge, from several addresses.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type * as z from 'zod';
import type { SiteAntiCCDoc } from '@edgeloom/contract/edge/documents.ts';
import { noAntiCC, ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { acceptsAtOnce, hashOf, pageData, passOf, sendSolution, workedOut } from '../support/builders/challenges.ts';
import { startEdge, zoneDoc, type Reply } from '../support/services/edge.ts';

const zoneID = '0192e4a0-0000-7000-8000-000000000001';
const zoneKey = Buffer.alloc(32, 7);
const edge = await startEdge({ lua: [acceptsAtOnce], zone: { id: zoneID }, zoneKey });
afterAll(() => edge.stop());

type Rule = z.output<typeof SiteAntiCCDoc>;
const ruleOf = (over: Partial<Rule> = {}): Rule => ({
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
  ...over,
});
const siteWith = (...rules: Rule[]) => edge.site({ antiCCs: rules });

const agent = 'Browser/1';
interface Sent {
  path?: string;
  headers?: Record<string, string>;
  method?: string;
  body?: string;
  port?: number;
}
/** A request of a browser at this address. */
const from = (
  localAddress: string,
  host: string,
  { path = '/', headers = {}, method = 'GET', body = '', port = edge.ports.http }: Sent = {},
) =>
  new Promise<Pick<Reply, 'status' | 'body' | 'header'>>((resolve, reject) => {
    const fields = { host, accept: 'text/html', 'user-agent': agent, ...headers };
    const sent = request({ port, localAddress, path, method, headers: fields, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          header: (name) => [answer.headers[name]].flat()[0],
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
const statusFrom = async (address: string, host: string, sent?: Sent) => (await from(address, host, sent)).status;
const withCookie = (cookie: string): Sent => ({ headers: { cookie } });

/** Solves the challenge from this address, as a browser with this secret. */
async function pass(address: string, host: string, secret?: string): Promise<string> {
  const question = pageData(await from(address, host), 'question');
  return passOf(await sendSolution(() => from(address, host, withCookie(workedOut(question, secret)))));
}
const newSecret = () => randomBytes(16).toString('hex');

/** Signs as the nodes of the zone do. */
const key = createHmac('sha256', zoneKey).update('edgeloom anti-CC').digest();
const macOf = (...parts: (string | Buffer)[]) => {
  const mac = createHmac('sha256', key);
  parts.forEach((part, i) => mac.update(i === 0 ? '' : '\n').update(part));
  return mac.digest().subarray(0, 16).toString('base64url');
};
const loopback = Buffer.from([127, 0, 0, 1]);
const questionOf = (siteID: string, [mode, level, expected]: [number, number, string], moment: number) =>
  `${mode}.${level}.${moment}.${macOf('question', `${mode}`, `${level}`, `${moment}`, expected, siteID, agent, loopback)}`;
const signedPass = (siteID: string, issued: number, mode = 1, level = 1) => {
  const tag = macOf('address', siteID, agent, loopback).slice(0, 6);
  const part = `${mode}.${level}.${issued}.0.${tag}`;
  return `edgeloom_pass=${part}.${macOf('pass', part, siteID, agent)}`;
};
const seconds = () => Math.floor(Date.now() / 1000);

test('an address is challenged above its frequency, passes by solving, and is not challenged again', async () => {
  const rule = ruleOf({ frequency: 3 });
  const { name } = await siteWith(rule);
  const seen = [];
  for (let i = 0; i < 5; i += 1) seen.push(await statusFrom('127.0.0.1', name));
  expect(seen).toEqual([200, 200, 200, 978, 978]);
  expect(await statusFrom('127.0.0.2', name)).toBe(200);
  const cookie = await pass('127.0.0.1', name);
  const later = [];
  for (let i = 0; i < 60; i += 1) later.push(await statusFrom('127.0.0.1', name, withCookie(cookie)));
  expect(new Set(later)).toEqual(new Set([200]));
  const refused = await edge.get('/', { host: name, headers: { accept: 'text/html', 'user-agent': agent } });
  expect(await edge.accessLogEntry(refused)).toMatchObject({ status: 978, cause: 'antiCC', rule: rule.id });
});

test('a browser takes its pass to another address, and a copy of the cookie does not work there', async () => {
  const { name } = await siteWith(ruleOf());
  const secret = newSecret();
  const cookie = await pass('127.0.0.1', name, secret);
  expect(await statusFrom('127.0.0.1', name, withCookie(cookie))).toBe(200);

  const moved = await from('127.0.0.2', name, withCookie(cookie));
  expect([moved.status, pageData(moved, 'secret')]).toEqual([978, hashOf(secret)]);
  const renewal = pageData(moved, 'renew');
  const answerWith = (known: string, next: string) =>
    withCookie(`${cookie}; edgeloom_answer=${renewal}~${known}~${hashOf(next)}`);
  expect(await statusFrom('127.0.0.2', name, answerWith(newSecret(), newSecret()))).toBe(978);
  // The answer is bound to the challenged address.
  expect(await statusFrom('127.0.0.3', name, answerWith(secret, newSecret()))).toBe(978);

  const renewed = await from('127.0.0.2', name, answerWith(secret, newSecret()));
  expect(renewed.status).toBe(200);
  const both = passOf(renewed);
  const issued = (text: string) => text.split('.')[2];
  expect(issued(both)).toBe(issued(cookie));
  for (const address of ['127.0.0.1', '127.0.0.2']) expect(await statusFrom(address, name, withCookie(both))).toBe(200);
  expect(await statusFrom('127.0.0.3', name, withCookie(both))).toBe(978);

  // Each secret counts once.
  const stolen = pageData(await from('127.0.0.4', name, withCookie(cookie)), 'renew');
  const replay = withCookie(`${cookie}; edgeloom_answer=${stolen}~${secret}~${hashOf(newSecret())}`);
  expect(await statusFrom('127.0.0.4', name, replay)).toBe(978);
});

test('answers from elsewhere, replays, forged passes and moved clocks fail', async () => {
  const { name, site } = await siteWith(ruleOf({ passSeconds: 600 }));
  const question = pageData(await from('127.0.0.1', name), 'question');
  const answer = withCookie(workedOut(question));
  const good = passOf(await sendSolution(() => from('127.0.0.1', name, answer)));
  expect(await statusFrom('127.0.0.1', name, answer)).toBe(978);
  const fresh = pageData(await from('127.0.0.1', name), 'question');
  expect(await statusFrom('127.0.0.2', name, withCookie(workedOut(fresh)))).toBe(978);

  const siteID = site.id;
  expect(await statusFrom('127.0.0.1', name, withCookie(signedPass(siteID, seconds())))).toBe(200);
  expect(await statusFrom('127.0.0.1', name, withCookie(signedPass(siteID, seconds() - 700)))).toBe(978);
  expect(await statusFrom('127.0.0.1', name, withCookie(signedPass(randomUUID(), seconds())))).toBe(978);
  const [mode, level, issued = '', secret, tags = '', mac = ''] = good.replace('edgeloom_pass=', '').split('.');
  for (const forged of [
    [mode, level, Number(issued) + 900, secret, tags, mac],
    [mode, 9, issued, secret, tags, mac],
    [mode, level, issued, secret, `AAAAAA${tags}`, mac],
    [mode, level, issued, hashOf('x'), tags, mac],
    [mode, level, issued, secret, tags, mac.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
  ])
    expect(await statusFrom('127.0.0.1', name, withCookie(`edgeloom_pass=${forged.join('.')}`))).toBe(978);

  const now = Date.now();
  for (const moment of [now - 301_000, now + 60_000]) {
    const old = questionOf(siteID, [1, 1, ''], moment);
    expect(await statusFrom('127.0.0.1', name, withCookie(workedOut(old)))).toBe(978);
  }
  expect(await statusFrom('127.0.0.1', name, withCookie(workedOut(questionOf(siteID, [1, 1, ''], now - 5000))))).toBe(
    200,
  );
});

test('a proof of work that comes sooner than the page would send it is refused', async () => {
  const timed = await startEdge({ zone: { id: zoneID }, zoneKey });
  onTestFinished(() => timed.stop());
  const { name, site } = await timed.site({ antiCCs: [ruleOf()] });
  const early = await eventually(
    async () => {
      const asked = Date.now();
      const solution = withCookie(workedOut(questionOf(site.id, [1, 1, ''], asked)));
      const status = await statusFrom('127.0.0.1', name, { ...solution, port: timed.ports.http });
      // A solution that already took this long asserts nothing.
      if (Date.now() >= asked + 700) throw new Error('it came late enough');
      return status;
    },
    { within: 60_000 },
  );
  expect(early).toBe(978);
});

test("a site's easy pass does not pass the zone's harder challenge, and the zone's passes the site's", async () => {
  const antiCC = {
    ...ZoneAntiCC.omit({ enabled: true }).parse(noAntiCC),
    whitelist: [],
    requests: 0,
    difficulty: 2,
    fails: 0,
    siteRate: 0,
  };
  const { name, site } = await siteWith(ruleOf());
  const easy = withCookie(signedPass(site.id, seconds(), 1, 1));
  const hard = withCookie(signedPass(site.id, seconds(), 1, 2));
  expect(await statusFrom('127.0.0.1', name, easy)).toBe(200);
  try {
    await edge.put(zoneDoc(edge.ports, { id: zoneID, antiCC }));
    expect(await statusFrom('127.0.0.1', name, easy)).toBe(978);
    expect(await statusFrom('127.0.0.1', name, hard)).toBe(200);
    // The site asks for what is enough for both, so that visitors are not asked in turns.
    const { name: click, site: clicked } = await siteWith(ruleOf({ mode: 3 }));
    const asked = await from('127.0.0.1', click, withCookie(signedPass(clicked.id, seconds(), 1, 2)));
    expect(pageData(asked, 'question')).toMatch(/^3\.2\./);
  } finally {
    await edge.put(zoneDoc(edge.ports, { id: zoneID }));
  }
});

test('without JavaScript a visitor types the code, and stays at the URL', async () => {
  const { name, site } = await siteWith(ruleOf());
  const { body } = await from('127.0.0.1', name, { path: '/film?x=1' });
  const form = /<noscript>.*?<form method="post">.*?value="(2\.0\.[^"]+)".*?<\/noscript>/s.exec(body);
  expect(form?.[1]).toMatch(/^2\.0\.\d+\.[\w-]{22}$/);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const send = (question: string, code: string) =>
    from('127.0.0.1', name, {
      path: '/film?x=1',
      method: 'POST',
      headers: { ...headers, 'content-length': String(`edgeloom_answer=${question}&code=${code}`.length) },
      body: `edgeloom_answer=${question}&code=${code}`,
    });
  const question = questionOf(site.id, [2, 0, 'abc34'], Date.now());
  expect((await send(question, 'abc35')).status).toBe(978);
  const passed = await send(question, '+ABC34');
  expect([passed.status, passed.header('location')]).toEqual([303, '/film?x=1']);
  expect(await statusFrom('127.0.0.1', name, withCookie(passOf(passed)))).toBe(200);
  expect((await send(question, 'abc34')).status).toBe(978);
  expect(edge.origin.asked('/film')).toHaveLength(0);
});

test('the first rule that matches applies, and exempts API clients by path or header', async () => {
  const { name } = await siteWith(
    ruleOf({ mode: 0, urlRegex: '^/api/' }),
    ruleOf({ mode: 0, header: 'X-Api-Key', headerValue: 'k1' }),
    ruleOf({ urlRegex: '^/once', ends: seconds() - 1 }),
    ruleOf({ urlRegex: '^/watched', monitor: true }),
    ruleOf(),
  );
  expect(await statusFrom('127.0.0.1', name, { path: '/api/v1' })).toBe(200);
  expect(await statusFrom('127.0.0.1', name, { headers: { 'x-api-key': 'k1' } })).toBe(200);
  expect(await statusFrom('127.0.0.1', name, { headers: { 'x-api-key': 'k2' } })).toBe(978);
  expect(await statusFrom('127.0.0.1', name, { path: '/once' })).toBe(978);
  expect(await statusFrom('127.0.0.1', name, { path: '/watched' })).toBe(200);
  expect(await statusFrom('127.0.0.1', name, { path: '/style.css' })).toBe(200);
  expect(await statusFrom('127.0.0.1', name, { path: '/.well-known/acme-challenge/unknown' })).toBe(200);
});

test('an origin that fails or is slow raises the rule for everyone', async () => {
  edge.origin.on('/broken', { status: 500 });
  const failing = await siteWith(ruleOf({ frequency: 1_000_000, errorPercent: 50 }));
  const slow = await siteWith(ruleOf({ frequency: 1_000_000, originMs: 1 }));
  edge.origin.on('/slow', () => ({ after: setTimeout(20), body: 'slow' }));
  const other = await siteWith(ruleOf({ frequency: 1_000_000, errorPercent: 50 }));
  for (const [{ name }, path] of [
    [failing, '/broken'],
    [slow, '/slow'],
  ] as const) {
    await expect.poll(() => statusFrom('127.0.0.1', name, { path }), { interval: 1, timeout: 30_000 }).toBe(978);
    expect(await statusFrom('127.0.0.9', name)).toBe(978);
  }
  expect(await statusFrom('127.0.0.1', other.name)).toBe(200);
});

test('a simulation names the rule and the reason', async () => {
  const rule = ruleOf();
  const { name } = await siteWith(rule);
  const { steps } = await simulateRequest(edge, name, '/', { ip: '127.0.0.1' });
  expect(steps.find(({ step }) => step === 'antiCC')).toMatchObject({
    decision: 'refused',
    detail: { why: 'everyone' },
    rule: { kind: 'antiCC', id: rule.id },
  });
});

test('a flood of addresses at one site leaves the counters of other sites', async () => {
  const small = await startEdge({ zone: { id: zoneID }, zoneKey, dicts: { anti_cc: '128k' } });
  try {
    const [flooded, quiet] = [
      await small.site({ antiCCs: [ruleOf({ frequency: 1000 })] }),
      await small.site({ antiCCs: [ruleOf({ frequency: 2 })] }),
    ];
    const port = small.ports.http;
    const seen = [];
    for (let i = 0; i < 2; i += 1) seen.push(await statusFrom('127.0.0.1', quiet.name, { port }));
    const flood = [];
    for (let i = 1; i < 80; i += 1) flood.push(await statusFrom(`127.0.1.${i}`, flooded.name, { port }));
    expect(flood.slice(0, 32)).toEqual(Array.from({ length: 32 }, () => 200));
    expect(flood).toContain(978);
    // The earlier address is still counted, and so is the other site's.
    expect(await statusFrom('127.0.1.1', flooded.name, { port })).toBe(200);
    seen.push(await statusFrom('127.0.0.1', quiet.name, { port }));
    expect(seen).toEqual([200, 200, 978]);
  } finally {
    await small.stop();
  }
});
