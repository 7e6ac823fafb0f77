import { expect, test } from 'vitest';
import { cloudflare } from './cloudflare.ts';
import type { Ask, DnsChange } from './account.ts';
import { DnsRefusedError } from './refusal.ts';

interface StoredRecord {
  id: string;
  type: string;
  name: string;
  content: string;
  ttl: number;
}
interface Batch {
  deletes: { id: string }[];
  patches: { id: string; content: string; ttl: number }[];
  posts: Omit<StoredRecord, 'id'>[];
}
/** A fake of Cloudflare's documented API for zones, records and batches, in memory. It accepts one token. */
function standIn() {
  const records = new Map<string, StoredRecord>();
  const batches: number[] = [];
  let last = 0;
  const answer = (status: number, body: object) => new Response(JSON.stringify(body), { status });
  const ask: Ask = async (address, options) => {
    const { headers = {}, body } = options ?? {};
    const { pathname, searchParams } = new URL(address);
    if (headers['authorization'] !== 'Bearer good')
      return answer(403, { success: false, errors: [{ code: 9109, message: 'Invalid access token' }], result: null });
    const done = (result: unknown) =>
      answer(200, { success: true, errors: [], result, result_info: { total_pages: 1 } });
    if (pathname === '/client/v4/zones')
      return done(searchParams.get('name') === 'example.com' ? [{ id: 'abc123', name: 'example.com' }] : []);
    if (pathname === '/client/v4/zones/abc123/dns_records/batch') {
      const { deletes, patches, posts }: Batch = JSON.parse(String(body));
      const before = new Map(records);
      const steps = deletes.length + patches.length + posts.length;
      batches.push(steps);
      // Operations run in this order, all or none.
      const refuse = (message: string) => {
        records.clear();
        for (const [key, one] of before) records.set(key, one);
        return answer(400, { success: false, errors: [{ code: 81053, message }], result: null });
      };
      if (steps > 200) return refuse('too many changes');
      for (const { id } of deletes) if (!records.delete(id)) return refuse(`no record ${id}`);
      for (const { id, ...patch } of patches) {
        const there = records.get(id);
        if (!there) return refuse(`no record ${id}`);
        records.set(id, { ...there, ...patch });
      }
      for (const post of posts) {
        const beside = [...records.values()].filter(({ name }) => name === post.name);
        if (beside.some(({ type }) => type === 'CNAME' || post.type === 'CNAME'))
          return refuse('an alias stands alone');
        if (post.content === 'refused.example.net') return refuse('that value is refused');
        const record = { id: `r${(last += 1)}`, ...post };
        records.set(record.id, record);
      }
      return done({});
    }
    const asked = [...records.values()].filter(
      ({ type, name }) => (searchParams.get('type') ?? type) === type && (searchParams.get('name') ?? name) === name,
    );
    return done(asked);
  };
  return { ask, records, batches };
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

test('an error has the message of the provider; a zone out of reach of the token is named', async () => {
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

test('many names go out in batches that the smallest plan takes; what is there already in none', async () => {
  const { ask, records, batches } = standIn();
  const account = cloudflare({ apiToken: 'good' }, ask);
  const put = (at: number, values: string[]): DnsChange => ({
    put: { name: `n${at}.example.com`, type: 'A', values, ttlSeconds: 60 },
  });
  const all = Array.from({ length: 450 }, (_, at) => put(at, ['192.0.2.1', '192.0.2.2']));
  await account.change?.('example.com', all);
  expect([records.size, batches]).toEqual([900, [200, 200, 200, 200, 100]]);
  await account.change?.('example.com', all);
  expect(batches).toHaveLength(5);
  const [first] = records.keys();
  await account.change?.('example.com', [
    put(0, ['192.0.2.3']),
    { drop: { name: 'n1.example.com', type: 'A' } },
    { put: { name: 'n1.example.com', type: 'CNAME', values: ['other.example.net'], ttlSeconds: 60 } },
  ]);
  expect(batches.slice(5)).toEqual([5]);
  expect(await account.list('example.com', 'n0.example.com')).toMatchObject([{ values: ['192.0.2.3'] }]);
  expect(records.get(first ?? '')).toMatchObject({ content: '192.0.2.3' });
  expect(await account.list('example.com', 'n1.example.com')).toMatchObject([{ type: 'CNAME' }]);
});

test('of a batch that is refused nothing is done, and what is no answer is not a refusal', async () => {
  const { ask, records } = standIn();
  const account = cloudflare({ apiToken: 'good' }, ask);
  const alias = (name: string, value: string): DnsChange => ({
    put: { name: `${name}.example.com`, type: 'CNAME', values: [value], ttlSeconds: 60 },
  });
  const both = [alias('good', 'other.example.net'), alias('bad', 'refused.example.net')];
  await expect(account.change?.('example.com', both)).rejects.toThrow(DnsRefusedError);
  expect(records.size).toBe(0);
  const outOfOrder: Ask = () => Promise.resolve(new Response('<html>', { status: 502 }));
  const away = cloudflare({ apiToken: 'good' }, outOfOrder).list('example.com');
  await expect(away).rejects.not.toBeInstanceOf(DnsRefusedError);
});
