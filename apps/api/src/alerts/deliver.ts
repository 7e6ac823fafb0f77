// Claims and delivers messages of alerts. A message counts as sent once its receiver accepted it. If the process dies
// before that is stored, the message is sent again. The receiver of a webhook recognizes the repetition by its id.
import { randomUUID } from 'node:crypto';
import { alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { AlertEvent, RETRY_HOURS, WebhookBody } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Installation } from '../core/installation.ts';
import { isUnleased, RELEASE_LEASE } from '../core/lease.ts';
import { contexts, type Secrets } from '../core/secrets.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { DeliveryError } from './delivery-error.ts';
import { sendText, splitText } from './telegram.ts';
import { alertText } from './texts.ts';
import { postWebhook } from './webhook.ts';

export type ChannelType = 'telegram' | 'webhook';

interface ClaimedMessage {
  id: string;
  /** Identifies this attempt. A later one, after the lease expired, has another. */
  claim: string;
  events: unknown;
  text: string | null;
  partsSent: number;
  tries: number;
  /** Given up before, and resent. */
  wasGivenUp: boolean;
  createdAt: Date;
  channelId: string;
  type: ChannelType;
  address: string;
  secretSealed: string | null;
  language: string;
}

/** Longer than the timeout of a request (jobs/deliver-alerts.job.ts). */
const LEASE_END = `now() + interval '30 seconds'`;
const FIRST_RETRY_SECONDS = 30;
const MAX_RETRY_SECONDS = 900;
/** The longest Retry-After that is obeyed. Telegram's rate limits may need more than a retry's delay. */
const MAX_RETRY_AFTER_SECONDS: Readonly<Record<ChannelType, number>> = {
  telegram: RETRY_HOURS * 3600,
  webhook: MAX_RETRY_SECONDS,
};

/** SQL: the next attempt of this message may begin. */
const isDue = (message: string) =>
  `${message}.is_pending AND ${message}.due_at <= now() AND ${message}.expires_at > now()`;
/** SQL: no message of this channel is being delivered. A channel sends one at a time, so that it takes one slot. */
const isChannelFree = (channelId: string) =>
  `NOT EXISTS (SELECT FROM alert_messages other WHERE other.channel_id = ${channelId} AND other.is_pending
    AND NOT ${isUnleased('other')})`;
const LOCK_CHANNEL = `SELECT c.id FROM alert_messages m JOIN alert_channels c ON c.id = m.channel_id
    JOIN accounts a ON a.id = c.account_id
  WHERE ${isDue('m')} AND c.enabled AND c.type = $1 AND a.status = 'normal' AND ${isChannelFree('m.channel_id')}
  ORDER BY m.due_at, m.created_at LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED`;
/**
 * Runs after LOCK_CHANNEL in the same transaction, so its snapshot has every earlier lease of the channel. The
 * conditions of LOCK_CHANNEL are tested again, because they saw an older snapshot.
 */
const CLAIM = `UPDATE alert_messages m SET tries = m.tries + 1, claimed_by = $2, claimed_until = ${LEASE_END}
  FROM alert_channels c, accounts a WHERE c.id = m.channel_id AND a.id = c.account_id AND m.id = (
    SELECT o.id FROM alert_messages o WHERE o.channel_id = $1 AND ${isDue('o')} AND ${isChannelFree('$1')}
      ORDER BY o.due_at, o.created_at LIMIT 1 FOR UPDATE)
  RETURNING m.id, m.claimed_by AS claim, m.events, m.text, m.parts_sent AS "partsSent", m.tries,
    m.failed_at IS NOT NULL AND m.sent_at IS NULL AS "wasGivenUp", m.created_at AS "createdAt",
    c.id AS "channelId", c.type, c.address, c.secret_sealed AS "secretSealed", a.language`;
/** SQL: no later attempt has claimed the message. */
const IS_CLAIMED = 'id = $1 AND claimed_by = $2';
const STORE_TEXT = `UPDATE alert_messages SET text = $3 WHERE ${IS_CLAIMED}`;
const STORE_PART = `UPDATE alert_messages SET parts_sent = $3 WHERE ${IS_CLAIMED}`;
const RENEW = `UPDATE alert_messages SET claimed_until = ${LEASE_END}
  WHERE ${IS_CLAIMED} AND is_pending AND claimed_until > now()`;
