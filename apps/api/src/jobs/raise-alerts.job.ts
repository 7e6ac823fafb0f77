// Compares the conditions that hold now with the open alerts: begins new ones, ends those that no longer hold, and
// composes the messages about both. Runs in one process at a time. A pass is one transaction, so a kill leaves nothing
// half done.
import { AlertKind } from '@edgeloom/contract/alerts/alerts.ts';
import { RETRY_HOURS } from '@edgeloom/contract/webhooks/webhooks.ts';
import type { FastifyBaseLogger } from 'fastify';
import type { Pool } from 'pg';
import {
  failingNodes,
  linkKinds,
  nodeConditions,
  offlineMonitors,
  siteConditions,
  stoppedRollouts,
  type Condition,
} from '../alerts/find-conditions.ts';
import type { Installation } from '../core/installation.ts';
import { isUnleased } from '../core/lease.ts';
import { locks } from '../core/locks.ts';
import { sql, textOf, type Sql } from '../core/sql.ts';
import { repeat, type Wakeable } from '../node-link/repeat.ts';
import { inSingleTransaction, withClient } from '../node-link/transactions.ts';

type Services = Pick<Installation, 'db' | 'pool'>;

const PASS_INTERVAL_MS = 5000;
const KEEP_DAYS = 90;
/** A message that its receiver refused this often no longer delays the next ones. It is still retried. */
const MAX_DELAYING_REFUSALS = 5;
/** A message has at most these. Further events wait for the next one. */
const MAX_EVENTS = 1000;
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock($1) AS "isFree"';
/** Nodes and rollouts are read on other connections meanwhile. */
const ALLOW_READING = `SET LOCAL idle_in_transaction_session_timeout = '10min'`;
/**
 * Stored before and after each pass, outside of its transaction. A longer pause is thus an outage, and not a pass that
 * was slow or failed. After it, nodes and monitors get 90 seconds to report.
 */
const NODE_LINK_UP = `INSERT INTO alert_node_link AS l (up_since, seen_at) VALUES (now(), now())
  ON CONFLICT (id) DO UPDATE SET seen_at = now(),
    up_since = CASE WHEN l.seen_at < now() - interval '30 seconds' THEN now() ELSE l.up_since END
  RETURNING up_since < now() - interval '90 seconds' AS "isSettled"`;
const NODE_LINK_STILL_UP = 'UPDATE alert_node_link SET seen_at = clock_timestamp()';
const SLOW_PASS_MS = 10_000;
/** SQL: account `a` may receive alert `h`. A customer that lost the site may not. */
const mayReceive = sql`a.status = 'normal' AND (a.kind = 'client' OR (h.owner_id = a.id
  AND (h.site_id IS NULL OR EXISTS (SELECT FROM sites o WHERE o.id = h.site_id AND o.owner_id = a.id))))`;

/**
 * A notice is stored with its begin or end, so that a kill loses none. A channel reports the end of an alert only if it
 * reported the begin. After a change of a site's customer, its alerts end and the next pass begins others.
 *
 * Sites that are being changed or deleted wait for the next pass, so that their transactions do not block it. Channels
 * are locked: one that is turned off meanwhile gets no notice.
 */
