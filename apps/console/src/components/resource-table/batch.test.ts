import { ApiError } from '@edgeloom/contract/client.ts';
import { isId } from '@edgeloom/contract/common/common.ts';
import { expect, test } from 'vitest';
import { runBatch } from './batch.ts';

const rows = ['a', 'b', 'c'].map((id) => ({ id, name: `${id}.example.com` }));
type Row = (typeof rows)[number];
const refusal = (status: number, code: number, errorData: unknown[] = []) =>
  new ApiError(status, { isError: true, code, message: '', errorData, extra: {}, reqID: '' });

async function run(judge: (ids: readonly string[]) => ApiError | null) {
  const calls: string[] = [];
  const actionIds = new Set<string>();
  const send = (some: readonly Row[], actionId: string) => {
    actionIds.add(actionId);
    const ids = some.map(({ id }) => id);
    calls.push(ids.join(''));
    const error = judge(ids);
    return error ? Promise.reject(error) : Promise.resolve();
  };
  const outcomes = await runBatch(rows, { send, namesOf: ({ id, name }) => [id, name], onProgress: () => {} });
  expect(actionIds.size).toBe(1);
  expect(isId([...actionIds].join())).toBe(true);
  return { calls, outcomes: outcomes.map(({ row, failed }) => `${row.id} ${failed?.code ?? 'done'}`) };
}

test('a batch is one call', async () => {
  expect(await run(() => null)).toEqual({ calls: ['abc'], outcomes: ['a done', 'b done', 'c done'] });
});

test('rows that are named as refused are left out, and the others are done', async () => {
  const errorData = [{ code: 401_001, targets: ['b.example.com'] }];
  expect(await run((ids) => (ids.includes('b') ? refusal(409, 101_009, errorData) : null))).toEqual({
    calls: ['abc', 'ac'],
    outcomes: ['a done', 'b 401001', 'c done'],
  });
});

test('a rule names rows as well', async () => {
  const errorData = [{ id: 'c', name: 'c', rule: 'enabled' }];
  expect(await run((ids) => (ids.includes('c') ? refusal(409, 101_003, errorData) : null))).toEqual({
    calls: ['abc', 'ab'],
    outcomes: ['a done', 'b done', 'c 101003'],
  });
});

test('a refusal without a named row is retried row by row', async () => {
  expect(await run((ids) => (ids.includes('a') ? refusal(409, 201_001) : null))).toEqual({
    calls: ['abc', 'a', 'b', 'c'],
    outcomes: ['a 201001', 'b done', 'c done'],
  });
});

test.each([
  [403, 101_018],
  [503, 101_005],
])('what is the same for all rows (%i) is not tried again', async (status, code) => {
  const found = await run(() => refusal(status, code));
  expect(found).toEqual({ calls: ['abc'], outcomes: [`a ${code}`, `b ${code}`, `c ${code}`] });
});

test('what names rows of no batch ends', async () => {
  const errorData = [{ code: 401_001, targets: ['elsewhere'] }];
  expect((await run(() => refusal(400, 101_009, errorData))).calls).toEqual(['abc', 'a', 'b', 'c']);
});

test('more rows than a call takes are several calls with one action id', async () => {
  const many = Array.from({ length: 1200 }, (_, i) => ({ id: `${i}`, name: `${i}` }));
  const sent: [number, string][] = [];
  const send = (some: readonly Row[], actionId: string) => {
    sent.push([some.length, actionId]);
    return Promise.resolve();
  };
  await runBatch(many, { send, namesOf: ({ id }) => [id], onProgress: () => {} });
  expect(sent.map(([length]) => length)).toEqual([500, 500, 200]);
  expect(new Set(sent.map(([, actionId]) => actionId)).size).toBe(1);
});
