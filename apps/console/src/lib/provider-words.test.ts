import { expect, test } from 'vitest';
import { readFault } from './provider-words.ts';

test('what we say ourselves has words of its own, and what the provider says has its own', () => {
  const values = { found: 'A 192.0.2.50' };
  expect(readFault('not ours: A 192.0.2.50')).toEqual({ word: 'unprocessed.faults.notOurs', values });
  expect(readFault("1.2'} is no AAAA value")).toMatchObject({ values: { value: "1.2'}", type: 'AAAA' } });
  expect(readFault('no answer within 10 seconds')).toMatchObject({ values: { seconds: '10' } });
  expect(readFault('the token reaches no zone example.org')).toMatchObject({ values: { zone: 'example.org' } });
  expect(readFault('connect ECONNREFUSED 192.0.2.1:8081')).toMatchObject({ values: { place: '192.0.2.1:8081' } });
  expect(readFault('getaddrinfo ENOTFOUND ns1.example.com')).toMatchObject({ values: { name: 'ns1.example.com' } });
  expect(readFault('ns1.example.com has no permitted address')).toEqual({
    word: 'unprocessed.faults.noAddress',
    values: { name: 'ns1.example.com' },
  });
  expect(readFault('HTTP 401')).toMatchObject({ values: { status: '401' } });
  expect(readFault('记录已经存在 (InvalidParameter)')).toBeNull();
});
