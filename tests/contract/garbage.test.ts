// Values of any type and form, in every field of every body, cause no response with status 5xx. `npm test` sends every
// fourth field of a body.
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { Failure } from '@edgeloom/api/core/fail.ts';
import { inputChecker } from '@edgeloom/api/http/input.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { testApp } from '../support/services/app.ts';
import { calls, inputFor, send, type WireCall } from '../support/builders/every-call.ts';
import { casesOfRun, isLongRun } from '../support/builders/long-run.ts';
import { sample, type Sampler } from '../support/builders/sample-input.ts';
import { textAt, objectKindAt, world } from '../support/builders/world.ts';

const app = await testApp();
const { build, installation } = app;
afterAll(() => app.close());
const home = await world(build, installation);
const tokens = {
  admin: (await build.admin()).token,
  client: home.client.token,
  user: home.user.token,
};

const RUNS_PER_FIELD = isLongRun ? 6 : 1;
const json = fc.jsonValue({ maxDepth: 1 });
/** A value of each JSON type. */
const garbage = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
  text: fc.oneof(fc.constantFrom('yesterday', '', '\0', '0000-01-01T00:00:00Z'), fc.string({ unit: 'binary' })),
  list: fc.array(json, { maxLength: 3 }),
  object: fc.dictionary(fc.string(), json, { maxKeys: 3 }),
};
const anyGarbage = fc.oneof(...Object.values(garbage));

type Pick = (count: number) => number;

/** Valid input with most optional fields, and any option of a choice. */
function filled(schema: z.core.$ZodType, special: Sampler, pick: Pick, path: readonly string[] = []): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return pick(4) === 0 ? undefined : filled(schema.unwrap(), special, pick, path);
  if (schema instanceof z.ZodEnum) return schema.options[pick(schema.options.length)];
  if (schema instanceof z.ZodBoolean) return pick(2) === 0;
  if (schema instanceof z.ZodUnion && special(path) === undefined)
    return filled(schema.options[pick(schema.options.length)] ?? z.undefined(), special, pick, path);
  if (schema instanceof z.ZodObject && special(path) === undefined)
    return Object.fromEntries(
      Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, field]) => {
        const value = filled(field, special, pick, [...path, name]);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  return sample(schema, special, path);
}

interface Field {
  path: string;
  /** The body with a value in this field. */
  withValue: (value: unknown, pick: Pick) => unknown;
}

/** Every field of a schema, at every depth. */
function* fieldsOf(schema: z.core.$ZodType, special: Sampler, path: readonly string[] = []): Generator<Field> {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    yield* fieldsOf(schema.unwrap(), special, path);
  else if (schema instanceof z.ZodPipe) yield* fieldsOf(schema.in, special, path);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* fieldsOf(option, special, path);
  else if (schema instanceof z.ZodArray) {
    const at = [...path, '0'];
    yield { path: at.join('.'), withValue: (value) => [value] };
    for (const field of fieldsOf(schema.element, special, at))
      yield { ...field, withValue: (value, pick) => [field.withValue(value, pick)] };
  } else if (schema instanceof z.ZodRecord) {
    const at = [...path, 'key'];
    yield { path: at.join('.'), withValue: (value) => ({ key: value }) };
    for (const field of fieldsOf(schema.valueType, special, at))
      yield { ...field, withValue: (value, pick) => ({ key: field.withValue(value, pick) }) };
  } else if (schema instanceof z.ZodObject)
    for (const [name, part] of Object.entries<z.core.$ZodType>(schema.shape)) {
      const at = [...path, name];
      const others = (pick: Pick) => filled(schema, special, pick, path);
      yield { path: at.join('.'), withValue: (value, pick) => ({ ...Object(others(pick)), [name]: value }) };
      for (const field of fieldsOf(part, special, at))
        yield {
          ...field,
          withValue: (value, pick) => ({ ...Object(others(pick)), [name]: field.withValue(value, pick) }),
        };
    }
}

