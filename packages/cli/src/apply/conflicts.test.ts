import { expect, test } from 'vitest';
import { CommandError } from '../command.ts';
import { assertListUnchanged, assertRowsUnchanged, sendChanged } from './conflicts.ts';

const stored = (i: number, at = 'before') => ({ id: `rule ${i}`, updatedAt: `${at} ${i}` });
const changes = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ wanted: { cacheTime: i }, current: stored(i) }));

/** Sends the changes to a site on which `rows` are stored. Returns the calls. */
async function send(count: number, rows = changes(count).map(({ current }) => current)) {
  const calls: { ids: string[]; ifMatch: string | undefined }[] = [];
  const ended = await sendChanged(changes(count), {
    maxRows: 30,
    read: async () => rows,
    send: async (sent, ifMatch) => calls.push({ ids: sent.map(({ id }) => id), ifMatch }),
  }).catch((error: unknown) => error);
  return { calls, ended };
}

test('a few changed objects are sent one by one, and only if they are as the plan saw them', async () => {
  expect((await send(2)).calls).toEqual([
    { ids: ['rule 0'], ifMatch: 'before 0' },
    { ids: ['rule 1'], ifMatch: 'before 1' },
  ]);
});

test('many changed objects are sent together if none has changed since the plan', async () => {
  const { calls } = await send(50);
  expect(calls.map(({ ids }) => ids.length)).toEqual([30, 20]);
});

test('many changed objects are not sent if one of them changed or went since the plan', async () => {
  const rows = changes(50).map(({ current }) => current);
  const first = await send(50, [stored(0, 'after'), ...rows.slice(1)]);
  expect(first).toEqual({ calls: [], ended: expect.any(CommandError) });
  const last = await send(50, rows.slice(0, -1));
  expect(last).toEqual({ calls: [expect.objectContaining({ ifMatch: undefined })], ended: expect.any(CommandError) });
});

test('a removal is refused for what changed since the plan, and asks nothing if nothing is removed', async () => {
  await expect(assertRowsUnchanged([stored(1)], async () => [stored(1, 'after')])).rejects.toThrow(CommandError);
  await expect(assertRowsUnchanged([stored(1)], async () => [stored(2), stored(1)])).resolves.toBeUndefined();
  await expect(assertRowsUnchanged([], () => Promise.reject(new Error('asked')))).resolves.toBeUndefined();
});

test('a list that is removed as a whole is refused if it has other rows than in the plan', () => {
  expect(() => assertListUnchanged([stored(1), stored(2)], [stored(2), stored(1)])).not.toThrow();
  expect(() => assertListUnchanged([], [])).not.toThrow();
  for (const latest of [[stored(1)], [stored(1), stored(2), stored(3)], [stored(1), stored(2, 'after')]])
    expect(() => assertListUnchanged([stored(1), stored(2)], latest)).toThrow(CommandError);
  expect(() => assertListUnchanged([], [stored(1)])).toThrow(CommandError);
});
