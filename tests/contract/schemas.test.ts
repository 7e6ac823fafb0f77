// Common mistakes in schemas, searched for in all schemas.
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openapi } from '@edgeloom/api/http/openapi.ts';
import { groups } from '@edgeloom/contract/all.ts';
import { mounted, paramNames } from '@edgeloom/contract/endpoint.ts';
import { errors, type ErrorEntry } from '@edgeloom/contract/errors.ts';

const endpoints = groups.flatMap((group) => Object.values(group));
const nameOf = ({ feature, name }: { feature: string; name: string }) => `${feature}.${name}`;

/** Every nested schema once, with its path. */
function* within(
  schema: z.core.$ZodType,
  path: string,
  seen = new Set<unknown>(),
): Generator<{ schema: z.core.$ZodType; path: string }> {
  if (seen.has(schema)) return;
  seen.add(schema);
  yield { schema, path };
  if (schema instanceof z.ZodObject)
    for (const [name, field] of Object.entries<z.core.$ZodType>(schema.shape))
      yield* within(field, `${path}.${name}`, seen);
  else if (schema instanceof z.ZodArray) yield* within(schema.element, `${path}[]`, seen);
  else if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    yield* within(schema.unwrap(), path, seen);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* within(option, path, seen);
  else if (schema instanceof z.ZodRecord) yield* within(schema.valueType, `${path}{}`, seen);
  else if (schema instanceof z.ZodPipe) {
    yield* within(schema.in, path, seen);
    yield* within(schema.out, path, seen);
  }
}
const places = (parts: readonly ('body' | 'query' | 'reply')[], isFault: (schema: z.core.$ZodType) => boolean) =>
  endpoints.flatMap((endpoint) =>
    parts
      .flatMap((part) => [...(endpoint[part] ? within(endpoint[part], `${nameOf(endpoint)}.${part}`) : [])])
      .filter(({ schema }) => isFault(schema))
      .map(({ path }) => path),
  );

describe('no schema', () => {
  test('has a default within an optional field, because an update without the field would reset it', () => {
    expect(
      places(['body', 'reply'], (schema) => schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodDefault),
    ).toEqual([]);
  });

  test('of a response has a one-way transform, because it could not be encoded', () => {
    expect(places(['reply'], (schema) => schema instanceof z.ZodTransform)).toEqual([]);
  });

  test('has a record keyed by an enum, because it would require every key', () => {
    expect(
      places(
        ['body', 'query', 'reply'],
        (schema) => schema instanceof z.ZodRecord && schema.keyType instanceof z.ZodEnum,
      ),
    ).toEqual([]);
  });

  test('of a body has an unbounded list or text', () => {
    const isEndless = (schema: z.core.$ZodType) => {
      const checks = schema._zod.def.checks ?? [];
      const bounded = checks.some((check) => ['max_length', 'length_equals'].includes(check._zod.def.check));
      if (schema instanceof z.ZodArray) return !bounded;
      return (
        schema instanceof z.ZodString &&
        schema._zod.def.type === 'string' &&
        !bounded &&
        !('format' in schema && typeof schema.format === 'string') &&
        !checks.some((check) => check._zod.def.check === 'string_format' || check._zod.def.check === 'custom')
      );
    };
    // E-mail addresses are bounded behind the pipe.
    expect(places(['body'], isEndless).filter((path) => !path.endsWith('.email'))).toEqual([]);
  });
});

describe('endpoints', () => {
  test('have a unique path and method', () => {
    const calls = mounted(groups).map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`);
    expect(calls.filter((call, i) => calls.indexOf(call) !== i)).toEqual([]);
  });

  test('have a unique name', () => {
    const names = endpoints.map(nameOf);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test('that write are not GET, and those that only read need only read permission', () => {
    const odd = endpoints.filter(({ method, can }) =>
      method === 'GET' ? can.endsWith(':write') : method !== 'POST' && can.endsWith(':read'),
    );
    expect(odd.map(nameOf)).toEqual([]);
  });

  test.each(endpoints.map((endpoint) => [nameOf(endpoint), endpoint] as const))(
    '%s declares its errors from the catalogue',
    (_, { fails = [] }) => {
      for (const name of fails) expect(errors).toHaveProperty(name);
    },
  );
});

test('errors with the same number differ by status or rule', () => {
  const kinds = Object.values<ErrorEntry>(errors).map(({ code, status, rule }) => `${code} ${status} ${rule}`);
  expect(kinds.filter((kind, i) => kinds.indexOf(kind) !== i)).toEqual([]);
});

/** Paths at which a JSON schema allows unknown fields. */
function* openObjects(schema: unknown, path: string): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return;
  if ('properties' in schema && Reflect.get(schema, 'additionalProperties') !== false) yield path;
  for (const [name, part] of Object.entries(schema)) yield* openObjects(part, `${path}.${name}`);
}

describe('the OpenAPI document', () => {
  const document = openapi(groups);

  test('is valid', async () => {
    const { valid, errors: faults } = await new Validator().validate(structuredClone(document));
    expect({ valid, faults }).toEqual({ valid: true, faults: undefined });
  });

  test('has every call at each of its mounts, with a unique id', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => Reflect.get(operation, 'operationId')),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(mounted(groups).length);
    for (const { path, method } of mounted(groups)) {
      const url = `/${path.replace(/:(\w+)/g, '{$1}')}`;
      expect(document.paths[url]).toHaveProperty(method.toLowerCase());
      for (const name of paramNames(path)) expect(url).toContain(`{${name}}`);
    }
  });

  test('states that request bodies reject unknown fields, at every depth', () => {
    const bodies = Object.entries(document.components.schemas).filter(([id]) => id.endsWith('.body'));
    expect(bodies.length).toBeGreaterThan(100);
    // Agents and browsers write these, and newer ones add fields.
    const lenient = ['monitorJoin.join.body', 'nodeJoin.join.body', 'passkeys.login.body', 'passkeys.register.body'];
    const open = bodies.filter(([id, schema]) => [...openObjects(schema, id)].length > 0).map(([id]) => id);
    expect(open.toSorted()).toEqual(lenient);
  });

  test('has no dangling references', () => {
    const refs = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, id = '']) =>
      decodeURIComponent(id),
    );
    expect(refs.filter((id) => !(id in document.components.schemas))).toEqual([]);
  });
});
