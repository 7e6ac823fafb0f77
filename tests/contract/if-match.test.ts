// Every PUT that returns an object with a modification time supports If-Match.
import { afterAll, expect, test } from 'vitest';
import type { Mount } from '@edgeloom/contract/family.ts';
import { hasETag } from '@edgeloom/api/http/preconditions.ts';
import { testApp } from '../support/services/app.ts';
import {
  authenticatedCalls,
  inputFor,
  send,
  type WireCall,
  type WireResponse,
} from '../support/builders/every-call.ts';
import { world, type World } from '../support/builders/world.ts';

const app = await testApp();
afterAll(() => app.close());

const puts = authenticatedCalls.filter(
  ({ endpoint, mount, method }) => method === 'PUT' && mount !== 'admin' && hasETag(endpoint),
);

/** One for each console: both have the same calls, and one that changes nothing is not refused. */
const worlds = new Map<Mount, World>();
const newWorld = async ({ mount }: WireCall) => {
  const own = await world(app.build, app.installation);
  worlds.set(mount, own);
  return own;
};

/** The response to an outdated If-Match, then the one without the header. */
async function sendTwice(call: WireCall, own: World): Promise<[WireResponse, WireResponse]> {
  const { token } = call.mount === 'user' ? own.user : own.client;
  const input = inputFor(call.endpoint, own.ids);
  const late = await send(app, call, input, token, { 'if-match': '"2000-01-01T00:00:00.000Z"' });
  return [late, await send(app, call, input, token)];
}

test.each(puts)('$title does not change what was changed meanwhile', async (call) => {
  let [late, plain] = await sendTwice(call, worlds.get(call.mount) ?? (await newWorld(call)));
  // An earlier call may have changed what this one needs.
  if (plain.status !== 200) [late, plain] = await sendTwice(call, await newWorld(call));
  // Some samples violate a rule of their call first.
  const refused = { status: 412, body: { errorData: [{ path: 'If-Match', rule: 'changed' }] } };
  const { status, body } = plain.status === 200 ? refused : plain;
  expect(late).toMatchObject({ status, body: { errorData: body.errorData } });
});
