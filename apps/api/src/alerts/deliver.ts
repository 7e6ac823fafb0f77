// Claims and delivers messages of alerts. A message counts as sent when the receiver accepted it, so a kill before
// that is stored repeats it: a webhook recognizes the repetition by its id.
import { alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { AlertEvent, RETRY_HOURS, WebhookBody } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Installation } from '../core/installation.ts';
import { contexts, type Secrets } from '../core/secrets.ts';
import { DeliveryError } from './delivery-error.ts';
import { sendText, splitText } from './telegram.ts';
import { alertText } from './texts.ts';
import { postWebhook } from './webhook.ts';

export type ChannelType = 'telegram' | 'webhook';

interface ClaimedMessage {
  id: string;
  events: unknown;
  text: string | null;
  partsSent: number;
  tries: number;
  createdAt: Date;
  channelId: string;
  type: ChannelType;
  address: string;
  secretSealed: string | null;
  language: string;
}

/** Longer than a request's timeout. */
const LEASE = `now() + interval '30 seconds'`;
const FIRST_RETRY_SECONDS = 30;
const MAX_RETRY_SECONDS = 900;
/** Telegram's limits may ask for longer waits than a retry. */
const MAX_WAIT_SECONDS: Readonly<Record<ChannelType, number>> = {
  telegram: RETRY_HOURS * 3600,
  webhook: MAX_RETRY_SECONDS,
};

/**
 * A channel sends one message at a time, so that one that does not respond takes one slot. Its row is locked against a
 * claim at the same moment.
 */
const CLAIM = `UPDATE alert_messages m SET tries = m.tries + 1, claimed_until = ${LEASE}
  FROM alert_channels c, accounts a WHERE c.id = m.channel_id AND a.id = c.account_id AND m.id = (
    SELECT o.id FROM alert_messages o JOIN alert_channels d ON d.id = o.channel_id JOIN accounts b ON b.id = d.account_id
      WHERE o.is_pending AND o.due_at <= now() AND o.expires_at > now() AND d.enabled AND d.type = $1 AND b.status = 'normal'
        AND NOT EXISTS (SELECT FROM alert_messages r
          WHERE r.channel_id = o.channel_id AND r.is_pending AND r.claimed_until > now())
      ORDER BY o.due_at LIMIT 1 FOR NO KEY UPDATE OF d, o SKIP LOCKED)
  RETURNING m.id, m.events, m.text, m.parts_sent AS "partsSent", m.tries, m.created_at AS "createdAt",
    c.id AS "channelId", c.type, c.address, c.secret_sealed AS "secretSealed", a.language`;
const STORE_TEXT = 'UPDATE alert_messages SET text = $2 WHERE id = $1';
const PART_SENT = `UPDATE alert_messages SET parts_sent = $2, claimed_until = ${LEASE} WHERE id = $1`;
const RELEASE = 'UPDATE alert_messages SET claimed_until = NULL WHERE id = $1';
/** Locks the message only: a pass of raise-alerts.job.ts may hold the channel for longer than the lease. */
const SENT = `UPDATE alert_messages SET sent_at = now(), failed_at = NULL, last_error = NULL, is_pending = FALSE,
  claimed_until = NULL WHERE id = $1`;
const CHANNEL_WORKS =
  'UPDATE alert_channels SET last_error = NULL, failed_at = NULL WHERE id = $1 AND failed_at IS NOT NULL';
/** $3: seconds until the next attempt. $4: 1 if the receiver refused the message. */
const FAILED = `UPDATE alert_messages SET last_error = $2, claimed_until = NULL, due_at = now() + interval '1 second' * $3,
  refusals = refusals + $4 WHERE id = $1`;
const CHANNEL_FAILED = 'UPDATE alert_channels SET last_error = $2, failed_at = now() WHERE id = $1';

export async function claimMessage(pool: Pick<Pool, 'query'>, type: ChannelType): Promise<ClaimedMessage | null> {
  const { rows } = await pool.query<ClaimedMessage>(CLAIM, [type]);
  return rows[0] ?? null;
}

