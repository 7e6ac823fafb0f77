// The conditions under which a row needs attention. The dashboard's counts and the lists' filters share them.
import type { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { cacheJobKinds } from '@edgeloom/contract/jobs/jobs.ts';
import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { SQL_NULL } from '../../core/json-null.ts';
import { nothing, sql, type Sql } from '../../core/sql.ts';
import type { Prisma } from '../../generated/client.ts';
import { MONITOR_OFFLINE_MS } from '../../monitors/verdict.ts';

const ENDING_DAYS = 14;
const RECENT_HOURS = 24;
const before = (now: Date, hours: number) => new Date(now.getTime() - hours * 3_600_000);
const endingBefore = (now: Date) => before(now, -24 * ENDING_DAYS);

export function certificatesEnding(isEnding: boolean, now: Date): Prisma.CertificateWhereInput {
  const ending = { notAfter: { lte: endingBefore(now) }, domains: { some: {} } };
  return isEnding ? ending : { OR: [{ notAfter: null }, { NOT: ending }] };
}
export function jobsRecent(isRecent: boolean, now: Date): Prisma.JobWhereInput {
  const since = before(now, RECENT_HOURS);
  return isRecent ? { endedAt: { gt: since } } : { OR: [{ endedAt: null }, { endedAt: { lte: since } }] };
}
/** Nodes whose installation, removal or upgrade failed. */
export function hasFailedJob(isFailed: boolean, now: Date): Prisma.EdgeNodeWhereInput {
  const recent = { endedAt: { gt: before(now, RECENT_HOURS) } };
  const failed = {
    OR: [
      { jobs: { some: { ...recent, state: 'failed' } } },
      { rollouts: { some: { ...recent, state: { in: ['failed', 'stuck'] } } } },
    ],
  };
  return isFailed ? failed : { NOT: failed };
}
/** Nodes that deleted lines of their access logs before they were sent. */
export function isLosingLogs(isLosing: boolean, now: Date): Prisma.EdgeNodeWhereInput {
  const since = before(now, RECENT_HOURS);
  return isLosing
    ? { state: { logsLostAt: { gt: since } } }
    : { OR: [{ state: null }, { state: { logsLostAt: null } }, { state: { logsLostAt: { lte: since } } }] };
}
/** Nodes whose verdict is current: steering updates it only in zones with a group, and ignores disabled monitors. */
export const isMonitored = {
  enabled: true,
  monitor: { path: ['enabled'], equals: true },
  zone: {
    groups: { some: {} },
    monitorGroup: { group: { members: { some: { monitor: { enabled: true, joinedAt: { not: null } } } } } },
  },
} satisfies Prisma.EdgeNodeWhereInput;
/** Nodes about which the verdict of their zone's monitors is an error. */
export function isFailingMonitors(isFailing: boolean): Prisma.EdgeNodeWhereInput {
  const failing = { ...isMonitored, standing: { monitorStatus: 'error' } };
  // Without settings of a check, the condition is NULL in SQL, and so is its negation.
  return isFailing ? failing : { OR: [{ monitor: { equals: SQL_NULL } }, { NOT: failing }] };
}
/** Monitors that joined, are enabled, and have not reported for 20 seconds. */
export function isMonitorOffline(isOffline: boolean, now: Date): Prisma.MonitorNodeWhereInput {
  const silentSince = new Date(now.getTime() - MONITOR_OFFLINE_MS);
  const silent = { OR: [{ state: null }, { state: { lastSeenAt: { lt: silentSince } } }] };
  const offline = { enabled: true, joinedAt: { not: null }, ...silent };
  return isOffline ? offline : { NOT: offline };
}
/** A rollout that was stopped by a failed gate. Roll-backs by a person do not count. */
export const isRolloutStopped = (now: Date) =>
  ({
    OR: [
      { state: { in: ['paused', 'rollingBack'] } },
      { state: 'rolledBack', fault: { not: 'person' }, endedAt: { gt: before(now, RECENT_HOURS) } },
    ],
  }) satisfies Prisma.RolloutWhereInput;

/** A domain that forces HTTPS or has HSTS, but has no certificate. Neither is in force until it has one. */
export const isCertificateMissing = (domain: Sql) =>
  sql`(${domain}.certificate_id IS NULL AND (${domain}.force_ssl OR coalesce(${domain}.hsts_max_age_seconds > 0, FALSE)))`;

/** The error of the last document of site `s`, or of an object of the site, that failed to compile. */
export const publishError = sql`(SELECT max(o.error) FROM outbox o WHERE o.failed_at IS NOT NULL AND o.zone_id = s.zone_id AND (
    o.key = 'site/' || s.id
    OR o.key IN (SELECT 'host/' || d.enabled_name FROM domains d WHERE d.site_id = s.id)
    OR o.key IN (SELECT 'module/' || m.id FROM modules m WHERE m.site_id = s.id)
    OR o.key IN (SELECT 'port/' || r.id FROM port_rules r WHERE r.site_id = s.id)
    OR o.key IN (SELECT 'cert/' || c.id FROM certificates c WHERE c.site_id = s.id)))`;

/** Rows `x` of site `s` that need attention, and the column of their name. */
interface Rows {
  table: Sql;
  name: Sql;
  condition: Sql;
}
export const rowsOf = (kind: SiteAttention, now: Date): Rows => kinds[kind](now);
const kinds: Record<SiteAttention, (now: Date) => Rows> = {
  sitesUnpublished: () => ({ table: nothing, name: sql`s.name`, condition: sql`${publishError} IS NOT NULL` }),
  cnameInactive: () => ({
    table: sql`domains`,
    name: sql`x.name`,
    condition: sql`x.enabled AND x.cname_status = 'inactive'`,
  }),
  certificatesMissing: () => ({
    table: sql`domains`,
    name: sql`x.name`,
    condition: sql`x.enabled AND ${isCertificateMissing(sql`x`)}`,
  }),
  certificatesFailed: () => ({ table: sql`certificates`, name: sql`x.name`, condition: sql`x.status = 'fail'` }),
  certificatesEnding: (now) => ({
    table: sql`certificates`,
    name: sql`x.name`,
    condition: sql`x.not_after <= ${endingBefore(now)} AND EXISTS (SELECT 1 FROM domains d WHERE d.certificate_id = x.id)`,
  }),
  // A job that orders certificates fails with a certificate, which certificatesFailed has.
  jobsFailed: (now) => ({
    table: sql`jobs`,
    name: sql`x.title`,
    condition: sql`x.state = 'failed' AND x.ended_at > ${before(now, RECENT_HOURS)} AND x.kind = ANY (${[...cacheJobKinds]}::text[])`,
  }),
  // Kinds of a newer version are left out: after a rollback of the API they have no page.
  modulesUnused: () => ({
    table: sql`modules`,
    name: sql`x.name`,
    condition: sql`x.kind = ANY (${ModuleKind.options}::text[])
      AND NOT EXISTS (SELECT 1 FROM domain_modules a WHERE a.module_id = x.id)`,
  }),
};

/** On `sites s`: sites with at least one of these conditions. */
export function needsAttention(wanted: readonly SiteAttention[], now: Date): Sql {
  let any = sql`FALSE`;
  for (const kind of wanted) {
    const { table, condition } = rowsOf(kind, now);
    any =
      kind === 'sitesUnpublished'
        ? sql`${any} OR ${condition}`
        : sql`${any} OR EXISTS (SELECT 1 FROM ${table} x WHERE x.site_id = s.id AND ${condition})`;
  }
  return sql`(${any})`;
}
