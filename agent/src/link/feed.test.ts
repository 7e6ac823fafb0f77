import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocPush } from '@edgeloom/contract/edge/messages.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chain } from './feed.ts';

const zone = '019a0000-0000-7000-8000-000000000001';
const push = (previous: number, revision: number): DocPush => ({
  schema: DOCUMENT_SCHEMA,
  zone,
  previous,
  revision,
  docs: Array.from({ length: revision - previous }, (_, i) => {
    const body = `{"revision":${previous + 1 + i}}`;
    return { key: `host/n${previous + 1 + i}.example.com`, revision: previous + 1 + i, sha256: sha256(body), body };
  }),
});
const revisions = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + 1 + i);

test('whatever is lost, repeated or out of order, what is applied is what comes next, without a hole', () => {
  const cuts = fc
    .uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1 })
    .map((list) => [0, ...list.sort((a, b) => a - b)]);
  fc.assert(
    fc.property(cuts, fc.integer({ min: 0, max: 30 }), fc.array(fc.nat()), (points, start, picks) => {
      const pushes = points.slice(1).map((point, i) => push(points[i] ?? 0, point));
      const arrived = picks.flatMap((pick) => pushes[pick % pushes.length] ?? []);
      const { entries, reached, gap } = chain(start, arrived);
      expect(entries.map(({ revision }) => revision)).toEqual(revisions(start, reached));
      const newest = Math.max(start, ...arrived.map(({ revision }) => revision));
      expect(gap).toBe(reached < newest);
    }),
    { seed: 1 },
  );
});

test('a push that says it was too large, is damaged, or is of a newer kind, is asked for', () => {
  const whole = push(0, 2);
  expect(chain(0, [whole])).toMatchObject({ reached: 2, gap: false });
  expect(chain(0, [{ ...whole, docs: [] }])).toMatchObject({ entries: [], reached: 0, gap: true });
  expect(chain(0, [{ ...whole, schema: DOCUMENT_SCHEMA + 1 }])).toMatchObject({ entries: [], reached: 0, gap: true });
  const damaged = { ...whole, docs: whole.docs.map((entry) => ({ ...entry, body: `${entry.body} ` })) };
  expect(chain(0, [damaged])).toMatchObject({ entries: [], reached: 0, gap: true });
});
