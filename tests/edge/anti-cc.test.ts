// Anti-CC challenges on a real edge, as visitors, origins and the log see them.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import * as z from 'zod';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { noAntiCC, ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Edge } from '../support/services/edge.ts';
import { rule, startEdge, zoneDoc } from '../support/services/edge.ts';
import { acceptsAtOnce, pageData as data, passOf, sendSolution, workedOut } from '../support/builders/challenges.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';

type AntiCC = NonNullable<ZoneDoc['antiCC']>;

let edge: Edge;
const zoneID = '0192e4a0-0000-7000-8000-000000000001';
beforeAll(async () => {
  edge = await startEdge({ lua: [acceptsAtOnce], zone: { id: zoneID, ipset: { timeout: 600, max: 1000 } } });
});
afterAll(() => edge.stop());

const usual = ZoneAntiCC.omit({ enabled: true }).parse(noAntiCC);
const ordered = (over: Partial<AntiCC>): AntiCC => ({
  ...usual,
  whitelist: [],
  difficulty: 1,
  fails: 0,
  siteRate: 0,
  ...over,
});

/** Challenges every request. */
const enableChallenge = (over: Partial<AntiCC> = {}, of: Edge = edge) =>
  of.put(zoneDoc(of.ports, { id: zoneID, antiCC: ordered({ requests: 0, ...over }) }));

const page = { accept: 'text/html,application/xhtml+xml', 'user-agent': 'Browser/1' };
const ask = (host: string, path: string, headers: Record<string, string> = {}, method = 'GET', of: Edge = edge) =>
  of.get(path, { host, method, headers: { ...page, ...headers } });

async function pass(host: string, headers: Record<string, string> = {}, of: Edge = edge): Promise<string> {
  const cookie = workedOut(data(await ask(host, '/', headers, 'GET', of), 'question'));
  return passOf(await sendSolution(() => ask(host, '/', { ...headers, cookie }, 'GET', of)));
}

