import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DocPush } from '@edgeloom/contract/edge/messages.ts';
import type { DocEntry } from '@edgeloom/contract/edge/messages.ts';
import { expect, test } from 'vitest';
import { pushesOf } from './push.ts';

const zone = '01930000-0000-7000-8000-000000000001';
const doc = (revision: number, bytes = 100): DocEntry => {
  const body = 'x'.repeat(bytes);
  return { key: `host/h${revision}.example.com`, revision, sha256: sha256(body), body };
};
const range = (from: number, to: number, bytes?: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => doc(from + i, bytes));
const MiB = 1024 ** 2;

test('what fits goes in one message', () => {
  const [push, ...more] = pushesOf(zone, 4, 7, range(5, 7), MiB);
  expect(more).toEqual([]);
  expect(DocPush.parse(push)).toMatchObject({ previous: 4, revision: 7, docs: [{ revision: 5 }, {}, { revision: 7 }] });
});

test('what does not fit goes in a chain, each link after the one before, none too large', () => {
  const pushes = pushesOf(zone, 10, 310, range(11, 310, 10_000), MiB);
  expect(pushes.length).toBeGreaterThan(3);
  let reached = 10;
  for (const push of pushes) {
    expect(push.previous).toBe(reached);
    expect(push.docs.at(-1)?.revision).toBe(push.revision);
    expect(JSON.stringify(push).length).toBeLessThan(MiB);
    reached = push.revision;
  }
  expect(reached).toBe(310);
  expect(pushes.flatMap(({ docs }) => docs)).toHaveLength(300);
});

test('a document too large for one message is announced, and its neighbours still travel', () => {
  const pushes = pushesOf(zone, 0, 3, [doc(1), doc(2, 2 * MiB), doc(3)], MiB);
  expect(pushes.map(({ previous, revision, docs }) => [previous, revision, docs.length])).toEqual([
    [0, 1, 1],
    [1, 2, 0],
    [2, 3, 1],
  ]);
});

test('so many that nodes had better ask are announced only', () => {
  expect(pushesOf(zone, 0, 20_000, range(1, 20_000, 1), MiB)).toEqual([
    { schema: 1, zone, previous: 0, revision: 20_000, docs: [] },
  ]);
});
