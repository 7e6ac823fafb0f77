import { readFileSync } from 'node:fs';
import { ORDINARY_REQUESTS, refusedOrdinary } from '@edgeloom/waf-rules/levels.ts';
import { expect, test } from 'vitest';

test('the figures of each paranoia level are those of the model card', () => {
  const card = readFileSync(new URL('../../../../../packages/waf-rules/model/card.md', import.meta.url), 'utf8');
  const rows = [...card.matchAll(/^\| requests benign \| (\d+) \| ([\d.]+) % \|$/gm)];
  expect(rows.map(([, , refused]) => refused)).toEqual(refusedOrdinary.map((share) => (share * 100).toFixed(2)));
  expect(rows.map(([, requests]) => Number(requests))).toEqual(refusedOrdinary.map(() => ORDINARY_REQUESTS));
});
