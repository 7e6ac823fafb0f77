// Reads field properties from an endpoint's zod schema.
import * as z from 'zod';

export const isObject = (schema: unknown): schema is z.ZodObject => schema instanceof z.ZodObject;

/** Schema of a field by its dotted path, through lists and defaults. */
export function fieldOf(schema: unknown, path: string): unknown {
  let found: unknown = schema;
  for (const part of path.split('.')) {
    found = bare(found);
    if (found instanceof z.ZodObject) found = found.shape[part];
    else if (found instanceof z.ZodArray) found = found.element;
    else return undefined;
  }
  return found;
}

/** Removes optional, nullable and default wrappers. */
export function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return bare(schema.unwrap());
  return schema;
}

export const hasDefault = (schema: unknown) => schema instanceof z.ZodDefault;

/** Whether the field may be empty. */
export function isOptional(schema: unknown) {
  if (schema instanceof z.ZodType && schema.safeParse(undefined).success) return true;
  const inner = bare(schema);
  return inner instanceof z.ZodString && inner.safeParse('').success;
}

/** Values of an enum or a union of literals. */
export function choicesOf(schema: unknown): (string | number)[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodEnum) return inner.options.filter(isChoice);
  if (inner instanceof z.ZodLiteral) return [...inner.values].filter(isChoice);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(choicesOf);
  if (inner instanceof z.ZodArray) return choicesOf(inner.element);
  return [];
}
const isChoice = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** Initial values of a new form: the schema's defaults. */
export function defaultsOf(schema: unknown): Record<string, unknown> {
  if (!isObject(schema)) return {};
  return Object.fromEntries(
    Object.entries(schema.shape)
      .filter(([, field]) => hasDefault(field))
      .map(([name, field]): [string, unknown] => [
        name,
        field instanceof z.ZodDefault ? structuredClone(field.def.defaultValue) : undefined,
      ]),
  );
}

/** Fields of a row that the body accepts, recursively. */
export function acceptedOf(schema: unknown, row: object): Record<string, unknown> {
  const inner = bare(schema);
  if (!isObject(inner)) return { ...row };
  const { shape } = inner;
  return Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => name in shape)
      .map(([name, value]) => [name, acceptedValue(shape[name], value)]),
  );
}
function acceptedValue(schema: unknown, value: unknown): unknown {
  const inner = bare(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item: unknown) => acceptedValue(inner.element, item));
  if (inner instanceof z.ZodPipe) return acceptedValue(inner.in, value);
  if (inner instanceof z.ZodUnion) {
    const fitting = inner.options.map((option) => [option, acceptedValue(option, value)] as const);
    return fitting.find(([option, part]) => z.safeParse(option, part).success)?.[1] ?? value;
  }
  return isObject(inner) && typeof value === 'object' && value !== null ? acceptedOf(inner, value) : value;
}

const isSecret = (schema: unknown): boolean =>
  schema instanceof z.ZodType &&
  (schema.meta()?.['writeOnly'] === true || (bare(schema) !== schema && isSecret(bare(schema))));

/** Input without passwords and keys, which may be stored in the browser. */
export function withoutSecrets(schema: unknown, input: object): Record<string, unknown> {
  const inner = bare(schema);
  const fields = acceptedOf(schema, input);
  if (!isObject(inner)) return fields;
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !isSecret(inner.shape[name]))
      .map(([name, value]) => [name, blanked(inner.shape[name], value)]),
  );
}
/** In lists, secrets become empty texts, so that items keep their shape. */
function blanked(schema: unknown, value: unknown): unknown {
  const inner = bare(schema);
  if (isSecret(schema)) return '';
  if (inner instanceof z.ZodPipe) return blanked(inner.in, value);
  if (inner instanceof z.ZodUnion)
    return inner.options.reduce((rest: unknown, option: unknown) => blanked(option, rest), value);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item: unknown) => blanked(inner.element, item));
  if (!isObject(inner) || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, blanked(inner.shape[name], part)]));
}

export interface Issue {
  path: string;
  rule: string;
  message: string;
  values: Record<string, string | number>;
}

/** Validation errors as rules with phrases in the locale files. */
export function issuesOf(schema: unknown, input: unknown): Issue[] {
  if (!(schema instanceof z.ZodType)) return [];
  const result = schema.safeParse(input);
  return result.success ? [] : result.error.issues.map((issue) => ruled(issue, input));
}

const empty = (value: unknown) => value === undefined || value === null || value === '';

function ruled(issue: z.core.$ZodIssue, input: unknown): Issue {
  const path = issue.path.join('.');
  const missing = empty(valueAt(input, path));
  const named = (rule: string, values: Issue['values'] = {}): Issue => ({
    path,
    rule,
    // Custom checks have our own messages; other issues have zod's.
    message: issue.code === 'custom' || issue.code === 'invalid_format' ? issue.message : '',
    values,
  });
  if (missing && issue.code !== 'custom') return named('required');
  if (issue.code === 'too_small') {
    if (issue.origin === 'string')
      return issue.minimum === 1 ? named('required') : named('minLength', { minimum: Number(issue.minimum) });
    if (issue.origin === 'array')
      return issue.minimum === 1 ? named('required') : named('minItems', { minimum: Number(issue.minimum) });
    return named('minimum', { minimum: Number(issue.minimum) });
  }
  if (issue.code === 'too_big') {
    if (issue.origin === 'string') return named('maxLength', { maximum: Number(issue.maximum) });
    if (issue.origin === 'array') return named('maxItems', { maximum: Number(issue.maximum) });
    return named('maximum', { maximum: Number(issue.maximum) });
  }
  if (issue.code === 'invalid_value') return named('choice');
  if (issue.code === 'custom') return named('rule');
  return named('format');
}

export function valueAt(values: unknown, path: string): unknown {
  let found: unknown = values;
  for (const part of path.split('.')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Object.entries(found).find(([name]) => name === part)?.[1];
  }
  return found;
}
