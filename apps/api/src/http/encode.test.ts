import { expect, test } from 'vitest';
import * as z from 'zod';
import { groups } from '@edgeloom/contract/all.ts';
import { paged, Time } from '@edgeloom/contract/common/common.ts';
import { encoder } from './encode.ts';

const Thing = z.object({
  id: z.uuid(),
  count: z.int(),
  at: Time,
  end: Time.nullable(),
  note: z.string().optional(),
  parts: z.array(z.object({ at: Time.optional(), kind: z.enum(['a', 'b']) })),
});
const at = new Date(0);
const thing = {
  id: '01a1f95e-fe4e-7198-94ce-e700181ac122',
  count: 1,
  at,
  end: null,
  parts: [{ at, kind: 'a' as const }],
};

test('it says what the schema itself would say', () => {
  const page = { data: [thing, { ...thing, end: at, note: 'x' }], total: 2 };
  expect(encoder(paged(Thing))(page)).toEqual(paged(Thing).encode(page));
});

test('a field that is not declared stays in the server, at any depth', () => {
  const loud = { ...thing, secret: 'kept', parts: [{ kind: 'a', secret: 'kept' }] };
  expect(JSON.stringify(encoder(z.object({ data: z.array(Thing) }))({ data: [loud], secret: 'kept' }))).not.toContain(
    'kept',
  );
});

test('an answer that lacks a field, or has another thing in its place, fails', () => {
  expect(() => encoder(Thing)({ ...thing, count: undefined })).toThrow('count');
  expect(() => encoder(Thing)({ ...thing, at: '1970' })).toThrow('time');
  expect(() => encoder(Thing)({ ...thing, parts: null })).toThrow('list');
  expect(() => encoder(Thing)(null)).toThrow('object');
});

test('every reply of the contract has one', () => {
  const replies = groups.flatMap((group) => Object.values(group)).flatMap(({ reply }) => reply ?? []);
  expect(replies.map((reply) => typeof encoder(reply)).filter((type) => type !== 'function')).toEqual([]);
});
