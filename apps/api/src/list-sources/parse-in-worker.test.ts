import { expect, test } from 'vitest';
import { parseInWorker } from './parse-in-worker.ts';

test('a worker thread parses a list and cuts it into chunks', async () => {
  expect(await parseInWorker('203.0.113.9\n# old\n10.0.0.1\n203.0.113.7')).toEqual({
    chunks: [['203.0.113.7', '203.0.113.9']],
    rejected: 1,
  });
  expect(await parseInWorker('# empty')).toBe('noEntries');
});
