// The robots.txt of a site, which the node serves.
import { randomUUID } from 'node:crypto';
import { listDoc } from '@edgeloom/api/compile/firewall.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { simulateRequest } from '../support/assertions/simulate-request.ts';
import { siteDoc, startEdge, type Ask, type Edge } from '../support/services/edge.ts';

let edge: Edge;
beforeAll(async () => {
  // The test names its visitors' addresses in a header.
  edge = await startEdge({ zone: { visitorAddress: { networks: ['127.0.0.1/32'], header: 'X-Forwarded-For' } } });
});
afterAll(() => edge.stop());

const text = 'User-agent: GPTBot\nDisallow: /\n';
const agent = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot';
const visit = (path: string, host: string, { headers, ...over }: Ask = {}) =>
  edge.get(path, { host, headers: { 'user-agent': agent, 'x-forwarded-for': '192.0.2.1', ...headers }, ...over });
const robots = (host: string, over: Ask = {}) => visit('/robots.txt', host, over);

test('robots.txt is served by the node, with a validator, to GET and HEAD', async () => {
  const { name } = await edge.site({ robots: text });
  const before = edge.origin.requests.length;
  const reply = await robots(name);
  expect([reply.status, reply.body]).toEqual([200, text]);
  expect(reply.header('content-type')).toBe('text/plain; charset=utf-8');
  expect(reply.header('cache-control')).toBe('max-age=600');
  const etag = reply.header('etag');
  expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
  const head = await robots(name, { method: 'HEAD' });
  expect([head.status, head.body, head.header('content-length')]).toEqual([200, '', String(text.length)]);
  const renewed = await robots(name, { headers: { 'if-none-match': `W/${etag}` } });
  expect([renewed.status, renewed.body, renewed.header('etag')]).toEqual([304, '', etag]);
  expect((await robots(name, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  expect(edge.origin.requests).toHaveLength(before);
  expect(await edge.accessLogEntry(reply)).toMatchObject({ status: 200, cause: '', rule: '' });
});

test('robots.txt reaches crawlers that are blocked or would be sent to HTTPS, and other paths do not', async () => {
  const black = listDoc({ id: randomUUID(), value: ['192.0.2.1'], expires: [] });
  await edge.put(black);
  const { name } = await edge.site(
    {
      robots: text,
      crawlers: [{ id: randomUUID(), category: 'aiTraining', action: 'block' }],
      lists: [{ id: black.id, isBlack: true }],
    },
    { https: { force: true, hsts: null, minTLS: 'TLSv1.2' } },
  );
  expect((await robots(name)).body).toBe(text);
  expect((await visit('/', name)).status).toBe(403);
  const { steps } = await simulateRequest(edge, name, '/robots.txt');
  expect(steps.find(({ step }) => step === 'robots')).toMatchObject({
    decision: 'answered',
    detail: { status: '200' },
  });
});

test('a change of robots.txt is served at once, and without it the file of the origin', async () => {
  const { site, host, name } = await edge.site({ robots: text });
  expect((await robots(name)).body).toBe(text);
  await edge.put({ ...site, robots: '' }, host);
  const empty = await robots(name);
  expect([empty.status, empty.body]).toEqual([200, '']);
  await edge.put(siteDoc({ id: site.id }), host);
  const before = edge.origin.requests.length;
  expect((await robots(name)).body).not.toBe(text);
  expect(edge.origin.requests.length).toBe(before + 1);
});

test('an address that requests robots.txt too often gets 429, and others get the file', async () => {
  const own = await startEdge({
    zone: { visitorAddress: { networks: ['127.0.0.1/32'], header: 'X-Forwarded-For' } },
    lua: [
      {
        file: 'edge/plugins/robots.lua',
        from: 'MAX_PER_MINUTE, MINUTE, RETRY_SECONDS = 120',
        to: 'MAX_PER_MINUTE, MINUTE, RETRY_SECONDS = 3',
      },
    ],
  });
  onTestFinished(() => own.stop());
  const { name } = await own.site({ robots: text });
  const from = (address: string, path = '/robots.txt') =>
    own.get(path, { host: name, headers: { 'x-forwarded-for': address } });
  expect((await from('192.0.2.1')).status).toBe(200);
  const refused = await eventually(async () => {
    const reply = await from('192.0.2.1');
    expect(reply.status).toBe(429);
    return reply;
  });
  expect(refused.header('retry-after')).toBe('60');
  expect((await from('192.0.2.2')).body).toBe(text);
  expect((await from('192.0.2.1', '/')).status).toBe(200);
});

test('a site out of service has no robots.txt', async () => {
  const { name } = await edge.site({ robots: text, status: 'pause' });
  expect((await robots(name)).status).toBe(904);
});
