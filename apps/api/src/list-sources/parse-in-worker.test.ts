import { expect, test } from 'vitest';
import { parseInWorker } from './parse-in-worker.ts';

test('a worker thread parses a list of either kind and cuts it into chunks', async () => {
  const receivedAt = Date.parse('2026-11-30T00:00:00Z');
  const text = '203.0.113.9\n# old\n10.0.0.1\n203.0.113.7';
  expect(await parseInWorker({ kind: 'url', text, receivedAt })).toEqual({
    chunks: [{ value: ['203.0.113.7', '203.0.113.9'], expires: [] }],
    rejected: 1,
  });
  expect(await parseInWorker({ kind: 'url', text: '# empty', receivedAt })).toBe('noEntries');
  const decision = { type: 'ban', scope: 'Ip', value: '203.0.113.7', duration: '1h0m0s' };
  expect(await parseInWorker({ kind: 'crowdSec', text: JSON.stringify({ new: [decision] }), receivedAt })).toEqual({
    chunks: [{ value: ['203.0.113.7'], expires: [{ ip: '203.0.113.7', at: '2026-11-30T01:00:00.000Z' }] }],
    rejected: 0,
  });
});