const compare = (rows: readonly Condition[], kinds: readonly AlertKind[], now: Date): Sql =>
  sql`WITH conditions AS MATERIALIZED (
    SELECT kind, "objectId" AS object_id, name, "clientId" AS client_id, "zoneId" AS zone_id, NULL::uuid AS site_id,
        NULL AS site_name, NULL::uuid AS owner_id, begins
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS h (kind text, "objectId" uuid, name text,
        "clientId" uuid, "zoneId" uuid, begins boolean)
    UNION ALL ${siteConditions(now)}
  ), ended_alerts AS (
    UPDATE alerts a SET ended_at = now() WHERE a.ended_at IS NULL AND a.kind = ANY (${kinds}::text[])
      AND NOT EXISTS (SELECT FROM conditions h WHERE h.kind = a.kind AND h.object_id = a.object_id
        AND h.owner_id IS NOT DISTINCT FROM a.owner_id)
      RETURNING a.id, a.client_id, a.site_id, a.owner_id, a.kind
  ), new_conditions AS MATERIALIZED (
    SELECT * FROM conditions h WHERE h.begins AND h.kind = ANY (${kinds}::text[])
      AND NOT EXISTS (SELECT FROM alerts a WHERE a.ended_at IS NULL AND a.kind = h.kind AND a.object_id = h.object_id)
  ), available_sites AS MATERIALIZED (
    SELECT s.id FROM sites s WHERE s.id IN (SELECT site_id FROM new_conditions) FOR KEY SHARE SKIP LOCKED
  ), new_alerts AS (
    INSERT INTO alerts (id, client_id, zone_id, site_id, site_name, owner_id, kind, object_id, name)
      SELECT gen_random_uuid(), h.client_id, h.zone_id, h.site_id, h.site_name, h.owner_id, h.kind, h.object_id, h.name
        FROM new_conditions h WHERE h.site_id IS NULL OR h.site_id IN (SELECT id FROM available_sites)
      ON CONFLICT (kind, object_id) WHERE ended_at IS NULL DO NOTHING
      RETURNING id, client_id, site_id, owner_id, kind
  ), transitions AS (
    SELECT *, FALSE AS has_ended FROM new_alerts UNION ALL SELECT *, TRUE FROM ended_alerts
  ), receivers AS (
    SELECT c.id AS channel_id, h.id AS alert_id, h.has_ended FROM transitions h
      JOIN alert_channels c ON c.client_id = h.client_id JOIN accounts a ON a.id = c.account_id
      WHERE c.enabled AND ${mayReceive} AND CASE WHEN h.has_ended
        THEN EXISTS (SELECT FROM alert_notices n WHERE n.channel_id = c.id AND n.alert_id = h.id AND NOT n.has_ended)
        ELSE h.kind = ANY (c.kinds) END
      FOR SHARE OF c
  )
  INSERT INTO alert_notices (channel_id, alert_id, has_ended) SELECT channel_id, alert_id, has_ended FROM receivers`;

/** Notices that waited for an interval, and that their channel may no longer report. */
const DROP_REFUSED = `DELETE FROM alert_notices n USING alerts h, alert_channels c, accounts a
  WHERE n.message_id IS NULL AND h.id = n.alert_id AND c.id = n.channel_id AND a.id = c.account_id AND NOT (${textOf(mayReceive)})`;
/** Also messages of accounts that were paused. */
const EXPIRE = `UPDATE alert_messages m SET is_pending = FALSE, failed_at = now()
  FROM alert_channels c JOIN accounts a ON a.id = c.account_id WHERE c.id = m.channel_id AND m.is_pending
    AND (m.expires_at <= now() OR a.status <> 'normal') AND ${isUnleased('m')}`;
/**
 * Puts the waiting notices of a channel into a message, or into one for each kind. While a message of a channel was
 * neither sent nor given up, the next notices wait and become one message, too, unless its receiver refuses only that
 * one. An end always waits for the message of its begin. The longest interval is a day.
 */
const COMPOSE = `WITH recent_kinds AS MATERIALIZED (
    SELECT DISTINCT m.channel_id, b.kind FROM alert_messages m JOIN alert_channels c ON c.id = m.channel_id
      JOIN alert_frequencies f ON f.client_id = c.client_id AND f.interval_minutes > 0
      JOIN alert_notices p ON p.message_id = m.id JOIN alerts b ON b.id = p.alert_id
      WHERE m.created_at > now() - interval '1 day' AND m.created_at > now() - interval '1 minute' * f.interval_minutes
        AND m.channel_id IN (SELECT w.channel_id FROM alert_notices w WHERE w.message_id IS NULL)
  ), ready_notices AS (
    SELECT n.channel_id, n.alert_id, n.has_ended, CASE WHEN f."grouping" = 'kind' THEN a.kind ELSE '' END AS group_key,
      CASE WHEN n.has_ended THEN a.ended_at ELSE a.began_at END AS at, a.kind, a.name, a.site_name
    FROM alert_notices n JOIN alerts a ON a.id = n.alert_id JOIN alert_channels c ON c.id = n.channel_id
      LEFT JOIN alert_frequencies f ON f.client_id = c.client_id
    WHERE n.message_id IS NULL AND c.enabled
      AND NOT EXISTS (SELECT FROM alert_messages m
        WHERE m.channel_id = c.id AND m.is_pending AND m.sent_at IS NULL AND m.failed_at IS NULL
          AND m.refusals < ${MAX_DELAYING_REFUSALS})
      AND NOT (n.has_ended AND EXISTS (SELECT FROM alert_notices b JOIN alert_messages m ON m.id = b.message_id
        WHERE b.channel_id = n.channel_id AND b.alert_id = n.alert_id AND NOT b.has_ended
          AND m.is_pending AND m.sent_at IS NULL))
      AND NOT EXISTS (SELECT FROM recent_kinds r WHERE r.channel_id = c.id AND r.kind = a.kind)
  ), numbered_notices AS (
    SELECT *, row_number() OVER (PARTITION BY channel_id, group_key ORDER BY at, alert_id, has_ended) AS position FROM ready_notices
  ), messages AS MATERIALIZED (
    SELECT gen_random_uuid() AS id, channel_id, group_key, count(*)::int AS event_count, jsonb_agg(jsonb_build_object(
      'alertID', alert_id, 'kind', kind, 'phase', CASE WHEN has_ended THEN 'ended' ELSE 'began' END, 'name', name,
      'siteName', site_name, 'at', to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) ORDER BY position) AS events
    FROM numbered_notices WHERE position <= ${MAX_EVENTS} GROUP BY channel_id, group_key
  ), stored_messages AS (
    INSERT INTO alert_messages (id, channel_id, events, event_count, expires_at)
      SELECT id, channel_id, events, event_count, now() + interval '${RETRY_HOURS} hours' FROM messages RETURNING id
  )
  UPDATE alert_notices n SET message_id = m.id FROM numbered_notices p JOIN messages m USING (channel_id, group_key)
    JOIN stored_messages USING (id) WHERE p.position <= ${MAX_EVENTS}
      AND (n.channel_id, n.alert_id, n.has_ended) = (p.channel_id, p.alert_id, p.has_ended)`;
