// Minimal input for a schema, for tests that iterate over endpoints. The caller provides ids and texts of a special
// format.
import * as z from 'zod';

export type Sampler = (path: readonly string[]) => unknown;

/** `special` returns undefined to use the schema's default. */
export function sample(schema: z.core.$ZodType, special: Sampler, path: readonly string[] = []): unknown {
  const known = special(path);
  if (known !== undefined) return known;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return undefined;
  if (schema instanceof z.ZodNullable) return null;
  if (schema instanceof z.ZodPipe) return sample(schema.in, special, path);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<z.core.$ZodType>(schema.shape).map(
      ([name, field]) => [name, sample(field, special, [...path, name])] as const,
    );
    return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  }
  if (schema instanceof z.ZodArray) return [sample(schema.element, special, [...path, '0'])];
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return schema.values.values().next().value;
  if (schema instanceof z.ZodUnion) return sample(schema.options[0] ?? z.undefined(), special, path);
  if (schema instanceof z.ZodNumber) return Math.max(1, schema.minValue ?? 1);
  if (schema instanceof z.ZodBoolean) return false;
  if (schema instanceof z.ZodString) return 'text';
  // An id that does not exist, and an address where nothing listens.
  if (schema instanceof z.ZodUUID) return '0192d3f0-0000-7000-8000-000000000000';
  if (schema instanceof z.ZodIPv4) return '192.0.2.1';
  if (schema instanceof z.ZodIPv6) return '2001:db8::1';
  if (schema instanceof z.ZodCIDRv4) return '192.0.2.0/24';
  if (schema instanceof z.ZodCIDRv6) return '2001:db8::/32';
  if (schema instanceof z.ZodBase64) return 'dGV4dA==';
  if (schema instanceof z.ZodUnknown) return 'text';
  if (schema instanceof z.ZodEmail) return 'someone@example.com';
  if (schema instanceof z.ZodISODateTime) return '2030-01-01T00:00:00Z';
  if (schema instanceof z.ZodRecord) return {};
  if (schema instanceof z.ZodURL) return 'https://provider.invalid/';
  throw new Error(`no sample for ${path.join('.')}: tell tests/support/builders/sample-input.ts`);
}

/** Paths of all ids in an input, so that a test can replace them. */
export function idsIn(
  value: unknown,
  isId: (path: readonly string[], text: string) => boolean,
  path: readonly string[] = [],
): string[][] {
  if (typeof value === 'string') return isId(path, value) ? [[...path]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => idsIn(part, isId, [...path, name]));
}

/** A copy with the value at the path replaced. */
export function withAt(value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown {
  if (name === undefined) return put;
  if (Array.isArray(value))
    return value.map((part: unknown, i) => (String(i) === name ? withAt(part, rest, put) : part));
  return { ...Object(value), [name]: withAt(Reflect.get(Object(value), name), rest, put) };
}
