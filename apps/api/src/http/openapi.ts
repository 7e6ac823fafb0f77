// OpenAPI 3.1 from the declarations. Schemas describe the JSON, so codecs show their text side.
import * as z from 'zod';
import { Id } from '@edgeloom/contract/common/common.ts';
import { mounted, paramNames, type Endpoint, type Group } from '@edgeloom/contract/endpoint.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { takesActionId } from './audit.ts';
import { takesKey } from './idempotency.ts';
import { classOf } from './limits.ts';
import { hasETag } from './preconditions.ts';
import { strictBody } from '@edgeloom/contract/common/strict-body.ts';

/** Inside an OpenAPI document `$schema` is redundant, and a fragment is no valid `$id`. */
const bare = (schema: z.core.JSONSchema.BaseSchema) =>
  Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$id'));
const described = (schema: z.core.$ZodType) => bare(z.toJSONSchema(schema, { io: 'input' }));
const at = (id = '') => `#/components/schemas/${id}`;

const ErrorEnvelope = z.object({
  isError: z.literal(true),
  code: z.int(),
  message: z.string(),
  errorData: z.array(z.unknown()),
  extra: z.record(z.string(), z.unknown()),
  reqID: z.string(),
});
const refused = { content: { 'application/json': { schema: { $ref: at('Error') } } } };

export function openapi(groups: readonly Group[]) {
  const calls = mounted(groups);
  const names = nameSchemas(calls.map((call) => call.endpoint));
  const { schemas } = z.toJSONSchema(names, { io: 'input', uri: at });
  const ref = (schema: z.core.$ZodType) => ({ $ref: at(names.get(schema)?.id) });

  const paths: Record<string, Record<string, object>> = {};
  for (const { endpoint, mount, method, path } of calls) {
    const url = `/${path.replace(/:(\w+)/g, '{$1}')}`;
    (paths[url] ??= {})[method.toLowerCase()] = operation(endpoint, mount, ref);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Edgeloom API',
      version: '1',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Every call of the control plane. Sign in at {family}/login and {family}/code, then send `Authorization: Bearer <accessToken>`, or send an API token in its place.',
    },
    servers: [{ url: '/api/v1' }],
    paths,
    components: {
      schemas: {
        ...Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema)])),
        Error: described(ErrorEnvelope),
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    },
  };
}

/** Names such as `acl.create.body`; a schema that is used twice is described once. */
function nameSchemas(endpoints: readonly Endpoint[]) {
  const names = z.registry<{ id: string }>();
  for (const endpoint of endpoints) {
    const parts = { body: endpoint.body && strictBody(endpoint.body), reply: endpoint.reply };
    for (const [part, schema] of Object.entries(parts)) {
      if (!schema || names.has(schema)) continue;
      names.add(schema, { id: `${endpoint.feature}.${endpoint.name}.${part}` });
    }
  }
  return names;
}

const text = { schema: { type: 'string' } };
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Sent again with the same key within 24 hours, the call is done once and answered alike.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};
const actionId = {
  name: 'Action-Id',
  in: 'header',
  required: false,
  description: 'The calls of one account with the same id, address and switches are one row of the operation log.',
  schema: { type: 'string', format: 'uuid' },
};
const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of the object as it was seen: its `updatedAt` in quotes. Refused with 412 when it was changed since.',
  schema: { type: 'string' },
};
const etag = { ETag: { description: 'The `updatedAt` of the object, in quotes', ...text } };

/** The headers for limits of every call, and for ETags of some. */
const headersOf = (endpoint: Endpoint) => ({
  'RateLimit-Policy': { description: `How many calls in how many seconds, class \`${classOf(endpoint)}\``, ...text },
  RateLimit: { description: 'How many are left, and for how many seconds', ...text },
  ...(hasETag(endpoint) && etag),
});

function operation(endpoint: Endpoint, mount: string, ref: (schema: z.core.$ZodType) => object) {
  const { feature, name, method, path, can, own, only, params = {}, query, body, reply, csv } = endpoint;
  const { accepts = 'application/json', answers = 'application/json', fails = [] } = endpoint;
  return {
    operationId: `${mount}.${feature}.${name}`,
    tags: [feature],
    summary: `${inWords(feature)}: ${inWords(name).toLowerCase()}`,
    'x-permission': can,
    ...(own && { 'x-own': true }),
    ...(only && { 'x-only': only }),
    ...describedAs(endpoint),
    security: can === 'anyone' ? [] : [{ token: [] }],
    parameters: [
      ...paramNames(path).map((name) => ({ name, in: 'path', required: true, schema: described(params[name] ?? Id) })),
      ...Object.entries(query?.shape ?? {}).map(([name, field]) => ({
        name,
        in: 'query',
        required: !z.safeParse(field, undefined).success,
        schema: described(field),
      })),
      ...(takesKey(endpoint) ? [idempotencyKey] : []),
      ...(takesActionId(endpoint) ? [actionId] : []),
      ...(hasETag(endpoint) && method === 'PUT' ? [ifMatch] : []),
    ],
    ...(body && {
      requestBody: {
        required: !z.safeParse(body, {}).success,
        content: { [accepts]: { schema: ref(strictBody(body)) } },
      },
    }),
    responses: {
      200: {
        description: 'Done',
        headers: headersOf(endpoint),
        ...(reply && { content: { [answers]: { schema: ref(reply) }, ...(csv && { 'text/csv': text }) } }),
      },
      ...failures([...fails, ...(hasETag(endpoint) && method === 'PUT' ? (['CHANGED'] as const) : [])]),
      default: { description: 'Refused', ...refused },
    },
  };
}

function describedAs({ can, own, only }: Endpoint) {
  const parts = [
    ...(only ? [`For accounts of the family \`${only}\`.`] : []),
    ...(can !== 'anyone' && can !== 'signedIn' ? [`Needs the permission \`${can}\`.`] : []),
    ...(own ? ['For the account itself alone: refused to an API token, and to whoever acts as the account.'] : []),
  ];
  return parts.length > 0 && { description: parts.join(' ') };
}

function failures(fails: NonNullable<Endpoint['fails']>) {
  const phrase = (name: (typeof fails)[number]) => `${errors[name].code} ${errors[name].message}`;
  const byStatus = Object.entries(Object.groupBy(fails, (name) => errors[name].status));
  return Object.fromEntries(
    byStatus.map(([status, names]) => [
      status,
      { description: names.map(phrase).join('; '), 'x-codes': names.map((name) => errors[name].code), ...refused },
    ]),
  );
}

/** `cacheRules` as "Cache rules". */
const inWords = (name: string) => {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};