/** The notices of an open alert stay: its end is reported where its begin was. */
const FORGET = [
  `DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE ended_at < now() - interval '${KEEP_DAYS} days'
    LIMIT 10000 FOR UPDATE SKIP LOCKED)`,
  `DELETE FROM alert_messages WHERE id IN (SELECT id FROM alert_messages m
    WHERE m.created_at < now() - interval '${KEEP_DAYS} days' AND NOT EXISTS (SELECT FROM alert_notices n
      JOIN alerts a ON a.id = n.alert_id WHERE n.message_id = m.id AND a.ended_at IS NULL)
    LIMIT 10000 FOR UPDATE SKIP LOCKED)`,
];

/** One pass. Does nothing while another process makes one. */
export async function raiseAlerts(
  services: Services,
  { isNodeLinkUp, now = new Date() }: { isNodeLinkUp: () => Promise<boolean>; now?: Date },
): Promise<void> {
  const { pool } = services;
  const wasUp = await isNodeLinkUp();
  const canReport = wasUp && (await isLinkSettled(pool));
  try {
    await compareAndCompose(services, canReport, now);
  } finally {
    if (wasUp && (await isNodeLinkUp())) await pool.query(NODE_LINK_STILL_UP);
  }
}

const compareAndCompose = ({ db, pool }: Services, canReport: boolean, now: Date): Promise<void> =>
  withClient(pool, (client) =>
    inSingleTransaction(client, async () => {
      // The conditions are read under the lock: an older reading would end newer alerts.
      const { rows } = await client.query<{ isFree: boolean }>(TRY_LOCK, [locks.alerts]);
      if (rows[0]?.isFree !== true) return;
      await client.query(ALLOW_READING);
      const conditions = [
        ...(canReport ? await nodeConditions(db, now) : []),
        ...(canReport ? await failingNodes(db) : []),
        ...(canReport ? await offlineMonitors(db, now) : []),
        ...(await stoppedRollouts(db, now)),
      ];
      const unknown: readonly AlertKind[] = canReport ? [] : linkKinds;
      const kinds = AlertKind.options.filter((kind) => !unknown.includes(kind));
      const statement = compare(conditions, kinds, now);
      await client.query(textOf(statement), [...statement.values]);
      await client.query(DROP_REFUSED);
      await client.query(EXPIRE);
      await client.query(COMPOSE);
      await client.query('NOTIFY alert_messages');
    }),
  );

/** Alerts of nodes and monitors neither begin nor end right after an outage. */
async function isLinkSettled(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ isSettled: boolean }>(NODE_LINK_UP);
  return rows[0]?.isSettled === true;
}

export async function forgetAlerts({ pool }: Pick<Installation, 'pool'>): Promise<void> {
  for (const statement of FORGET) await pool.query(statement);
}

/** `healthy` rejects while nodes cannot reach this process. */
export const startAlerts = (
  installation: Installation,
  { healthy }: { healthy: () => Promise<void> },
  log: FastifyBaseLogger,
): Wakeable => {
  const isNodeLinkUp = () =>
    healthy().then(
      () => true,
      () => false,
    );
  const pass = async () => {
    const startedAt = performance.now();
    await raiseAlerts(installation, { isNodeLinkUp });
    const durationMs = Math.round(performance.now() - startedAt);
    if (durationMs > SLOW_PASS_MS) log.warn({ durationMs }, 'the comparison of alerts is slow');
  };
  return repeat(pass, PASS_INTERVAL_MS, log, 'alerts not compared');
};
