// Finds what an operator's alerts are raised for now: the conditions of the attention list, one for each object.
import { AlertKind } from '@edgeloom/contract/alerts/alerts.ts';
import { SiteAttention } from '@edgeloom/contract/attention/attention.ts';
import { permissionsOf } from '@edgeloom/contract/permissions.ts';
import { anonymous, type Actor } from '../core/actor.ts';
import type { ScopedDb } from '../core/scope.ts';
import { sql, type Sql } from '../core/sql.ts';
import { rowsOf } from '../modules/attention/conditions.ts';
import { nodeConditions, stoppedRollouts } from '../modules/attention/operator-conditions.ts';

interface Condition {
  kind: AlertKind;
  objectId: string;
  name: string;
  zoneId: string | null;
  siteId: string | null;
}

/** Reads everything of an operator. */
export const operatorActor = (clientId: string): Actor => ({
  ...anonymous,
  kind: 'client',
  clientId,
  isRoot: true,
  permissions: new Set(permissionsOf('client')),
});

export async function findConditions(db: ScopedDb, now: () => Date): Promise<Condition[]> {
  const [sites, nodes, rollouts] = await Promise.all([
    siteConditions(db, now()),
    nodeConditions({ db, now }),
    stoppedRollouts({ db, now }),
  ]);
  return [
    ...sites,
    ...nodes.flatMap(({ kind, id, zoneId, name }) => {
      const alertKind = AlertKind.safeParse(kind).data;
      return alertKind === undefined ? [] : [{ kind: alertKind, objectId: id, name, zoneId, siteId: null }];
    }),
    ...rollouts.map(({ id, name }) => ({
      kind: 'rolloutsStopped' as const,
      objectId: id,
      name,
      zoneId: null,
      siteId: null,
    })),
  ];
}

const siteKinds = SiteAttention.options.filter(
  (kind): kind is SiteAttention & AlertKind => AlertKind.safeParse(kind).success,
);

/** One statement for all kinds. */
const siteConditions = (db: ScopedDb, now: Date): Promise<Condition[]> =>
  db.$read<Condition>(({ site }) => {
    const found = (kind: SiteAttention): Sql => {
      const { table, name, condition } = rowsOf(kind, now);
      const isOfSite = kind === 'sitesUnpublished';
      const from = isOfSite ? sql`sites s` : sql`${table} x JOIN sites s ON s.id = x.site_id`;
      return sql`SELECT ${kind}::text AS kind, ${isOfSite ? sql`s.id` : sql`x.id`} AS "objectId", ${name} AS name,
        s.zone_id AS "zoneId", s.id AS "siteId" FROM ${from} WHERE ${site} AND ${condition}`;
    };
    const [first, ...others] = siteKinds.map(found);
    return others.reduce((all, next) => sql`${all} UNION ALL ${next}`, first ?? sql``);
  });
