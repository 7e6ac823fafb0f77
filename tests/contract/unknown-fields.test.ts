// Every body rejects unknown fields by name and at every depth. Generated for every endpoint.
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { errors } from '@edgeloom/contract/errors.ts';
import { testApp } from '../support/services/app.ts';
import { calls, inputFor, send } from '../support/builders/every-call.ts';
import { sample, type Sampler } from '../support/builders/sample-input.ts';
import { textAt, objectKindAt, world } from '../support/builders/world.ts';

const app = await testApp();
const { build, installation } = app;
afterAll(() => app.close());
const home = await world(build, installation);
const tokens = {
  admin: (await build.admin()).token,
  client: home.client.token,
  root: home.client.token,
  user: home.user.token,
};

const UNKNOWN = 'nobodyDeclaredThis';
interface UnknownFieldSample {
  value: unknown;
  /** Path of the unknown field. */
  path: string;
}

/** One sample per nested object, with an unknown field in it. */
function* planted(
  schema: z.core.$ZodType,
  special: Sampler,
  path: readonly string[] = [],
): Generator<UnknownFieldSample> {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    yield* planted(schema.unwrap(), special, path);
  else if (schema instanceof z.ZodPipe) yield* planted(schema.in, special, path);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* planted(option, special, path);
  else if (schema instanceof z.ZodArray)
    for (const { value, path: place } of planted(schema.element, special, [...path, '0']))
      yield { value: [value], path: place };
  else if (schema instanceof z.ZodRecord)
    for (const { value, path: place } of planted(schema.valueType, special, [...path, 'key']))
      yield { value: { key: value }, path: place };
  else if (schema instanceof z.ZodObject) {
    if (schema.def.catchall !== undefined) return;
    const least = sample(schema, special, path);
    yield { value: { ...Object(least), [UNKNOWN]: 1 }, path: [...path, UNKNOWN].join('.') };
    for (const [name, field] of Object.entries<z.core.$ZodType>(schema.shape))
      for (const { value, path: place } of planted(field, special, [...path, name]))
        yield { value: { ...Object(least), [name]: value }, path: place };
  }
}

const isStrict = (schema: z.core.$ZodType) =>
  !JSON.stringify(z.toJSONSchema(schema, { io: 'input' })).includes('"additionalProperties":{}');

const writes = calls.filter(
  ({ method, endpoint }) => method !== 'GET' && !/^(?:node|monitor)Join$/.test(endpoint.feature),
);

describe.each(writes)('$title', (call) => {
  const { endpoint, mount } = call;
  const special: Sampler = (path) => {
    const thing = objectKindAt(endpoint, path);
    if (thing === null) return textAt(endpoint, path);
    return /s$/i.test(path.at(-1) ?? '') ? [home.ids[thing]] : home.ids[thing];
  };
  const all = endpoint.accepts
    ? [{ value: { [UNKNOWN]: '1' }, path: UNKNOWN }]
    : [...planted(endpoint.body ?? z.object({}), special)];

  test.each(all)('refuses $path', async ({ value, path }) => {
    const input = { ...inputFor(endpoint, home.ids), body: value };
    const { status, body } = await send(app, call, input, tokens[endpoint.only ?? mount]);
    expect([status, body.code]).toEqual([400, errors.PARAMETER.code]);
    expect(body.errorData).toContainEqual({ path, rule: 'unknown', message: 'no such field' });
  });
});

test('only bodies written by agents and browsers may have unknown fields', () => {
  const lenient = calls
    .filter(({ endpoint }) => endpoint.body && !isStrict(endpoint.body))
    .map(({ endpoint }) => `${endpoint.feature}.${endpoint.name}`);
  expect([...new Set(lenient)].toSorted()).toEqual([
    'monitorJoin.join',
    'nodeJoin.join',
    'passkeys.login',
    'passkeys.register',
  ]);
});

test('a response names all unknown fields of a body', async () => {
  const url = `${app.url}/api/v1/apiToken`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.client}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'robot', cidr: ['10.0.0.0/8'], expires: '2030-01-01', permissions: ['zone:read'] }),
  });
  const { errorData } = z
    .looseObject({ errorData: z.array(z.looseObject({ path: z.string() })) })
    .parse(await answer.json());
  expect(answer.status).toBe(400);
  expect(errorData.filter(({ rule }) => rule === 'unknown').map(({ path }) => path)).toEqual(['cidr', 'expires']);
});
