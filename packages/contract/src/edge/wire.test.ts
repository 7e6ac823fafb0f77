// Compatibility with documents and messages of earlier and later versions. A file of __golden__ is recorded once, when
// its version is released, and never changed: a control plane and its nodes are upgraded one after the other.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { supportedNeeds, checkDoc } from './documents.ts';
import * as schemas from './messages.ts';

const dir = path.join(import.meta.dirname, '__golden__');
const Wire = z.object({
  docs: z.record(z.string(), z.record(z.string(), z.json())),
  messages: z.record(z.string(), z.array(z.record(z.string(), z.json()))),
});
type Json = z.infer<ReturnType<typeof z.json>>;
const recorded = readdirSync(dir).map((file) => ({
  file,
  ...Wire.parse(JSON.parse(readFileSync(path.join(dir, file), 'utf8'))),
}));

/** Adds an unknown field to each object. */
function widened(value: Json): Json {
  if (Array.isArray(value)) return value.map(widened);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, one]): [string, Json] => [name, widened(one)]);
  return { ...Object.fromEntries(fields), ofTomorrow: { deep: [1] } };
}

/** In a record the unknown field would be an entry. */
const isRecord = (key: string) => key.startsWith('module/');

const schemaOf = (name: string): z.ZodType => {
  const schema = Object.entries(schemas).find(([known]) => known === name)?.[1];
  if (!(schema instanceof z.ZodType)) throw new Error(`${name} is no message any more`);
  return schema;
};

describe.each(recorded)('$file', ({ docs, messages }) => {
  test.each(Object.entries(docs))('its document %s is taken, and used', (key, doc) => {
    expect(checkDoc(key, JSON.stringify(doc))).toMatchObject({ doc });
  });

  test.each(Object.entries(docs).filter(([key]) => !isRecord(key)))(
    'its document %s is used as it is with fields that nobody knows yet',
    (key, doc) => {
      expect(checkDoc(key, JSON.stringify(widened(doc)))).toEqual({ doc });
    },
  );

  test.each(Object.entries(docs))('its document %s is closed where it insists on what nobody knows yet', (key, doc) => {
    expect(checkDoc(key, JSON.stringify({ ...doc, needs: [...supportedNeeds, 'bouncer'] }))).toEqual({
      closed: ['bouncer'],
    });
  });

  const samples = Object.entries(messages).flatMap(([name, list]) =>
    list.map((message, i) => ({ name, i, message, schema: schemaOf(name) })),
  );
  test.each(samples)('its $name $i is understood, also with fields that nobody knows yet', ({ message, schema }) => {
    expect(schema.parse(message)).toEqual(message);
    expect(schema.parse(widened(message))).toEqual(message);
  });
});

test('a heartbeat of a later version counts, whatever words it has for what is new', () => {
  const beat = recorded[0]?.messages['Heartbeat']?.[1];
  const load = { cpu: 'some', ofTomorrow: 1 };
  const later = { ...beat, nginx: 'resting', load, clock: 'noon', rejected: [], capabilities: ['ofTomorrow'] };
  expect(schemas.Heartbeat.parse(later)).toMatchObject({ revision: 8, nginx: null });
  expect(schemas.Ack.parse({ revision: 8, state: 'postponed', rejected: [], tookMs: 1 })).toMatchObject({
    revision: 8,
  });
});