describe('the five-second shield', () => {
  test('serves an uncacheable page, and logs code, cause and reason', async () => {
    await enableChallenge();
    const { name } = await edge.site({ cacheRules: [rule()] });
    const asked = await ask(name, '/kept');
    expect(asked.status).toBe(978);
    expect(asked.header('cache-control')).toBe('no-store');
    expect(asked.header('x-robots-tag')).toBe('noindex');
    expect(Number(asked.header('retry-after'))).toBeGreaterThan(0);
    expect(asked.header('content-security-policy')).toContain("default-src 'none'; script-src 'nonce-");
    expect(edge.origin.asked('/kept')).toHaveLength(0);
    expect(await edge.accessLogEntry(asked)).toMatchObject({
      status: 978,
      cause: 'antiCC',
      rule: 'zone/everyone',
      cache: '',
    });
  });

  test('passes a browser that solves the puzzle, which neither origin nor cache notice', async () => {
    await enableChallenge();
    const { name } = await edge.site({ cacheRules: [rule({ cookies: 'all' })] });
    const question = data(await ask(name, '/film'), 'question');
    const cookies = `a=1; ${workedOut(question)}; b=2`;
    const answered = await sendSolution(() => ask(name, '/film', { cookie: cookies }));
    expect(answered.header('set-cookie')).toMatch(
      /^edgeloom_pass=1\.1\.\d+\.0\.[\w-]{6}\.[\w-]{22}; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/,
    );
    const again = await ask(name, '/film', { cookie: `b=2; ${passOf(answered)}; a=1` });
    expect([again.status, again.cache, again.header('set-cookie')]).toEqual([200, 'hit', undefined]);
    expect(edge.origin.asked('/film').map(({ headers }) => headers['cookie'])).toEqual(['a=1; b=2']);
    const alone = await ask(name, '/alone', { cookie: passOf(answered) });
    expect(alone.status).toBe(200);
    expect(edge.origin.asked('/alone')[0]?.headers).not.toHaveProperty('cookie');
    // No spelling of the cookie reaches the origin.
    for (const cookie of [
      `${passOf(answered)};c=3`,
      `c=3;${passOf(answered)}`,
      `${passOf(answered)}; ${passOf(answered)}`,
    ])
      await ask(name, '/written', { cookie });
    expect(edge.origin.asked('/written').map(({ headers }) => headers['cookie'] ?? '')).toEqual(['c=3', '']);
  });

  test('an unsafe request with a proof continues with its body', async () => {
    await enableChallenge();
    const { name } = await edge.site();
    const form = await ask(name, '/form', {}, 'POST');
    expect([form.status, form.body.includes('resubmit the form')]).toEqual([978, true]);
    const cookie = workedOut(data(form, 'question'));
    const headers = { ...page, cookie };
    await sendSolution(() => edge.get('/form', { host: name, method: 'POST', headers, body: 'name=x' }));
    expect(edge.origin.asked('/form')).toMatchObject([{ method: 'POST', body: 'name=x' }]);
  });

  test('one answer passes all rules of a request that ask for it', async () => {
    await enableChallenge();
    const asking = () => ({ id: randomUUID(), pattern: 'Browser', blockType: 1 as const });
    const { name } = await edge.site({ userAgents: [asking(), asking()] });
    const cookie = workedOut(data(await ask(name, '/'), 'question'));
    const answered = await sendSolution(() => ask(name, '/', { cookie }));
    expect((await ask(name, '/', { cookie: passOf(answered) })).status).toBe(200);
  });

  test('rejects wrong answers, changed questions, partial work and replays', async () => {
    await enableChallenge();
    const { name } = await edge.site();
    const question = data(await ask(name, '/'), 'question');
    const good = workedOut(question);
    const wrong = [
      `edgeloom_answer=${question}~0-0-0-0-0-0-0-0`,
      good.replace('=1.1.', '=1.0.'),
      good.replace(/=1\.1\.(\d+)/, (_all, at: string) => `=1.1.${Number(at) + 1}`),
      good.replace(/-\d+$/, ''),
      `${good}-1`,
      'edgeloom_answer=1.1.~',
      `edgeloom_answer=${'9'.repeat(4000)}`,
    ];
    for (const cookie of wrong) {
      const refused = await ask(name, '/', { cookie });
      expect([cookie, refused.status]).toEqual([cookie, 978]);
      expect(data(refused, 'failed')).not.toBe('');
    }
    await sendSolution(() => ask(name, '/', { cookie: good }));
    expect((await ask(name, '/', { cookie: good })).status).toBe(978);
  });

  test('a pass is valid for one site, one browser and a limited time, and cannot be forged', async () => {
    await enableChallenge();
    const { name } = await edge.site();
    const { name: other } = await edge.site();
    const cookie = await pass(name);
    expect((await ask(name, '/', { cookie })).status).toBe(200);
    expect((await ask(other, '/', { cookie })).status).toBe(978);
    expect((await ask(name, '/', { cookie, 'user-agent': 'Browser/2' })).status).toBe(978);
    const later = cookie.replace(/\.(\d{9,})\./, (_all, issued: string) => `.${Number(issued) + 1}.`);
    for (const forged of [
      later,
      cookie.replace('=1.', '=2.'),
      cookie.replace('=1.1.', '=1.5.'),
      cookie.slice(0, -1),
      'edgeloom_pass=',
      'edgeloom_pass=1.9.x',
    ])
      expect([forged, (await ask(name, '/', { cookie: forged })).status]).toEqual([forged, 978]);
    // A proof covers easier challenges, not harder ones.
    await enableChallenge({ mode: 2 });
    expect((await ask(name, '/', { cookie })).status).toBe(978);
  });

  test('a pass is valid on every node of the zone, from the same address, and in no other zone', async () => {
    const zoneKey = Buffer.alloc(32, 7);
    const nodes = await Promise.all([
      startEdge({ lua: [acceptsAtOnce], zone: { id: zoneID }, zoneKey }),
      startEdge({ lua: [acceptsAtOnce], zone: { id: zoneID }, zoneKey }),
    ]);
    try {
      const [one, two] = nodes;
      const made = await one.site();
      await two.put(made.site, { ...made.host });
      await edge.put(made.site, { ...made.host });
      for (const node of [one, two, edge]) await enableChallenge({}, node);
      const cookie = await pass(made.name, {}, one);
      expect((await ask(made.name, '/', { cookie }, 'GET', two)).status).toBe(200);
      expect((await ask(made.name, '/', { cookie }, 'GET', edge)).status).toBe(978);
    } finally {
      await Promise.all(nodes.map((node) => node.stop()));
    }
  });
});

