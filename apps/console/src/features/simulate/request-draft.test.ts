import { expect, test } from 'vitest';
import { SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { inputOf, emptyRequest, headersOf, presets } from './request-draft.ts';

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
  const input = inputOf({ ...emptyRequest, url: 'https://www.example.com/', headers });
  expect(SimulateInput.safeParse(input).error).toBeUndefined();
  expect(input).not.toHaveProperty('ip');
});

test('the body is sent as base64 of its UTF-8', () => {
  const { body } = inputOf({ ...emptyRequest, url: 'https://www.example.com/', method: 'POST', body: 'q=中' });
  expect(body).toEqual({ base64: Buffer.from('q=中').toString('base64') });
  expect(inputOf(emptyRequest).body).toBeNull();
});
