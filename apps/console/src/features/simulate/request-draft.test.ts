import { expect, test } from 'vitest';
import { SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { bodyOf, emptyRequest, headersOf, presets } from './request-draft.ts';

test('fields are read line by line, and the first that is none is named', () => {
  expect(headersOf('A: 1\n\n b:2:3 ')).toEqual({
    headers: [
      { name: 'A', value: '1' },
      { name: 'b', value: '2:3' },
    ],
    invalidLine: null,
  });
  expect(headersOf('A: 1\nnonsense').invalidLine).toBe(2);
  expect(headersOf('Host: a').invalidLine).toBe(1);
  expect(headersOf('A: 中').invalidLine).toBe(1);
});

test.each(Object.entries(presets))('the fields of %s may be sent', (_, headers) => {
  const body = bodyOf({ ...emptyRequest, url: 'https://www.example.com/', headers });
  expect(SimulateInput.safeParse(body).error).toBeUndefined();
  expect(body).not.toHaveProperty('ip');
});