const RELEASE = `UPDATE alert_messages SET ${RELEASE_LEASE} WHERE ${IS_CLAIMED}`;
const STORE_SENT = `UPDATE alert_messages SET sent_at = now(), failed_at = NULL, last_error = NULL, is_pending = FALSE,
  ${RELEASE_LEASE} WHERE ${IS_CLAIMED}`;
const CLEAR_CHANNEL_ERROR =
  'UPDATE alert_channels SET last_error = NULL, failed_at = NULL WHERE id = $1 AND failed_at IS NOT NULL';
/** $4: seconds until the next attempt. $5: 1 if the receiver refused the message. */
const STORE_FAILURE = `UPDATE alert_messages SET last_error = $3, ${RELEASE_LEASE}, due_at = now() + interval '1 second' * $4,
  refusals = refusals + $5 WHERE ${IS_CLAIMED}`;
const STORE_CHANNEL_ERROR = 'UPDATE alert_channels SET last_error = $2, failed_at = now() WHERE id = $1';
/** Alerts that begin in the message, and whose end another message has delivered. */
const ENDS_DELIVERED = `SELECT ended.alert_id AS "alertID" FROM alert_notices began
    JOIN alert_notices ended ON ended.channel_id = began.channel_id AND ended.alert_id = began.alert_id AND ended.has_ended
    JOIN alert_messages m ON m.id = ended.message_id
  WHERE began.message_id = $1 AND NOT began.has_ended AND m.id <> $1 AND m.sent_at IS NOT NULL`;
/** Leaves the message to a newer process. Counts as a refusal: after five of them the next messages no longer wait. */
const STORE_UNKNOWN = `UPDATE alert_messages SET ${RELEASE_LEASE}, due_at = now() + interval '${FIRST_RETRY_SECONDS} seconds',
  tries = tries - 1, refusals = refusals + 1 WHERE ${IS_CLAIMED}`;
const STORE_OUTDATED = `UPDATE alert_messages SET is_pending = FALSE, failed_at = now(), last_error = 'outdated', ${RELEASE_LEASE}
  WHERE ${IS_CLAIMED}`;

/** Null: nothing is due, or other processes are delivering it. */
export async function claimMessage(pool: Pool, type: ChannelType): Promise<ClaimedMessage | null> {
  for (;;) {
    const message = await withClient(pool, (client) =>
      inTransaction(client, async () => {
        const { rows: channels } = await client.query<{ id: string }>(LOCK_CHANNEL, [type]);
        const [channel] = channels;
        if (!channel) return null;
        const { rows } = await client.query<ClaimedMessage>(CLAIM, [channel.id, randomUUID()]);
        return rows[0];
      }),
    );
    if (message !== undefined) return message;
    // Another process claimed this channel's message since it was found. Other channels may have some.
  }
}

/** The stored events that this version knows, with its own severities. */
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
 * Throws a DeliveryError after it was stored, so that it is logged and counted. After any other error the message is
 * retried when its lease expires. An attempt counts unless a later one has claimed the message.
 */
export async function deliver(
  services: Services,
  message: ClaimedMessage,
  stopping: AbortSignal,
  now = new Date(),
): Promise<void> {
  const { pool } = services;
  try {
    const outcome = await send(services, message, stopping, now);
    if (outcome === 'sent') await storeSuccess(pool, message);
    else await storeIfClaimed(pool, unsentStatements[outcome], message);
  } catch (error) {
    if (error instanceof DeliveryError) await storeError(pool, message, error);
    throw error;
  }
}

/** False: the message was claimed again after the lease, or deleted with its channel. */
async function storeIfClaimed(
  pool: Pool,
  statement: string,
  { id, claim }: ClaimedMessage,
  values: readonly unknown[] = [],
) {
  const { rowCount } = await pool.query(statement, [id, claim, ...values]);
  return rowCount === 1;
}

