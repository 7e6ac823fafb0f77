// Compares the conditions that hold now with the open alerts: begins new ones, ends those that no longer hold, and
// composes the messages about both. Runs in one process at a time. A pass is one transaction, so a kill leaves nothing
// half done.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { findConditions, operatorActor } from '../alerts/find-conditions.ts';
import type { Installation } from '../core/installation.ts';
import { locks } from '../core/locks.ts';
import { scoping } from '../core/scope.ts';
import { repeat, type Wakeable } from '../node-link/repeat.ts';
import { inSingleTransaction, withClient } from '../node-link/transactions.ts';

type Parts = Pick<Installation, 'db' | 'pool'>;
type Log = Pick<FastifyBaseLogger, 'warn'>;

const PASS_INTERVAL_MS = 5000;
const KEEP_DAYS = 90;
/** Limit of a message. Further events are in the next one. */
const MAX_EVENTS = 1000;
const RETRY_HOURS = 24;
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock($1) AS "isFree"';
/**
 * $1: the conditions. $2: the operators that were read; alerts of all others stay. A notice is stored with its begin or
 * end, so that a kill loses none. A channel reports the end of an alert only if it reported the begin.
 */
const COMPARE = `WITH held AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS h (id uuid, "clientId" uuid, "zoneId" uuid, "siteId" uuid, kind text, "objectId" uuid, name text)
  ), ended AS (
    UPDATE alerts a SET ended_at = now() WHERE a.ended_at IS NULL AND a.client_id = ANY ($2::uuid[])
      AND NOT EXISTS (SELECT FROM held h WHERE h.kind = a.kind AND h."objectId" = a.object_id) RETURNING a.id
  ), begun AS (
    INSERT INTO alerts (id, client_id, zone_id, site_id, kind, object_id, name)
      SELECT h.id, h."clientId", h."zoneId", h."siteId", h.kind, h."objectId", h.name FROM held h
      ON CONFLICT (kind, object_id) WHERE ended_at IS NULL DO NOTHING RETURNING id, client_id, site_id, kind
  )
  INSERT INTO alert_notices (channel_id, alert_id, has_ended)
    SELECT c.id, b.id, FALSE FROM begun b JOIN alert_channels c ON c.client_id = b.client_id AND b.kind = ANY (c.kinds)
      JOIN accounts a ON a.id = c.account_id LEFT JOIN sites s ON s.id = b.site_id
      WHERE c.enabled AND a.status = 'normal' AND (a.kind = 'client' OR s.owner_id = a.id)
    UNION ALL
    SELECT c.id, e.id, TRUE FROM ended e JOIN alert_notices n ON n.alert_id = e.id AND NOT n.has_ended
      JOIN alert_channels c ON c.id = n.channel_id WHERE c.enabled`;
/**
 * Puts the waiting notices of a channel into a message, or into one for each kind. While a channel has an unsent
 * message, the next notices wait and become one message, too.
 */
const COMPOSE = `WITH ready AS (
    SELECT n.channel_id, n.alert_id, n.has_ended, CASE WHEN f."grouping" = 'kind' THEN a.kind ELSE '' END AS part,
      CASE WHEN n.has_ended THEN a.ended_at ELSE a.began_at END AS at, a.kind, a.name, s.name AS site_name
    FROM alert_notices n JOIN alerts a ON a.id = n.alert_id JOIN alert_channels c ON c.id = n.channel_id
      LEFT JOIN alert_frequencies f ON f.client_id = c.client_id LEFT JOIN sites s ON s.id = a.site_id
    WHERE n.message_id IS NULL AND c.enabled
      AND NOT EXISTS (SELECT FROM alert_messages m WHERE m.channel_id = c.id AND m.sent_at IS NULL AND m.failed_at IS NULL)
      AND NOT EXISTS (SELECT FROM alert_notices p JOIN alerts b ON b.id = p.alert_id JOIN alert_messages m ON m.id = p.message_id
        WHERE p.channel_id = c.id AND b.kind = a.kind AND m.created_at > now() - interval '1 minute' * coalesce(f.interval_minutes, 0))
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY channel_id, part ORDER BY at, alert_id, has_ended) AS place FROM ready
  ), made AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, channel_id, part, jsonb_agg(jsonb_build_object(
      'alertID', alert_id, 'kind', kind, 'phase', CASE WHEN has_ended THEN 'ended' ELSE 'began' END, 'name', name,
      'siteName', site_name, 'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY place) AS events
    FROM placed WHERE place <= ${MAX_EVENTS} GROUP BY channel_id, part
  ), stored AS (
    INSERT INTO alert_messages (id, channel_id, events, expires_at)
      SELECT id, channel_id, events, now() + interval '${RETRY_HOURS} hours' FROM made RETURNING id
  )
  UPDATE alert_notices n SET message_id = made.id FROM placed p JOIN made USING (channel_id, part) JOIN stored USING (id)
    WHERE p.place <= ${MAX_EVENTS} AND (n.channel_id, n.alert_id, n.has_ended) = (p.channel_id, p.alert_id, p.has_ended)`;
const FORGET = [
  `DELETE FROM alerts WHERE ended_at < now() - interval '${KEEP_DAYS} days'`,
  `DELETE FROM alert_messages WHERE created_at < now() - interval '${KEEP_DAYS} days'`,
];

/** One pass. Does nothing while another process makes one. */
export const raiseAlerts = ({ db, pool }: Parts, log: Log, now: () => Date = () => new Date()): Promise<void> =>
  withClient(pool, (client) =>
    inSingleTransaction(client, async () => {
      // The conditions are read under the lock: an older reading would end newer alerts.
      const { rows } = await client.query<{ isFree: boolean }>(TRY_LOCK, [locks.alerts]);
      if (rows[0]?.isFree !== true) return;
      const { held, clientIds } = await readAll({ db, pool }, log, now);
      await client.query(COMPARE, [JSON.stringify(held), clientIds]);
      await client.query(COMPOSE);
      await client.query('NOTIFY alert_messages');
    }),
  );

/** An operator whose conditions cannot be read does not delay the alerts of others. */
async function readAll({ db, pool }: Parts, log: Log, now: () => Date) {
  const scoped = scoping(db, pool);
  const held: object[] = [];
  const clientIds: string[] = [];
  for (const { id: clientId } of await db.client.findMany({ select: { id: true } })) {
    try {
      const conditions = await findConditions(scoped(operatorActor(clientId)), now);
      held.push(...conditions.map((condition) => ({ ...condition, id: randomUUIDv7(), clientId })));
      clientIds.push(clientId);
    } catch (error) {
      log.warn({ err: error, client: clientId }, 'alerts of an operator not compared');
    }
  }
  return { held, clientIds };
}

export async function forgetAlerts({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  for (const statement of FORGET) await pool.query(statement);
}

export const startAlerts = (installation: Installation, log: FastifyBaseLogger): Wakeable =>
  repeat(() => raiseAlerts(installation, log), PASS_INTERVAL_MS, log, 'alerts not compared');
