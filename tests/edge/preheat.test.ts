import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { preheat, proofOf, keepCached } from '@edgeloom/agent/link/preheat.ts';
import { readZoneKeys } from '@edgeloom/agent/store/zone-keys.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import type { TokenAuthDoc } from '@edgeloom/contract/edge/module-doc.ts';
import { afterAll, expect, test } from 'vitest';
import { rule as cacheRule, startEdge } from '../support/services/edge.ts';

const edge = await startEdge();
afterAll(() => edge.stop());
const nginx = { address: '127.0.0.1', proxyProtocolPorts: [] };
const zoneKey = async () => (await readZoneKeys(join(edge.dir, 'keys')))[0]?.key ?? Buffer.alloc(0);

/** A site with hotlink, header and token protection. */
async function guarded() {
  const id = randomUUID();
  const tokenAuth: TokenAuthDoc = {
    kind: 'module',
    id,
    module: 'tokenAuth',
    auths: [
      {
        id: randomUUID(),
        paths: { type: 'all', value: [] },
        place: 'query',
        parts: [{ name: 'auth', pattern: '([0-9]{10})-([0-9a-f]{64})', variables: ['time', 'sign'] }],
        text: ['', 'path', '', 'time', ''],
        hash: 'sha256',
        hmac: true,
        encoding: 'hex',
        timeFormat: 'seconds',
        utcOffset: 0,
        goodSeconds: 600,
        notEarly: true,
        leewaySeconds: 60,
        keys: [edge.seal('the-key', moduleKey(id))],
      },
    ],
  };
  await edge.put(tokenAuth);
  return edge.site(
    {
      cacheRules: [cacheRule()],
      antiHeaders: [{ id: randomUUID(), name: 'x-app', operator: 'absent', value: '', action: 'deny' as const }],
    },
    {
      modules: { tokenAuth: id },
      antiReferers: [
        { id: randomUUID(), type: 'all', value: [], isBlack: false, referers: ['app.example.com'], allowEmpty: false },
      ],
    },
  );
}

test('URLs protected by token, referer and header are prefetched, and authorized visitors get a hit', async () => {
  const { name } = await guarded();
  const url = `http://${name}:${edge.ports.http}/film.mp4?q=1`;
  expect(await preheat(nginx, [url], 10_000, await zoneKey())).toEqual({ fetched: 1, error: null });
  expect(edge.origin.asked('/film.mp4').map(({ headers }) => headers['x-e-preheat'])).toEqual([undefined]);
  const time = String(Math.floor(Date.now() / 1000));
  const sign = createHmac('sha256', 'the-key').update(`/film.mp4${time}`).digest('hex');
  const host = `${name}:${edge.ports.http}`;
  const headers = { referer: 'https://app.example.com/', 'x-app': '1', 'accept-encoding': 'gzip, deflate, br' };
  const reply = await edge.get(`/film.mp4?q=1&auth=${time}-${sign}`, { host, headers });
  expect([reply.status, reply.cache]).toEqual([200, 'hit']);
});

test('a forged prefetch header has no effect: with another key, for another URL, or later', async () => {
  const { name } = await guarded();
  const key = await zoneKey();
  const asked = async (proof: string) =>
    (await edge.get('/a', { host: name, headers: { 'x-e-preheat': proof } })).status;
  expect(await asked(proofOf(key, name, '/a'))).toBe(200);
  const bad = [
    '1',
    '',
    'true',
    proofOf(Buffer.alloc(32), name, '/a'),
    proofOf(key, name, '/b'),
    proofOf(key, 'other.example.com', '/a'),
    proofOf(key, name, '/a', Date.now() - 120_000),
    proofOf(key, name, '/a', Date.now() + 120_000),
    proofOf(key, name, '/a').slice(0, -1),
    `${proofOf(key, name, '/a')}0`,
  ];
  for (const proof of bad) expect([proof, await asked(proof)]).toEqual([proof, 403]);
});

test('the log marks what proved to be a prefetch, and nothing else', async () => {
  const { name } = await guarded();
  const key = await zoneKey();
  const proofs = [proofOf(key, name, '/a'), proofOf(Buffer.alloc(32), name, '/a'), 'true'];
  const marks: unknown[] = [];
  for (const proof of proofs) {
    const headers = { 'user-agent': 'Edgeloom-Preheat', 'x-e-preheat': proof };
    marks.push((await edge.accessLogEntry(await edge.get('/a', { host: name, headers })))['isPreheat']);
  }
  expect(marks).toEqual([true, false, false]);
});

test('a kept URL is fetched once, found in the cache afterwards, and reported when uncacheable or failing', async () => {
  const { name } = await guarded();
  const urlOf = (path: string) => `http://${name}:${edge.ports.http}${path}`;
  edge.origin.on('/missing', { status: 404 });
  edge.origin.on('/personal', { headers: { 'set-cookie': 'a=b' } });
  const urls = [urlOf('/kept'), urlOf('/missing'), urlOf('/personal'), 'http://nobody.example.com:1/'];
  const look = async () => keepCached(nginx, urls, 10_000, await zoneKey());
  const found = await look();
  expect(found).toMatchObject([
    { state: 'stored', fault: null },
    { state: 'failed', fault: '404' },
    { state: 'notStored', fault: null },
    { state: 'failed', fault: expect.stringContaining('ECONNREFUSED') },
  ]);
  expect(found[0]?.freshSeconds).toBeGreaterThan(0);
  const asked = edge.origin.asked('/kept').length;
  expect(await look()).toMatchObject([{ state: 'stored' }, {}, {}, {}]);
  expect(edge.origin.asked('/kept')).toHaveLength(asked);
});
