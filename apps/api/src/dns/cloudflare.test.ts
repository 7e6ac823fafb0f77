import { expect, test } from 'vitest';
import { cloudflare } from './cloudflare.ts';
import type { Ask } from './provider.ts';

/** What Cloudflare's documentation says of zones and records, kept in memory; it takes one token. */
function standIn() {
  const records = new Map<string, { id: string; type: string; name: string; content: string; ttl: number }>();
  let last = 0;
  const answer = (status: number, body: object) => new Response(JSON.stringify(body), { status });
  const ask: Ask = async (address, wish) => {
    const { method = 'GET', headers = {}, body } = wish ?? {};
    const { pathname, searchParams } = new URL(address);
    if (headers['authorization'] !== 'Bearer good')
      return answer(403, { success: false, errors: [{ code: 9109, message: 'Invalid access token' }], result: null });
    const done = (result: unknown) =>
      answer(200, { success: true, errors: [], result, result_info: { total_pages: 1 } });
    if (pathname === '/client/v4/zones')
      return done(searchParams.get('name') === 'example.com' ? [{ id: 'abc123', name: 'example.com' }] : []);
    const [, id] = pathname.match(/^\/client\/v4\/zones\/abc123\/dns_records\/?(\w+)?$/) ?? [];
    if (method === 'POST') {
      const record = { id: `r${(last += 1)}`, ...JSON.parse(body ?? '{}') };
      records.set(record.id, record);
      return done(record);
    }
    const there = records.get(id ?? '');
    if (method === 'PATCH' && there) {
      records.set(there.id, { ...there, ...JSON.parse(body ?? '{}') });
      return done(records.get(there.id));
    }
    if (method === 'DELETE') return done({ id: records.delete(id ?? '') });
    const asked = [...records.values()].filter(
      ({ type, name }) => (searchParams.get('type') ?? type) === type && (searchParams.get('name') ?? name) === name,
    );
    return done(asked);
  };
  return { ask, records };
}
const txt = (values: string[]) => ({
  name: '_acme-challenge.example.com',
  type: 'TXT' as const,
  values,
  ttlSeconds: 60,
});

test('a name has the values it is given and no others, and can be taken away', async () => {
  const { ask, records } = standIn();
  const account = cloudflare({ apiToken: 'good' }, ask);
  await account.upsert('example.com', txt(['one', 'two']));
  expect(await account.list('example.com')).toEqual([txt(['one', 'two'])]);
  await account.upsert('example.com', txt(['two', 'three']));
  expect(await account.list('example.com')).toEqual([txt(['three', 'two'])]);
  expect([...records.values()].map(({ content }) => content)).toEqual(['"three"', '"two"']);
  await account.remove('example.com', txt([]));
  expect(await account.list('example.com')).toEqual([]);
});

test('a refusal is told in its own words; a zone that the token does not reach is named', async () => {
  const { ask } = standIn();
  await expect(cloudflare({ apiToken: 'bad' }, ask).list('example.com')).rejects.toThrow('Invalid access token (9109)');
  await expect(cloudflare({ apiToken: 'good' }, ask).list('example.org')).rejects.toThrow('example.org');
});

test('an alias becomes another one in place, beside which no second may stand', async () => {
  const { ask, records } = standIn();
  const account = cloudflare({ apiToken: 'good' }, ask);
  const alias = (value: string) => ({
    name: 'www.example.com',
    type: 'CNAME' as const,
    values: [value],
    ttlSeconds: 60,
  });
  await account.upsert('example.com', alias('one.example.net'));
  const [before] = records.keys();
  await account.upsert('example.com', alias('two.example.net'));
  expect([...records].map(([id, { content }]) => [id, content])).toEqual([[before, 'two.example.net']]);
  await expect(account.remove('example.com', { ...alias(''), line: 'telecom' })).rejects.toThrow('knows no lines');
});