/** Two statements: a pass of raise-alerts.job.ts may lock the channel for longer than the message's lease. */
async function storeSuccess(pool: Pool, message: ClaimedMessage): Promise<void> {
  if (await storeIfClaimed(pool, STORE_SENT, message)) await pool.query(CLEAR_CHANNEL_ERROR, [message.channelId]);
}

/** A message that was deleted, because its channel was turned off, does not mark the channel as failed. */
async function storeError(pool: Pool, message: ClaimedMessage, error: DeliveryError): Promise<void> {
  const values = [error.code, retryDelaySeconds(error, message), error.isRefused ? 1 : 0];
  if (await storeIfClaimed(pool, STORE_FAILURE, message, values))
    await pool.query(STORE_CHANNEL_ERROR, [message.channelId, error.code]);
}

/** May end after `expires_at`: then the message is not retried. */
function retryDelaySeconds({ retryAfterSeconds }: DeliveryError, { tries, type }: ClaimedMessage): number {
  const delay = Math.min(FIRST_RETRY_SECONDS * 2 ** (tries - 1), MAX_RETRY_SECONDS);
  return Math.ceil(Math.max(delay, Math.min(retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS[type])));
}

/**
 * stopped: parts are left, because the process stops or a later attempt claimed the message. outdated: nothing of it
 * may be delivered any more. unknown: this version knows no event of it.
 */
type Outcome = 'sent' | 'stopped' | 'outdated' | 'unknown';
const unsentStatements: Readonly<Record<Exclude<Outcome, 'sent'>, string>> = {
  stopped: RELEASE,
  outdated: STORE_OUTDATED,
  unknown: STORE_UNKNOWN,
};

async function send(
  { env, pool, secrets }: Services,
  message: ClaimedMessage,
  stopping: AbortSignal,
  now: Date,
): Promise<Outcome> {
  const known = eventsOf(message.events);
  if (known.length === 0 && message.text === null) return 'unknown';
  const secret = secretOf(secrets, { id: message.channelId, secretSealed: message.secretSealed });
  if (message.type === 'telegram') return sendParts({ env, pool }, message, known, secret, stopping);
  const events = await currentEvents(pool, message, known);
  if (events === null) return 'outdated';
  const body = JSON.stringify(
    z.encode(WebhookBody, { type: 'alerts', timestamp: message.createdAt, data: { events } }),
  );
  await postWebhook(env, { url: message.address, secret, id: message.id, body }, now);
  return 'sent';
}

/**
 * A message that was given up and resent leaves out the beginning of alerts whose end has been delivered: a receiver
 * would keep such an alert open. Read under the lease: a channel delivers one message at a time, so no end can come in
 * between. Null: nothing is left.
 */
async function currentEvents(pool: Pool, message: ClaimedMessage, events: AlertEvent[]): Promise<AlertEvent[] | null> {
  if (!message.wasGivenUp) return events;
  const { rows } = await pool.query<{ alertID: string }>(ENDS_DELIVERED, [message.id]);
  const ended = new Set(rows.map(({ alertID }) => alertID));
  const current = events.filter(({ alertID, phase }) => phase === 'ended' || !ended.has(alertID));
  return current.length === 0 ? null : current;
}

/** Sent parts are stored one by one, so that a retry starts after them. */
async function sendParts(
  { env, pool }: Pick<Services, 'env' | 'pool'>,
  message: ClaimedMessage,
  events: readonly AlertEvent[],
  token: string,
  stopping: AbortSignal,
): Promise<Outcome> {
  const text = message.text ?? alertText(events, message.language);
  if (message.text === null && !(await storeIfClaimed(pool, STORE_TEXT, message, [text]))) return 'stopped';
  for (const [index, part] of splitText(text).entries()) {
    if (index < message.partsSent) continue;
    if (stopping.aborted || !(await storeIfClaimed(pool, RENEW, message))) return 'stopped';
    await sendText(env, token, message.address, part);
    if (!(await storeIfClaimed(pool, STORE_PART, message, [index + 1]))) return 'stopped';
  }
  return 'sent';
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
