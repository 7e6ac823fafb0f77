// Every PUT that returns an object with a modification time supports If-Match.
import { afterAll, expect, test } from 'vitest';
import { hasETag } from '@edgeloom/api/http/preconditions.ts';
import { testApp } from '../support/services/app.ts';
import { authenticatedCalls, inputFor, send } from '../support/builders/every-call.ts';
import { world } from '../support/builders/world.ts';

const app = await testApp();
afterAll(() => app.close());

const puts = authenticatedCalls.filter(
  ({ endpoint, mount, method }) => method === 'PUT' && mount !== 'admin' && hasETag(endpoint),
);

test.each(puts)('$title does not change what was changed meanwhile', async (call) => {
  const own = await world(app.build, app.installation);
  const { token } = call.mount === 'user' ? own.user : own.client;
  const input = inputFor(call.endpoint, own.ids);
  const late = await send(app, call, input, token, { 'if-match': '"2000-01-01T00:00:00.000Z"' });
  const plain = await send(app, call, input, token);
  // Some samples violate a rule of their call first.
  const refused = { status: 412, body: { errorData: [{ path: 'If-Match', rule: 'changed' }] } };
  const { status, body } = plain.status === 200 ? refused : plain;
  expect(late).toMatchObject({ status, body: { errorData: body.errorData } });
});
