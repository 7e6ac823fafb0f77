// What a form or a list reads from an endpoint's own schema, so that nobody says it twice.
import * as z from 'zod';

export const isObject = (schema: unknown): schema is z.ZodObject => schema instanceof z.ZodObject;

/** The schema of one field, by its dotted path: lists and defaults are looked through. */
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

/** Without what only says that a value may be missing. */
export function bare(schema: unknown): unknown {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return bare(schema.unwrap());
  return schema;
}

export const hasDefault = (schema: unknown) => schema instanceof z.ZodDefault;

/** May the field stay empty? */
export function isOptional(schema: unknown) {
  if (schema instanceof z.ZodType && schema.safeParse(undefined).success) return true;
  const inner = bare(schema);
  return inner instanceof z.ZodString && inner.safeParse('').success;
}

/** The values of an enum or of a union of literals. */
export function choicesOf(schema: unknown): (string | number)[] {
  const inner = bare(schema);
  if (inner instanceof z.ZodEnum) return inner.options.filter(isChoice);
  if (inner instanceof z.ZodLiteral) return [...inner.values].filter(isChoice);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(choicesOf);
  if (inner instanceof z.ZodArray) return choicesOf(inner.element);
  return [];
}
const isChoice = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** Where a new form starts: the defaults of the schema. */
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

/** The fields of a row that the body accepts, also within its objects and lists. */
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

/** The fields of an input that may be stored in the browser: without passwords and keys. */
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
/** In a list, an empty text replaces a secret: items keep their shape. */
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

/** What is wrong with an input, as rules that the language files have phrases for. */
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
    // A check of ours says what is wrong; other messages are zod's own.
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
