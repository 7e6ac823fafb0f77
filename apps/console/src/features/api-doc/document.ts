// The parts of an OpenAPI document that the page shows, validated.
import * as z from 'zod';
import type { Family } from '../../lib/family.ts';

const JsonSchema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  pattern: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), JsonSchema).optional();
  },
  get items() {
    return JsonSchema.optional();
  },
  get anyOf() {
    return z.array(JsonSchema).optional();
  },
  get oneOf() {
    return z.array(JsonSchema).optional();
  },
  get allOf() {
    return z.array(JsonSchema).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), JsonSchema]).optional();
  },
});
export type JsonSchema = z.output<typeof JsonSchema>;

const Content = z.record(z.string(), z.object({ schema: JsonSchema.optional() }));
const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: JsonSchema.optional(),
});
const Operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  'x-permission': z.string().default('anyone'),
  'x-own': z.boolean().default(false),
  'x-only': z.string().optional(),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ required: z.boolean().optional(), content: Content }).optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string(),
      headers: z
        .record(z.string(), z.object({ description: z.string().optional(), schema: JsonSchema.optional() }))
        .default({}),
      content: Content.optional(),
      'x-codes': z.array(z.number()).default([]),
    }),
  ),
});
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), JsonSchema) }),
});
export type Schemas = Readonly<Record<string, JsonSchema>>;
export interface Call extends z.output<typeof Operation> {
  method: string;
  path: string;
  feature: string;
  name: string;
}
export interface ApiDocument {
  calls: readonly Call[];
  schemas: Schemas;
}

/** The calls of this console and those of all consoles. */
export function readDocument(document: unknown, family: Family): ApiDocument {
  const { paths, components } = Document.parse(document);
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const [, feature = '', name = ''] = operation.operationId.split('.');
      return { ...operation, method: method.toUpperCase(), path, feature, name };
    }),
  );
  return {
    calls: calls.filter(({ operationId, 'x-only': only = family }) => {
      const [mount = ''] = operationId.split('.');
      return only === family && [family, 'root'].includes(mount);
    }),
    schemas: components.schemas,
  };
}

const prefix = '#/components/schemas/';
export function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (!schema.$ref?.startsWith(prefix)) return schema;
  const named = schemas[decodeURIComponent(schema.$ref.slice(prefix.length))];
  return named ?? schema;
}

/** Resolves references, and "string or null" to a nullable string. */
export function plain(given: JsonSchema, schemas: Schemas): { schema: JsonSchema; nullable: boolean } {
  const schema = resolved(given, schemas);
  const parts = schema.anyOf ?? schema.oneOf;
  if (!parts) return { schema, nullable: false };
  const rest = parts.filter(({ type }) => type !== 'null');
  const [only] = rest;
  const nullable = rest.length < parts.length;
  if (rest.length !== 1 || !only) return { schema, nullable };
  const one = resolved(only, schemas);
  return { schema: { ...one, description: schema.description ?? one.description, default: schema.default }, nullable };
}

const examples: Readonly<Record<string, string>> = {
  uuid: '0192d3f0-5c1e-7000-8000-000000000001',
  'date-time': '2026-11-20T08:00:00.000Z',
  date: '2026-11-20',
  email: 'name@example.com',
  uri: 'https://www.example.com/',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
};

/** An example value for the schema. */
export function exampleOf(given: JsonSchema, schemas: Schemas, depth = 0): unknown {
  const { schema, nullable } = plain(given, schemas);
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (choice) return exampleOf(choice, schemas, depth + 1);
  if (schema.properties && depth < 8)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, exampleOf(field, schemas, depth + 1)]),
    );
  if (schema.items && depth < 8) return [exampleOf(schema.items, schemas, depth + 1)];
  const type = [schema.type].flat()[0];
  if (type === 'integer' || type === 'number') return Math.max(schema.minimum ?? 1, 1);
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'object') return {};
  if (type === 'string') return (schema.format && examples[schema.format]) ?? (nullable ? null : 'text');
  return null;
}

/** Quotes a shell argument. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(call: Call, schemas: Schemas, base: string, token: string | null): string {
  const path = call.parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((url, { name, schema }) => url.replace(`{${name}}`, String(exampleOf(schema ?? {}, schemas))), call.path);
  const query = call.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name, schema }): [string, string] => [name, String(exampleOf(schema ?? {}, schemas))]);
  const url = `${base}${path}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`;
  const content = Object.entries(call.requestBody?.content ?? {})[0];
  const bearer = token === null ? '"Authorization: Bearer $TOKEN"' : quoted(`Authorization: Bearer ${token}`);
  const parts = [
    `curl${call.method === 'GET' ? '' : ` -X ${call.method}`} ${quoted(url)}`,
    ...(call['x-permission'] === 'anyone' ? [] : [`-H ${bearer}`]),
    ...(content ? bodyParts(content[0], exampleOf(content[1].schema ?? {}, schemas)) : []),
  ];
  return parts.join(' \\\n  ');
}

function bodyParts(type: string, example: unknown): string[] {
  if (type !== 'multipart/form-data')
    return [`-H ${quoted(`content-type: ${type}`)}`, `-d ${quoted(JSON.stringify(example))}`];
  const fields = typeof example === 'object' && example !== null ? Object.entries(example) : [];
  return fields.map(([name, value]) => `-F ${quoted(`${name}=${String(value)}`)}`);
}