describe('the other modes', () => {
  test('the image challenge accepts what the image shows, which the page does not contain', async () => {
    await enableChallenge({ mode: 2 });
    const { name } = await edge.site();
    const asked = await ask(name, '/');
    const png = /src="data:image\/png;base64,([^"]+)"/.exec(asked.body)?.[1] ?? '';
    expect(Buffer.from(png, 'base64').subarray(1, 4).toString()).toBe('PNG');
    const question = data(asked, 'question');
    expect(question).toMatch(/^2\.0\./);
    for (const wrongAnswer of ['', 'aaaaa', '00000'])
      expect((await ask(name, '/', { cookie: `edgeloom_answer=${question}~${wrongAnswer}` })).status).toBe(978);
  });

  test('the image challenge accepts a longer proof of work of visitors who cannot see the image', async () => {
    await enableChallenge({ mode: 2 });
    const { name } = await edge.site();
    const question = data(await ask(name, '/'), 'instead');
    expect(question).toMatch(/^2\.4\./);
    const cookie = workedOut(question);
    const passed = await sendSolution(() => ask(name, '/', { cookie }));
    expect((await ask(name, '/', { cookie: passOf(passed) })).status).toBe(200);
  });

  test('an immediate click is rejected', async () => {
    const timed = await startEdge({ zone: { id: zoneID } });
    onTestFinished(() => timed.stop());
    await enableChallenge({ mode: 3 }, timed);
    const { name } = await timed.site();
    const visit = (cookie = '') => ask(name, '/', cookie === '' ? {} : { cookie }, 'GET', timed);
    const cookie = await eventually(
      async () => {
        const question = data(await visit(), 'question');
        const worked = workedOut(question);
        const early = await visit(worked);
        // A proof of work that already took this long asserts nothing.
        if (Date.now() >= Number(question.split('.')[2]) + 700) throw new Error('it came late enough');
        expect(early.status).toBe(978);
        return worked;
      },
      { within: 60_000 },
    );
    const proven = await eventually(async () => {
      const late = await visit(cookie);
      expect(late.status).toBe(200);
      return late;
    });
    expect(passOf(proven)).toMatch(/^edgeloom_pass=3\./);
    // The proof also covers easier modes.
    await enableChallenge({ mode: 1 }, timed);
    expect((await visit(passOf(proven))).status).toBe(200);
  });

  test('the redirect challenge sets a cookie and returns to this host, and ends for clients without cookies', async () => {
    await enableChallenge({ mode: 4 });
    const { name } = await edge.site();
    const sent = await ask(name, '/a%20b?x=1&y');
    const marked = sent.header('location') ?? '';
    expect(marked).toMatch(/^\/a%20b\?x=1&y&edgeloom_check=/);
    expect([sent.status, sent.header('cache-control')]).toEqual([302, 'no-store']);
    // The mark is removed when the cookie returned, and never reaches the origin.
    const cookie = passOf(sent);
    const back = await ask(name, marked, { cookie });
    expect([back.status, back.header('location')]).toEqual([302, '/a%20b?x=1&y']);
    expect((await ask(name, '/a%20b?x=1&y', { cookie })).status).toBe(200);
    expect((await ask(name, '/', {}, 'POST')).status).toBe(307);
    for (const path of ['//thief.example/x', '/\\thief.example/x']) {
      const location = (await ask(name, path)).header('location') ?? '';
      expect(new URL(location, `http://${name}/`).host).toBe(name);
    }
    const refused = await ask(name, marked);
    expect([refused.status, refused.body.includes('cookie')]).toEqual([978, true]);
    // A client without cookies does not affect its neighbours behind the same address.
    for (let i = 0; i < 20; i += 1) await ask(name, marked);
    expect((await ask(name, '/')).status).toBe(302);
    // A shared link with a mark does not count for another visitor.
    expect((await ask(name, marked, { 'user-agent': 'Browser/2' })).status).toBe(302);
  });
});

