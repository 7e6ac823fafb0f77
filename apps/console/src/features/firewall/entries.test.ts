import { expect, test } from 'vitest';
import { readEntries, writeEntries } from './entries.ts';

test('entries keep their expiry through the text field, and comments are dropped', () => {
  const lines = ['203.0.113.7 # scanner', '', '192.0.2.1 - 192.0.2.9', '2001:db8::/32 2030-01-01T00:00:00.000Z'];
  const entries = readEntries(lines);
  expect(entries).toEqual({
    ips: ['203.0.113.7', '192.0.2.1 - 192.0.2.9', '2001:db8::/32'],
    expires: [{ ip: '2001:db8::/32', at: '2030-01-01T00:00:00.000Z' }],
  });
  expect(readEntries(writeEntries(entries))).toEqual(entries);
});