const specialOf =
  ({ endpoint }: WireCall): Sampler =>
  (path) => {
    const thing = objectKindAt(endpoint, path);
    if (thing === null) return textAt(endpoint, path);
    return /s$/i.test(path.at(-1) ?? '') ? [home.ids[thing]] : home.ids[thing];
  };

/** Endpoints with a JSON body, their calls in all families, and their fields. */
const endpoints = [...Map.groupBy(calls, ({ endpoint }) => endpoint)].flatMap(([endpoint, mounts], seed) => {
  const [call] = mounts;
  if (!call || !endpoint.body || endpoint.accepts) return [];
  const body: Field = { path: '', withValue: (value) => value };
  const fields = [body, ...fieldsOf(endpoint.body, specialOf(call))];
  return [{ title: call.title, endpoint, mounts, fields, seed }];
});

/** Choices of `filled` by fast-check. */
const pickBy =
  (gen: fc.GeneratorValue): Pick =>
  (count) =>
    gen(fc.nat, { max: count - 1 });

test.each(endpoints)('the check of $title refuses garbage, and fails in no other way', ({ endpoint, fields, seed }) => {
  const check = inputChecker(endpoint);
  const { params, query } = inputFor(endpoint, home.ids);
  const bodies = fc.tuple(fc.constantFrom(...fields), anyGarbage, fc.gen());
  const refuses = fc.property(bodies, ([{ withValue }, value, gen]) => {
    try {
      check({ params, query, body: withValue(value, pickBy(gen)) });
    } catch (error) {
      // Any other error is a response with status 500.
      if (!(error instanceof Failure)) throw error;
    }
  });
  expect(() => fc.assert(refuses, { seed, numRuns: RUNS_PER_FIELD * fields.length })).not.toThrow();
});

/** A probe connects to origins, so each of its requests takes a while. */
const quickEndpoints = endpoints.filter(({ endpoint }) => endpoint.name !== 'probe');

test.each(quickEndpoints)(
  '$title answers garbage in each field below 500',
  async ({ endpoint, mounts, fields, seed }) => {
    const { params, query } = inputFor(endpoint, home.ids);
    const values = fc.sample(fc.tuple(anyGarbage, fc.gen()), { seed, numRuns: fields.length });
    const trials = values.flatMap(([value, gen], i) => (fields[i] ? [{ field: fields[i], value, gen }] : []));
    const part = casesOfRun(trials, 4);
    const broken: unknown[] = [];
    // A body with few fields sends all, so that each call gets garbage.
    for (const [i, { field, value, gen }] of (part.length < mounts.length ? trials : part).entries()) {
      const call = mounts[i % mounts.length];
      if (!call) continue;
      const body = field.withValue(value, pickBy(gen));
      const { status } = await send(app, call, { params, query, body }, tokens[call.family ?? 'client']);
      if (status >= 500) broken.push({ status, path: call.path, body });
    }
    expect(broken).toEqual([]);
  },
);

const withTimes = endpoints.filter(({ fields }) => fields.some(({ path }) => path === 'startTime'));

test.each(withTimes.flatMap(({ mounts }) => mounts))('$title refuses a start that is no time', async (call) => {
  const input = inputFor(call.endpoint, home.ids);
  const isOptional = call.endpoint.body instanceof z.ZodObject && 'timeInterval' in call.endpoint.body.shape;
  const times = {
    startTime: 'yesterday',
    endTime: '2026-11-02T00:00:00Z',
    ...(isOptional && { timeInterval: 'custom' }),
  };
  const body = { ...Object(input.body), ...times };
  const response = await send(app, call, { ...input, body }, tokens[call.family ?? 'client']);
  expect([response.status, response.body.code]).toEqual([400, errors.PARAMETER.code]);
  expect(response.body.errorData).toContainEqual(expect.objectContaining({ path: 'startTime', rule: 'format' }));
});