describe('challenges are sent', () => {
  test('to an address that exceeds its rate at one site, regardless of other sites', async () => {
    const antiCC = ordered({ requests: 10, seconds: 300 });
    await edge.put(zoneDoc(edge.ports, { id: zoneID, antiCC }));
    const [{ name }, { name: other }] = [await edge.site(), await edge.site()];
    const codes = [];
    for (let i = 0; i < 14; i += 1) codes.push((await ask(name, '/')).status);
    expect(codes).toEqual([...Array.from({ length: 10 }, () => 200), 978, 978, 978, 978]);
    expect((await ask(other, '/')).status).toBe(200);
    // Verified visitors have a higher limit, not none.
    const cookie = await pass(name);
    const more = [];
    for (let i = 0; i < 100; i += 1) more.push((await ask(name, '/', { cookie })).status);
    expect(more.slice(0, 50).every((code) => code === 200)).toBe(true);
    expect(more.at(-1)).toBe(978);
  });

  test('to all visitors of a flooded site, except for its static files', async () => {
    await edge.put(zoneDoc(edge.ports, { id: zoneID, antiCC: ordered({ requests: 100_000, siteRate: 1 }) }));
    const { name } = await edge.site();
    const { name: quiet } = await edge.site();
    let last = await ask(name, '/');
    for (let i = 0; i < 60 && last.status === 200; i += 1) last = await ask(name, '/');
    expect(await edge.accessLogEntry(last)).toMatchObject({ status: 978, rule: 'zone/site' });
    expect((await ask(name, '/style.css')).status).toBe(200);
    expect((await ask(name, '/', {}, 'OPTIONS')).status).toBe(200);
    expect((await ask(name, '/style.html')).status).toBe(978);
    expect((await ask(quiet, '/')).status).toBe(200);
    expect((await ask(name, '/', { cookie: await pass(name) })).status).toBe(200);
  });

  test('except for exempt paths, allowed addresses and certificate authorities', async () => {
    await enableChallenge({ paths: ['/api/', '/.well-known/'] });
    const { name } = await edge.site();
    expect((await ask(name, '/api/v1')).status).toBe(200);
    expect((await ask(name, '/api/%761')).status).toBe(200);
    // The origin may read it as it is written.
    expect((await ask(name, '/x/../api/v1')).status).toBe(978);
    expect((await ask(name, '/api/../x')).status).toBe(978);
    expect((await ask(name, '/.well-known/acme-challenge/unknown-token')).status).toBe(200);
    await enableChallenge({ whitelist: ['192.0.2.0/24', '127.0.0.0/9'] });
    expect((await ask(name, '/')).status).toBe(200);
    await enableChallenge({ whitelist: ['126.0.0.0/9', '::/0', '127.0.0.2'] });
    expect((await ask(name, '/')).status).toBe(978);
  });

  test('also for repeated requests to paths of certificate authorities', async () => {
    const antiCC = ordered({ requests: 5, seconds: 300, paths: [] });
    await edge.put(zoneDoc(edge.ports, { id: zoneID, antiCC }));
    const { name } = await edge.site();
    const codes: number[] = [];
    for (let i = 0; i < 60; i += 1) codes.push((await ask(name, `/.well-known/acme-challenge/${i}`)).status);
    expect(codes.slice(0, 40).every((code) => code === 200)).toBe(true);
    expect(codes.at(-1)).toBe(978);
  });

  test('in monitor mode only to the log', async () => {
    await enableChallenge({ monitor: true });
    const { name } = await edge.site();
    const seen = await ask(name, '/');
    expect([seen.status, seen.header('set-cookie')]).toEqual([200, undefined]);
    expect(await edge.accessLogEntry(seen)).toMatchObject({ status: 200, cause: 'antiCC', rule: 'monitor/everyone' });
  });

  test('only when enabled, and an old pass does not reach the origin', async () => {
    await enableChallenge();
    const { name } = await edge.site();
    const cookie = await pass(name);
    await edge.put(zoneDoc(edge.ports, { id: zoneID }));
    expect((await ask(name, '/off', { cookie: `${cookie}; a=1` })).status).toBe(200);
    expect(edge.origin.asked('/off')[0]?.headers['cookie']).toBe('a=1');
  });

  test('an address that ignores repeated challenges is blocked, and no other', async () => {
    await enableChallenge({ fails: 3, blockSeconds: 60 });
    const { name } = await edge.site();
    const from = (localAddress: string) =>
      new Promise<number | 'closed'>((resolve) => {
        const call = request({ port: edge.ports.http, localAddress, headers: { host: name }, agent: false });
        call.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
        call.on('error', () => resolve('closed'));
        call.end();
      });
    const seen = [];
    for (let i = 0; i < 5; i += 1) seen.push(await from('127.0.0.31'));
    expect(seen).toEqual([978, 978, 978, 'closed', 'closed']);
    expect(await from('127.0.0.32')).toBe(978);
    const { found } = await edge.admin.fetchBlocks(1000);
    expect(found).toMatchObject([{ network: '127.0.0.31', cause: 'antiCC', seconds: 60 }]);
    const closed = await eventually(async () => {
      const rows = (await edge.log()).filter(({ address, status }) => address === '127.0.0.31' && status === 444);
      if (rows.length < 2) throw new Error('not logged yet');
      return rows;
    });
    expect(closed.map(({ cause }) => cause)).toEqual(['antiCC', 'antiCC']);
    // Each worker writes its own lines, so their order is undefined.
    expect(closed.map(({ rule }) => rule).sort()).toEqual(['', 'zone/everyone']);
  });

  test('a WebSocket needs a pass', async () => {
    await enableChallenge();
    const { name } = await edge.site();
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'x',
    };
    expect((await ask(name, '/socket', upgrade)).status).toBe(978);
    const socket = connect(edge.ports.http, '127.0.0.1');
    const fields = { host: name, 'user-agent': page['user-agent'], cookie: await pass(name), ...upgrade };
    socket.write(
      `GET /socket HTTP/1.1\r\n${Object.entries(fields)
        .map(([field, value]) => `${field}: ${value}\r\n`)
        .join('')}\r\n`,
    );
    const [opened] = z.tuple([z.instanceof(Buffer)]).parse(await once(socket, 'data'));
    socket.destroy();
    expect(opened.toString()).toMatch(/^HTTP\/1\.1 101 /);
  });
});

