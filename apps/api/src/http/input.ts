// Validates requests against the declaration and reports all errors at once.
import '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { Id } from '@edgeloom/contract/common/common.ts';
import { paramNames, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { ErrorRule, Particular } from '@edgeloom/contract/errors.ts';
import { fail, fieldError } from '../core/fail.ts';
import { strictBody } from '@edgeloom/contract/common/strict-body.ts';

type Input = Record<string, unknown>;
type Issue = z.core.$ZodIssue;

const rules: Partial<Record<Issue['code'], ErrorRule>> = {
  invalid_type: 'type',
  too_small: 'range',
  too_big: 'range',
  not_multiple_of: 'range',
  invalid_format: 'format',
  invalid_value: 'choice',
  invalid_union: 'choice',
  unrecognized_keys: 'unknown',
};

function particulars(issue: Issue, parent: readonly PropertyKey[] = []): Particular[] {
  const path = [...parent, ...issue.path];
  const at = (...more: PropertyKey[]) => [...path, ...more].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => fieldError(at(key), 'unknown', 'no such field'));
  if (issue.code === 'invalid_union') {
    const alternative = issue.errors.filter(hasOnlyUnknownKeys).toSorted((a, b) => a.length - b.length)[0];
    if (alternative) return alternative.flatMap((nested) => particulars(nested, path));
  }
  return [fieldError(at(), rules[issue.code] ?? 'rule', issue.message)];
}

/** Finds the alternative of a union that matches except for unknown fields. */
const hasOnlyUnknownKeys = (issues: readonly Issue[]): boolean =>
  issues.length > 0 &&
  issues.every(
    (issue) =>
      issue.code === 'unrecognized_keys' || (issue.code === 'invalid_union' && issue.errors.some(hasOnlyUnknownKeys)),
  );

/** Converts a query's text for the schema; text that cannot be converted is left for the schema to refuse. */
function fromText(schema: unknown): (text: unknown) => unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return fromText(schema.unwrap());
  if (schema instanceof z.ZodNumber) return (text) => (text === '' || Array.isArray(text) ? text : Number(text));
  if (schema instanceof z.ZodBoolean) return (text) => (text === 'true' ? true : text === 'false' ? false : text);
  if (schema instanceof z.ZodArray) {
    const element = fromText(schema.element);
    return (text) => [text].flat().map(element);
  }
  return (text) => text;
}

function queryReader(schema: z.ZodObject) {
  const fields = new Map(Object.entries(schema.shape).map(([name, field]) => [name, fromText(field)]));
  return (query: Input) =>
    Object.fromEntries(Object.entries(query).map(([name, text]) => [name, fields.get(name)?.(text) ?? text]));
}

/** A multipart form as one object; the schema limits the size and type of files. */
async function form(request: FastifyRequest) {
  const body: Input = {};
  try {
    for await (const part of request.parts()) {
      body[part.fieldname] =
        part.type === 'field'
          ? part.value
          : new File([new Uint8Array(await part.toBuffer())], part.filename, { type: part.mimetype });
    }
  } catch (error) {
    // Fastify's own errors have a status. The parser's have none: the form has no end, or a part has no header.
    if (error instanceof Error && 'statusCode' in error) throw error;
    fail('PARAMETER', { errorData: [fieldError('', 'format', 'the form is broken')], cause: error });
  }
  return body;
}

/** Whether PostgreSQL and JSON can store the text: no NUL and no unpaired surrogate. */
export const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** Yields the texts that cannot be stored. */
function* unstorable(value: unknown, path: readonly string[] = []): Generator<Particular> {
  if (typeof value === 'string' && !isStorable(value))
    yield fieldError(path.join('.'), 'format', 'no text holds a NUL character or half of a character');
  if (value === null || typeof value !== 'object' || value instanceof File) return;
  for (const [name, part] of Object.entries(value)) yield* unstorable(part, [...path, name]);
}

export function inputReader(endpoint: Endpoint) {
  const check = inputChecker(endpoint);
  return async (request: FastifyRequest) =>
    check({
      params: request.params,
      query: request.query as Input,
      body: endpoint.body && endpoint.accepts ? await form(request) : request.body,
    });
}

/** A call without a declared body refuses every field. */
const NoBody = z.strictObject({});

export function inputChecker({ path, params = {}, query, body }: Endpoint) {
  const names = paramNames(path);
  const Params = z.object(Object.fromEntries(names.map((name) => [name, params[name] ?? Id])));
  const Query = (query ?? z.object({})).strict();
  const readQuery = queryReader(Query);
  const Body = body ? strictBody(body) : NoBody;

  return (given: { params: unknown; query: Input; body: unknown }) => {
    const faults: Particular[] = [];
    const check = (schema: z.core.$ZodType, input: unknown) => {
      const result = z.safeParse(schema, input);
      if (!result.success) faults.push(...result.error.issues.flatMap((issue) => particulars(issue)));
      else faults.push(...unstorable(result.data));
      return result.data;
    };
    // A missing body counts as an empty one, so that each missing field is reported.
    const checkedBody = check(Body, given.body ?? {});
    const input = {
      params: names.length > 0 ? check(Params, given.params) : {},
      query: check(Query, readQuery(given.query)),
      body: body && checkedBody,
    };
    if (faults.length > 0) fail('PARAMETER', { errorData: faults });
    return query ? input : { ...input, query: undefined };
  };
}
