// Sends a webhook as standardwebhooks.com describes: the id, the time and the body are signed.
import { createHmac, randomBytes } from 'node:crypto';
import type { Env } from '../core/env.ts';
import { outboundFetch } from '../core/outbound-fetch.ts';
import { connectionError, DeliveryError } from './delivery-error.ts';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`;

interface Signed {
  id: string;
  /** In seconds. */
  timestamp: number;
  body: string;
}
export function signatureOf(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** Refusals that may end later: a timeout, a request too early, too many requests. */
const PASSING = [408, 425, 429];

/** Throws a DeliveryError unless the receiver responds with success. */
export async function postWebhook(
  settings: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>,
  { url, secret, id, body }: { url: string; secret: string; id: string; body: string },
  now: Date,
): Promise<void> {
  const timestamp = Math.floor(now.getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Edgeloom',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(secret, { id, timestamp, body }),
  };
  const request = { method: 'POST', headers, body, isBodyDiscarded: true };
  const response = await outboundFetch(settings)(url, request).catch((error: unknown) => {
    throw connectionError(error);
  });
  if (response.ok) return;
  const { status } = response;
  const retryAfter = response.headers.get('retry-after') ?? '';
  throw new DeliveryError('status', `the receiver responded with ${status}`, {
    retryAfterSeconds: /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) : null,
    isRefused: status >= 400 && status < 500 && !PASSING.includes(status),
  });
}
