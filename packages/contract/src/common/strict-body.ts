// Request bodies refuse fields that their schema does not declare. Replies, stored rows, agent messages and edge
// documents use the same schemas and stay lenient, so the strict form is derived here.
import * as z from 'zod';

type Schema = z.core.$ZodType;

const derived = new WeakMap<Schema, Schema>();

/** The same schema whose objects, at every depth, refuse unknown fields. Records and loose objects keep their keys. */
export function strictBody(schema: Schema): Schema {
  const known = derived.get(schema);
  if (known) return known;
  const strict = deriveStrict(schema);
  derived.set(schema, strict);
  return strict;
}

function deriveStrict(schema: Schema): Schema {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries<Schema>(schema.shape).map(([name, field]) => [name, strictBody(field)] as const);
    const catchall = schema.def.catchall ?? z.never();
    return schema.clone({ ...schema.def, shape: Object.fromEntries(fields), catchall });
  }
  if (schema instanceof z.ZodArray) return schema.clone({ ...schema.def, element: strictBody(schema.element) });
  if (schema instanceof z.ZodRecord) return schema.clone({ ...schema.def, valueType: strictBody(schema.valueType) });
  if (schema instanceof z.ZodUnion)
    return schema.clone({ ...schema.def, options: schema.options.map((option) => strictBody(option)) });
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  )
    return z.clone<Schema>(schema, Object.assign({}, schema.def, { innerType: strictBody(schema.unwrap()) }));
  // Only the input side of a transform.
  if (schema instanceof z.ZodPipe) return schema.clone({ ...schema.def, in: strictBody(schema.in) });
  return schema;
}
