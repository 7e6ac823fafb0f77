// The history of alerts. Kinds of a newer version are left out: after a rollback of the API they have no text.
import { AlertKind, alertKinds, type Alert, type AlertQuery } from '@edgeloom/contract/alerts/alerts.ts';
import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { Ctx } from '../../core/ctx.ts';
import { pageOf } from '../../core/page.ts';
import { permissionOf } from '../attention/permissions.ts';

export async function list({ actor, db }: Ctx, query: AlertQuery): Promise<{ data: Alert[]; total: number }> {
  const { kinds = AlertKind.options, isOpen } = query;
  const where = {
    kind: { in: kinds.filter((kind) => actor.permissions.has(permissionFor(kind))) },
    ...(isOpen !== undefined && { endedAt: isOpen ? null : { not: null } }),
  };
  const [rows, total] = await Promise.all([db.alert.findMany({ where, ...pageOf(query) }), db.alert.count({ where })]);
  // An alert stays with the customer that had the site, and the site may have another one since.
  const siteIds = rows.flatMap(({ siteId }) => siteId ?? []);
  const sites = await db.site.findMany({ where: { id: { in: siteIds } }, select: { id: true } });
  const data = rows.map(({ id, kind: text, name, siteId, siteName, beganAt, endedAt }) => {
    const kind = AlertKind.parse(text);
    const siteID = sites.find((site) => site.id === siteId)?.id ?? null;
    return { id, kind, severity: alertKinds[kind].severity, name, siteID, siteName, beganAt, endedAt };
  });
  return { data, total };
}

/** As in the list "Needs attention": names of objects are shown to those who may read the objects. */
function permissionFor(kind: AlertKind): Permission {
  const siteKind = SiteAttention.safeParse(kind).data;
  if (siteKind !== undefined) return permissionOf[siteKind];
  if (kind === 'monitorsOffline') return 'monitor:read';
  return kind === 'rolloutsStopped' ? 'upgrade:read' : 'node:read';
}