test('user input does not appear in the page', async () => {
  await enableChallenge();
  const { name } = await edge.site();
  const evil = `"><script>alert(1)</script>`;
  const asked = await edge.get(`/${encodeURIComponent(evil)}?q=${evil.replaceAll(' ', '')}`, {
    host: name,
    headers: {
      ...page,
      'user-agent': evil,
      referer: evil,
      'accept-language': `${evil},zh-TW`,
      cookie: `edgeloom_answer=${evil}`,
    },
  });
  expect(asked.status).toBe(978);
  expect(asked.body).not.toContain('alert(1)');
  expect(asked.body).not.toContain(name);
  expect(asked.body).toContain('<html lang="zh-TW">');
});

test('the page uses the preferred language, and is short for programs', async () => {
  await enableChallenge();
  const { name } = await edge.site();
  const language = async (accepted: string) =>
    /lang="([^"]+)"/.exec((await ask(name, '/', { 'accept-language': accepted })).body)?.[1];
  expect(await language('zh-TW,zh;q=0.9,en;q=0.8')).toBe('zh-TW');
  expect(await language('zh-Hant-HK')).toBe('zh-TW');
  expect(await language('zh-CN')).toBe('zh-CN');
  expect(await language('en-GB,zh;q=0.5')).toBe('en');
  expect(await language('fr')).toBe('en');
  const program = await edge.get('/', { host: name, headers: { accept: '*/*' } });
  expect([program.status, program.body.includes('<script'), program.bytes.length < 400]).toEqual([978, false, true]);
});

test('a simulated request shows why it would be challenged, and is not counted', async () => {
  await edge.put(zoneDoc(edge.ports, { id: zoneID, antiCC: ordered({ requests: 10, seconds: 300 }) }));
  const { name } = await edge.site();
  const step = async () =>
    (await simulateRequest(edge, name, '/', { ip: '127.0.0.1' })).steps.find((one) => one.step === 'antiCC');
  for (let i = 0; i < 15; i += 1) await simulateRequest(edge, name, '/', { ip: '127.0.0.1' });
  expect(await step()).toMatchObject({ decision: 'passed' });
  for (let i = 0; i < 11; i += 1) await ask(name, '/');
  expect(await step()).toMatchObject({ decision: 'refused', detail: { why: 'address', status: '978' } });
  await enableChallenge({ mode: 4 });
  expect(await step()).toMatchObject({ decision: 'redirected', detail: { why: 'everyone', status: '302' } });
});

test('visitors that cannot be counted for lack of memory are challenged', async () => {
  const small = await startEdge({ zone: { id: zoneID }, dicts: { anti_cc: '12k' } });
  try {
    const antiCC = ordered({ requests: 1000, seconds: 300 });
    await small.put(zoneDoc(small.ports, { id: zoneID, antiCC }));
    const codes = new Set<number>();
    for (let i = 0; i < 80 && !codes.has(978); i += 1) {
      const { name } = await small.site();
      codes.add((await ask(name, '/', {}, 'GET', small)).status);
    }
    expect([...codes]).toEqual([200, 978]);
  } finally {
    await small.stop();
  }
});
