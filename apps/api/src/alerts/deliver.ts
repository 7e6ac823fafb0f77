// Claims and delivers messages of alerts. A message counts as sent when the receiver accepted it, so a kill before
// that is stored repeats it: a webhook recognizes the repetition by its id.
import { alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import type { AlertDeliveryError } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import { AlertEvent, WebhookBody } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Installation } from '../core/installation.ts';
import { OutboundRefusal } from '../core/outbound-fetch.ts';
import { contexts, type Secrets } from '../core/secrets.ts';
import { isTokenError, sendText, splitText, TelegramError } from './telegram.ts';
import { alertText } from './texts.ts';
import { postWebhook } from './webhook.ts';

interface ClaimedMessage {
  id: string;
  events: unknown;
  partsSent: number;
  createdAt: Date;
  channelId: string;
  type: string;
  address: string;
  secretSealed: string | null;
  language: string;
}

/** Also the lease of an attempt: longer than a request's timeout. */
const RETRY_SECONDS = 30;
const MAX_RETRY_SECONDS = 900;
const LEASE = `now() + interval '${RETRY_SECONDS} seconds'`;
const CLAIM = `UPDATE alert_messages m SET tries = m.tries + 1,
    due_at = now() + interval '1 second' * least(${RETRY_SECONDS} * power(2, least(m.tries, 10)), ${MAX_RETRY_SECONDS})
  FROM alert_channels c, accounts a WHERE c.id = m.channel_id AND a.id = c.account_id AND m.id = (
    SELECT o.id FROM alert_messages o JOIN alert_channels d ON d.id = o.channel_id
      WHERE o.sent_at IS NULL AND o.failed_at IS NULL AND o.due_at <= now() AND d.enabled
      ORDER BY o.due_at LIMIT 1 FOR UPDATE OF o SKIP LOCKED)
  RETURNING m.id, m.events, m.parts_sent AS "partsSent", m.created_at AS "createdAt", c.id AS "channelId", c.type,
    c.address, c.secret_sealed AS "secretSealed", a.language`;
const PART_SENT = `UPDATE alert_messages SET parts_sent = $2, due_at = greatest(due_at, ${LEASE}) WHERE id = $1`;
const SENT = 'UPDATE alert_messages SET sent_at = now(), last_error = NULL WHERE id = $1';
const FAILED = `UPDATE alert_messages SET last_error = $2,
    due_at = greatest(due_at, now() + interval '1 second' * $3::float8),
    failed_at = CASE WHEN expires_at <= now() THEN now() END WHERE id = $1`;
const CHANNEL_WORKS =
  'UPDATE alert_channels SET last_error = NULL, failed_at = NULL WHERE id = $1 AND failed_at IS NOT NULL';
const CHANNEL_FAILED = 'UPDATE alert_channels SET last_error = $2, failed_at = now() WHERE id = $1';

export async function claimMessage(pool: Pool): Promise<ClaimedMessage | null> {
  const { rows } = await pool.query<ClaimedMessage>(CLAIM);
  return rows[0] ?? null;
}

/** The stored events that this version knows. */
export const eventsOf = (stored: unknown): AlertEvent[] =>
  z
    .array(z.unknown())
    .parse(stored)
    .flatMap((event) => StoredEvent.safeParse(event).data ?? []);
const StoredEvent = AlertEvent.omit({ severity: true }).transform((event) => ({
  ...event,
  severity: alertKinds[event.kind].severity,
}));

type Parts = Pick<Installation, 'env' | 'pool' | 'secrets'>;

export async function deliver({ env, pool, secrets }: Parts, message: ClaimedMessage, now = new Date()): Promise<void> {
  try {
    const secret = secretOf(secrets, { id: message.channelId, secretSealed: message.secretSealed });
    if (message.type === 'telegram') await sendParts({ env, pool }, message, secret);
    else await sendWebhook(env, message, secret, now);
    await pool.query(SENT, [message.id]);
    await pool.query(CHANNEL_WORKS, [message.channelId]);
  } catch (error) {
    const code = deliveryError(error);
    await pool.query(FAILED, [message.id, code, retryAfterOf(error)]);
    await pool.query(CHANNEL_FAILED, [message.channelId, code]);
  }
}

/** Sent parts are stored one by one, so that a retry starts after them. */
async function sendParts({ env, pool }: Pick<Parts, 'env' | 'pool'>, message: ClaimedMessage, token: string) {
  const parts = splitText(alertText(eventsOf(message.events), message.language));
  for (const [index, part] of parts.entries()) {
    if (index < message.partsSent) continue;
    await sendText(env, token, message.address, part);
    await pool.query(PART_SENT, [message.id, index + 1]);
  }
}

async function sendWebhook(env: Parts['env'], message: ClaimedMessage, secret: string, now: Date) {
  const events = eventsOf(message.events);
  const body = JSON.stringify(
    z.encode(WebhookBody, { type: 'alerts', timestamp: message.createdAt, data: { events } }),
  );
  const { status, retryAfterSeconds } = await postWebhook(
    env,
    { url: message.address, secret, id: message.id, body },
    now,
  );
  if (status < 200 || status > 299) throw new WebhookError(retryAfterSeconds);
}

class WebhookError extends Error {
  readonly retryAfterSeconds: number | null;
  constructor(retryAfterSeconds: number | null) {
    super('the webhook responded without success');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
/** The stored secret does not open, for example after a restore with another master key. */
class ChannelSecretError extends Error {}

export function secretOf(
  secrets: Pick<Secrets, 'open'>,
  { id, secretSealed }: { id: string; secretSealed: string | null },
) {
  try {
    return secretSealed === null ? '' : secrets.open(secretSealed, contexts.alertChannel(id));
  } catch (error) {
    throw new ChannelSecretError('the secret does not open', { cause: error });
  }
}

const retryAfterOf = (error: unknown): number =>
  error instanceof TelegramError || error instanceof WebhookError ? Math.min(error.retryAfterSeconds ?? 0, 86_400) : 0;

/** The error that the tenant reads: no text of other servers, and nothing about internal names. */
export function deliveryError(error: unknown): AlertDeliveryError {
  if (error instanceof TelegramError) {
    if (isTokenError(error)) return 'token';
    return error.status === 400 || error.status === 403 ? 'chat' : 'status';
  }
  if (error instanceof WebhookError) return 'status';
  if (error instanceof ChannelSecretError) return 'secret';
  if (error instanceof OutboundRefusal) return 'policy';
  const [code, text] = error instanceof Error ? [String(Reflect.get(error, 'code') ?? ''), error.message] : ['', ''];
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) return 'certificate';
  return /timeout|within|ETIMEDOUT/.test(`${code} ${text}`) ? 'timeout' : 'connection';
}
