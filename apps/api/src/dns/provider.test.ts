import { expect, test } from 'vitest';
import * as z from 'zod';
import { describeError } from './provider.ts';

const thrown = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test('an answer that is none is not read out', () => {
  for (const work of [() => JSON.parse('<!doctype html>'), () => z.object({ rrsets: z.array(z.string()) }).parse([])])
    expect(describeError(thrown(work))).toBe('the answer is not understood');
});

test('when no address responds, the first error is reported', () => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:8081`));
  expect(describeError(new AggregateError(refused))).toBe('connect ECONNREFUSED ::1:8081');
});
