// Encodes what a handler returns: only declared fields (other columns stay in the server), with times as text. Built
// once from the reply's schema. It does not validate values: types have done so, and zod would take five times as long.
// Tests parse every endpoint's answer with its schema instead.
import * as z from 'zod';

type Encode = (value: unknown) => unknown;

const asItIs: Encode = (value) => value;

export function encoder(schema: z.core.$ZodType): Encode {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    const inner = encoder(schema.unwrap());
    return inner === asItIs ? asItIs : (value) => (value == null ? value : inner(value));
  }
  if (schema instanceof z.ZodArray) {
    const inner = encoder(schema.element);
    return inner === asItIs ? asItIs : (value) => listOf(value).map(inner);
  }
  if (schema instanceof z.ZodCodec && schema.out instanceof z.ZodDate)
    return (value) => (value instanceof Date ? value.toISOString() : fault('a time', value));
  if (schema instanceof z.ZodObject) return objectEncoder(schema);
  return isLeaf(schema) ? asItIs : (value) => z.encode(schema, value);
}

function objectEncoder(schema: z.ZodObject): Encode {
  const isLoose = schema.def.catchall !== undefined;
  if (isLoose) return (value) => z.encode(schema, objectOf(value));
  const fields = Object.entries<z.core.$ZodType>(schema.shape).map(([name, field]) => ({
    name,
    encode: encoder(field),
    isOptional: field instanceof z.ZodOptional,
  }));
  return (value) => {
    const from = objectOf(value);
    const shown: Record<string, unknown> = {};
    for (const field of fields) {
      const part = from[field.name];
      if (part === undefined) {
        if (!field.isOptional) fault(field.name, part);
      } else shown[field.name] = field.encode === asItIs ? part : field.encode(part);
    }
    return shown;
  };
}

function isLeaf(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodUnion) return schema.options.every(isLeaf);
  return (
    schema instanceof z.ZodString ||
    schema instanceof z.ZodNumber ||
    schema instanceof z.ZodBoolean ||
    schema instanceof z.ZodEnum ||
    schema instanceof z.ZodLiteral ||
    schema instanceof z.ZodStringFormat ||
    schema instanceof z.ZodNumberFormat
  );
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : fault('a list', value));
const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : fault('an object', value));
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function fault(what: string, value: unknown): never {
  throw new Error(`the answer lacks ${what}: ${typeof value}`);
}
