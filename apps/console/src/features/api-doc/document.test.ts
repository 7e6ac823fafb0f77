import { expect, test } from 'vitest';
import { curlOf, exampleOf, readDocument } from './document.ts';

const document = {
  paths: {
    '/user/site/{siteId}/notes': {
      post: {
        operationId: 'user.notes.create',
        tags: ['notes'],
        'x-permission': 'site:write',
        parameters: [
          { name: 'siteId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          { name: 'dry', in: 'query', required: true, schema: { type: 'boolean' } },
        ],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
        responses: { 200: { description: 'Done' }, 409: { description: 'x', 'x-codes': [101_025] } },
      },
    },
    '/client/zones': { get: { operationId: 'client.zones.list', responses: {} } },
    '/health': { get: { operationId: 'root.system.health', responses: {} } },
    '/license': { get: { operationId: 'root.license.get', 'x-only': 'admin', responses: {} } },
  },
  components: {
    schemas: {
      Note: {
        type: 'object',
        required: ['text'],
        properties: {
          text: { type: 'string', const: "it's" },
          parent: { anyOf: [{ $ref: '#/components/schemas/Note' }, { type: 'null' }] },
          tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
          count: { type: 'integer', minimum: 5 },
        },
      },
    },
  },
};

test('a console is shown its own calls and those of all', () => {
  const { calls } = readDocument(document, 'user');
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /user/site/{siteId}/notes',
    'GET /health',
  ]);
});

test('a schema that contains itself has an example that ends', () => {
  const { schemas } = readDocument(document, 'user');
  const example = exampleOf({ $ref: '#/components/schemas/Note' }, schemas);
  expect(example).toMatchObject({ text: "it's", tags: ['a'], count: 5, parent: { text: "it's" } });
  expect(JSON.stringify(example).length).toBeLessThan(2000);
});

test('a call becomes one command line, and no text leaves its quotes', () => {
  const { calls, schemas } = readDocument(document, 'user');
  const [call] = calls;
  if (!call) throw new Error('no call');
  const line = curlOf(call, schemas, 'https://cdn.example/api/v1', null);
  expect(line).toContain(
    "curl -X POST 'https://cdn.example/api/v1/user/site/0192d3f0-5c1e-7000-8000-000000000001/notes?dry=true'",
  );
  expect(line).toContain('-H "Authorization: Bearer $TOKEN"');
  expect(line).toContain(`"text":"it'\\''s"`);
  expect(curlOf(call, schemas, '', "x'y")).toContain(`'Authorization: Bearer x'\\''y'`);
});
