// Joins a machine as a node: sends the join token and a public key created here, and receives credentials.
// A join that was killed repeats with the same key and gets the same response.
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import type { JoinRequest } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';
import type { Layout } from '../layout.ts';
import { prepareKey, readIdentity, storeIdentity } from './identity.ts';
import type { Identity } from './identity.ts';

export interface Invitation {
  control: string;
  token: string;
  version: string;
}

const TIMEOUT_MS = 20_000;
const ErrorReply = z.object({ code: z.int(), message: z.string() });

/** The control plane refused the token. Retrying is useless. */
export class JoinRefusedError extends Error {}

export async function join(
  layout: Layout,
  { control, token, version }: Invitation,
  signal?: AbortSignal,
): Promise<Identity> {
  const publicKey = await prepareKey(layout);
  const request = { token, publicKey, version, keyRing: true } satisfies JoinRequest;
  const reply = JoinReply.parse(await sendJoin(control, 'node/join', request, signal));
  await storeIdentity(layout, reply);
  const identity = await readIdentity(layout);
  if (identity === null) throw new Error('the identity that was just stored cannot be read');
  return identity;
}

/** Throws JoinRefusedError when the token is refused. */
export async function sendJoin(
  control: string,
  call: 'node/join' | 'monitor/join',
  request: object,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${control.replace(/\/+$/, '')}/api/v1/${call}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const errorReply = ErrorReply.safeParse(parseJson(text));
  const message = errorReply.success ? `${errorReply.data.code} ${errorReply.data.message}` : `HTTP ${response.status}`;
  if (response.status >= 400 && response.status < 500 && response.status !== 429) throw new JoinRefusedError(message);
  throw new Error(message);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
