// Finds names of objects by id for the operation log, whose calls name objects of many kinds. Only objects that the
// actor may see have a name, so a customer's log never names objects of another customer.
import type { Actor } from './actor.ts';
import type { ScopedDb } from './scope.ts';
import { sql } from './sql.ts';

export interface NamedObject {
  /** The table name, as used by the audit log. */
  kind: string;
  id: string;
  name: string;
}

export async function findNamedObjects({ db, actor }: { db: ScopedDb; actor: Actor }, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const { id, clientId, rootId, kind, isRoot } = actor;
  const isOperator = kind === 'client';
  return db.$read<NamedObject>(
    ({ site, zone, account }) => sql`WITH wanted AS MATERIALIZED (SELECT DISTINCT unnest(${ids}::uuid[]) AS id)
      SELECT found.kind, found.id, left(found.name, 256) AS name FROM (
        SELECT 'sites' AS kind, s.id, s.name FROM wanted JOIN sites s USING (id) WHERE ${site}
        UNION ALL SELECT 'domains', d.id, d.name FROM wanted JOIN domains d USING (id) JOIN sites s ON s.id = d.site_id WHERE ${site}
        UNION ALL SELECT 'certificates', c.id, c.name FROM wanted JOIN certificates c USING (id) JOIN sites s ON s.id = c.site_id WHERE ${site}
        UNION ALL SELECT 'modules', m.id, m.name FROM wanted JOIN modules m USING (id) JOIN sites s ON s.id = m.site_id WHERE ${site}
        UNION ALL SELECT 'port_rules', p.id, p.port::text FROM wanted JOIN port_rules p USING (id) JOIN sites s ON s.id = p.site_id WHERE ${site}
        UNION ALL SELECT 'zones', z.id, z.name FROM wanted JOIN zones z USING (id) WHERE ${zone}
        UNION ALL SELECT 'zone_ports', p.id, p.port::text FROM wanted JOIN zone_ports p USING (id) JOIN zones z ON z.id = p.zone_id WHERE ${zone}
        UNION ALL SELECT 'nodes', n.id, n.name FROM wanted JOIN nodes n USING (id) JOIN zones z ON z.id = n.zone_id WHERE ${zone}
        UNION ALL SELECT 'groups', g.id, g.name FROM wanted JOIN groups g USING (id) JOIN zones z ON z.id = g.zone_id WHERE ${zone}
        UNION ALL SELECT 'virtual_nodes', v.id, v.name FROM wanted JOIN virtual_nodes v USING (id) JOIN zones z ON z.id = v.zone_id WHERE ${zone}
        UNION ALL SELECT 'products', p.id, p.name FROM wanted JOIN products p USING (id) JOIN zones z ON z.id = p.zone_id WHERE ${zone}
        UNION ALL SELECT 'accounts', a.id, coalesce(nullif(a.name, ''), a.email) FROM wanted JOIN accounts a USING (id) WHERE ${account}
        UNION ALL SELECT 'clients', c.id, c.name FROM wanted JOIN clients c USING (id) WHERE ${kind === 'admin'} OR c.id = ${clientId}
        UNION ALL SELECT 'roles', r.id, r.name FROM wanted JOIN roles r USING (id) WHERE r.owner_id = ${rootId}
        UNION ALL SELECT 'api_tokens', t.id, t.name FROM wanted JOIN api_tokens t USING (id) WHERE t.account_id = ${id}
        UNION ALL SELECT 'passkeys', p.id, p.name FROM wanted JOIN passkeys p USING (id) WHERE p.account_id = ${id}
        UNION ALL SELECT 'announcements', n.id, n.title FROM wanted JOIN announcements n USING (id) WHERE ${isOperator} AND n.client_id = ${clientId}
        UNION ALL SELECT 'brandings', b.id, b.host FROM wanted JOIN brandings b USING (id) WHERE ${isOperator} AND b.client_id = ${clientId}
        UNION ALL SELECT 'cnames', c.id, c.name FROM wanted JOIN cnames c USING (id) WHERE ${isOperator} AND c.client_id = ${clientId}
        UNION ALL SELECT 'rollouts', r.id, r.title FROM wanted JOIN rollouts r USING (id) WHERE ${isOperator && isRoot} AND r.client_id = ${clientId}
      ) found WHERE found.name <> ''`,
  );
}