/** The stored events that this version knows. */
const eventsOf = (stored: unknown): AlertEvent[] =>
  z
    .array(z.unknown())
    .parse(stored)
    .flatMap((event) => StoredEvent.safeParse(event).data ?? []);
const StoredEvent = AlertEvent.omit({ severity: true }).transform((event) => ({
  ...event,
  severity: alertKinds[event.kind].severity,
}));

type Services = Pick<Installation, 'env' | 'pool' | 'secrets'>;

/**
 * Throws a DeliveryError after it was stored, so that it is logged and counted. Any other error leaves the message to
 * the end of its lease.
 */
export async function deliver(
  services: Services,
  message: ClaimedMessage,
  stopping: AbortSignal,
  now = new Date(),
): Promise<void> {
  const { pool } = services;
  try {
    const isSent = await send(services, message, stopping, now);
    if (isSent) await storeSuccess(pool, message);
    else await pool.query(RELEASE, [message.id]);
  } catch (error) {
    if (error instanceof DeliveryError) await storeError(pool, message, error);
    throw error;
  }
}

async function storeSuccess(pool: Pool, { id, channelId }: ClaimedMessage): Promise<void> {
  await pool.query(SENT, [id]);
  await pool.query(CHANNEL_WORKS, [channelId]);
}

/** A message that was deleted, because its channel was turned off, says nothing about the channel. */
async function storeError(pool: Pool, message: ClaimedMessage, error: DeliveryError): Promise<void> {
  const delay = retryDelay(error, message);
  const { rowCount } = await pool.query(FAILED, [message.id, error.code, delay, error.isRefused ? 1 : 0]);
  if (rowCount === 1) await pool.query(CHANNEL_FAILED, [message.channelId, error.code]);
}

/** In seconds. A pass of raise-alerts.job.ts ends messages at `expires_at`. */
function retryDelay({ retryAfterSeconds }: DeliveryError, { tries, type }: ClaimedMessage): number {
  const delay = Math.min(FIRST_RETRY_SECONDS * 2 ** (tries - 1), MAX_RETRY_SECONDS);
  return Math.ceil(Math.max(delay, Math.min(retryAfterSeconds ?? 0, MAX_WAIT_SECONDS[type])));
}

/** False: stopped before the last part. */
async function send({ env, pool, secrets }: Services, message: ClaimedMessage, stopping: AbortSignal, now: Date) {
  const secret = secretOf(secrets, { id: message.channelId, secretSealed: message.secretSealed });
  if (message.type === 'telegram') return sendParts({ env, pool }, message, secret, stopping);
  const data = { events: eventsOf(message.events) };
  const body = JSON.stringify(z.encode(WebhookBody, { type: 'alerts', timestamp: message.createdAt, data }));
  await postWebhook(env, { url: message.address, secret, id: message.id, body }, now);
  return true;
}

/** Sent parts are stored one by one, so that a retry starts after them. */
async function sendParts(
  { env, pool }: Pick<Services, 'env' | 'pool'>,
  message: ClaimedMessage,
  token: string,
  stopping: AbortSignal,
): Promise<boolean> {
  const text = message.text ?? alertText(eventsOf(message.events), message.language);
  if (message.text === null) await pool.query(STORE_TEXT, [message.id, text]);
  for (const [index, part] of splitText(text).entries()) {
    if (index < message.partsSent) continue;
    if (stopping.aborted) return false;
    await sendText(env, token, message.address, part);
    await pool.query(PART_SENT, [message.id, index + 1]);
  }
  return true;
}

export function secretOf(
  secrets: Pick<Secrets, 'open'>,
  { id, secretSealed }: { id: string; secretSealed: string | null },
) {
  try {
    return secretSealed === null ? '' : secrets.open(secretSealed, contexts.alertChannel(id));
  } catch (error) {
    // For example after a restore with another master key.
    throw new DeliveryError('secret', 'the secret does not open', { cause: error });
  }
}
