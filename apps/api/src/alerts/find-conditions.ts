// Finds what alerts are raised for now, over all operators: the conditions of the attention list, for each object.
// Nodes and rollouts are rows; conditions of sites are SQL, because there may be many.
import { AlertKind } from '@edgeloom/contract/alerts/alerts.ts';
import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { nothing, sql, type Sql } from '../core/sql.ts';
import type { PrismaClient } from '../generated/client.ts';
import {
  isLosingLogs,
  isMonitored,
  isMonitorOffline,
  isRolloutStopped,
  rowsOf,
} from '../modules/attention/conditions.ts';
import { connectionOf, hasRejected } from '../modules/nodes/node-status.ts';

export interface Condition {
  kind: AlertKind;
  objectId: string;
  name: string;
  clientId: string;
  zoneId: string | null;
  /** False: an open alert stays open, but none begins. */
  begins: boolean;
}

const reportedKinds = ['nodesRejected', 'nodesOffline', 'nodesDisconnected', 'nodesLosingLogs'] as const;
type ReportedKind = (typeof reportedKinds)[number];
/** Neither begin nor end while nodes and monitors cannot report. */
export const linkKinds = [...reportedKinds, 'nodesFailingMonitors', 'monitorsOffline'] as const;

/**
 * A monitor that is silent for this long begins an alert. Its restart and a restart of the control plane take less. A
 * pause of up to 30 seconds counts as no outage (raise-alerts.job.ts).
 */
const MONITOR_ALERT_MS = 90_000;

/** Each kind on its own: a rejected node that also loses its connection is still rejected. */
export async function nodeConditions(db: PrismaClient, now: Date): Promise<Condition[]> {
  const [nodes, losing] = await Promise.all([
    db.edgeNode.findMany({
      where: { enabled: true, joinedAt: { not: null } },
      select: {
        id: true,
        name: true,
        zoneId: true,
        zone: { select: { clientId: true } },
        state: {
          select: { connectedAt: true, disconnectedAt: true, lastSeenAt: true, rejected: true, nginx: true },
        },
      },
    }),
    db.edgeNode.findMany({ where: isLosingLogs(true, now), select: { id: true } }),
  ]);
  const losingIds = new Set(losing.map(({ id }) => id));
  return nodes.flatMap(({ id, name, zoneId, zone: { clientId }, state }) => {
    const connection = connectionOf(state, now);
    const isAway = connection !== 'connected';
    const kinds: [kind: ReportedKind, holds: boolean, begins: boolean][] = [
      ['nodesRejected', hasRejected(state), true],
      // Both end with the next connection: one kind does not end because the other begins.
      ['nodesOffline', isAway, connection === 'offline'],
      ['nodesDisconnected', isAway, connection === 'natsError'],
      ['nodesLosingLogs', losingIds.has(id), true],
    ];
    return kinds
      .filter(([, holds]) => holds)
      .map(([kind, , begins]) => ({ kind, objectId: id, name, clientId, zoneId, begins }));
  });
}

/**
 * Also nodes without a verdict: they begin no alert, and keep an open one. Monitors that became silent do not show
 * that a node works.
 */
export async function failingNodes(db: PrismaClient): Promise<Condition[]> {
  const nodes = await db.edgeNode.findMany({
    where: { ...isMonitored, standing: { monitorStatus: { not: 'normal' } } },
    select: {
      id: true,
      name: true,
      zoneId: true,
      zone: { select: { clientId: true } },
      standing: { select: { monitorStatus: true } },
    },
  });
  return nodes.map(({ id, name, zoneId, zone: { clientId }, standing }) => ({
    kind: 'nodesFailingMonitors',
    objectId: id,
    name,
    clientId,
    zoneId,
    begins: standing?.monitorStatus === 'error',
  }));
}

export async function offlineMonitors(db: PrismaClient, now: Date): Promise<Condition[]> {
  const state = { select: { lastSeenAt: true } } as const;
  const select = { id: true, name: true, clientId: true, joinedAt: true, state } as const;
  const monitors = await db.monitorNode.findMany({ where: isMonitorOffline(true, now), select });
  return monitors.map(({ id, name, clientId, joinedAt, state: last }) => ({
    kind: 'monitorsOffline',
    objectId: id,
    name,
    clientId,
    zoneId: null,
    // A machine that was replaced has the last report of the one before.
    begins: now.getTime() - Math.max(joinedAt?.getTime() ?? 0, last?.lastSeenAt.getTime() ?? 0) >= MONITOR_ALERT_MS,
  }));
}

export async function stoppedRollouts(db: PrismaClient, now: Date): Promise<Condition[]> {
  const select = { id: true, title: true, clientId: true } as const;
  const rollouts = await db.rollout.findMany({ where: isRolloutStopped(now), select });
  return rollouts.map(({ id, title, clientId }) => ({
    kind: 'rolloutsStopped',
    objectId: id,
    name: title,
    clientId,
    zoneId: null,
    begins: true,
  }));
}

const siteKinds = AlertKind.options.flatMap((kind) => SiteAttention.safeParse(kind).data ?? []);

/** Rows of all kinds of sites, with the columns of raise-alerts.job.ts. */
export const siteConditions = (now: Date): Sql =>
  siteKinds
    .map((kind): Sql => {
      const { table, name, condition } = rowsOf(kind, now);
      const ofSite = sql`${name} AS name, s.client_id, s.zone_id, s.id AS site_id, s.name AS site_name, s.owner_id, TRUE AS begins`;
      if (kind === 'sitesUnpublished')
        return sql`SELECT ${kind}::text AS kind, s.id AS object_id, ${ofSite} FROM sites s
          WHERE s.zone_id IN (SELECT zone_id FROM outbox WHERE failed_at IS NOT NULL) AND ${condition}`;
      return sql`SELECT ${kind}::text AS kind, x.id AS object_id, ${ofSite} FROM ${table} x JOIN sites s ON s.id = x.site_id
        WHERE ${kind === 'certificatesFailed' ? certificateFails : condition}`;
    })
    .reduce((all, next) => (all === nothing ? next : sql`${all} UNION ALL ${next}`), nothing);

/** A retry does not end the alert, but a success does, and a new order by a person. */
const certificateFails = sql`(x.status = 'fail' OR (x.status = 'processing' AND x.failures > 0))`;
