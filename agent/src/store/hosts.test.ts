import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { hostsOf } from './hosts.ts';

test('a host is found by its name or a wildcard, again after its document changes, and an unknown one is not', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const docs = new Map([
    ['host/www.example.com', { revision: 1, sha256: '', body: JSON.stringify({ siteID: one }) }],
    ['host/*.example.com', { revision: 2, sha256: '', body: JSON.stringify({ siteID: two }) }],
    ['host/torn.example.com', { revision: 3, sha256: '', body: '{"siteI' }],
  ]);
  const asked: string[] = [];
  const siteOf = hostsOf({
    get: (key) => docs.get(key),
    read: (key) => {
      asked.push(key);
      return Promise.resolve(docs.get(key)?.body ?? null);
    },
  });
  expect(await siteOf('www.example.com')).toBe(one);
  expect(await siteOf('any.example.com')).toBe(two);
  expect(await siteOf('other.example.com')).toBe(two);
  expect(await siteOf('torn.example.com')).toBe(null);
  for (const host of ['a.b.example.com', 'example.com', 'localhost', '', '../zone'])
    expect(await siteOf(host)).toBe(null);
  expect(asked).toEqual(['host/www.example.com', 'host/*.example.com', 'host/torn.example.com']);
  docs.set('host/www.example.com', { revision: 4, sha256: '', body: JSON.stringify({ siteID: two }) });
  expect(await siteOf('www.example.com')).toBe(two);
});
