// A zone change in progress: the nodes that try it, and its end. Rows contain the new state, so a rollback writes back
// the live version.
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { CodedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import { contentIn, type ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { ClientBase } from 'pg';
import * as z from 'zod';
import { settingsOf, withPorts } from './zone-content.ts';

/** Ports that a change removed from sites or renumbered. A rollback restores them. */
export const RetainedPorts = z.array(z.object({ siteID: z.string(), portID: z.string(), port: z.number() }));
export type RetainedPorts = z.output<typeof RetainedPorts>;

/** The reason of a rollback, as text and as data. */
interface Why {
  note: string;
  messageCode: CodedMessage | null;
}

/** Replaces the set of nodes that try the change. */
export async function setTrialNodes(
  db: ClientBase,
  zoneId: string,
  version: number,
  nodes: readonly string[],
): Promise<void> {
  await db.query(
    `UPDATE zone_versions SET nodes = $3::uuid[] WHERE zone_id = $1 AND version = $2 AND state = 'trial'`,
    [zoneId, version, nodes],
  );
  await publish(db, zoneId, 'trial');
}

/** All nodes use it from now on. */
export async function promote(db: ClientBase, zoneId: string, version: number): Promise<void> {
  const retained = await settle(db, zoneId, version, 'past', { note: '', messageCode: null });
  if (retained === null) return;
  await db.query(`UPDATE zone_versions SET state = 'past' WHERE zone_id = $1 AND state = 'live'`, [zoneId]);
  await db.query(`UPDATE zone_versions SET state = 'live' WHERE zone_id = $1 AND version = $2`, [zoneId, version]);
  await publish(db, zoneId, 'zone', 'trial', ...sitesOf(retained));
}

/** No node uses it from now on. */
export async function withdraw(db: ClientBase, zoneId: string, version: number, why: Why): Promise<void> {
  const retained = await settle(db, zoneId, version, 'withdrawn', why);
  if (retained === null) return;
  const { rows } = await db.query<{ content: unknown }>(
    `SELECT content FROM zone_versions WHERE zone_id = $1 AND state = 'live'`,
    [zoneId],
  );
  const live = contentIn(rows[0]?.content);
  await restorePorts(db, zoneId, live.ports);
  const { rows: ports } = await db.query<ZoneContent['ports'][number]>(
    'SELECT id, port, tls FROM zone_ports WHERE zone_id = $1 ORDER BY port',
    [zoneId],
  );
  const content = withPorts(live, ports);
  await db.query('UPDATE zones SET settings = $2, force_ssl_redirect_code = $3, updated_at = now() WHERE id = $1', [
    zoneId,
    settingsOf(content),
    content.forceSSLRedirectCode,
  ]);
  // During the next trial, nodes outside of it are served the live version, which must not keep the ports of others.
  await db.query(`UPDATE zone_versions SET content = $2 WHERE zone_id = $1 AND state = 'live'`, [zoneId, content]);
  await db.query(
    `INSERT INTO site_ports (site_id, zone_port_id)
     SELECT (k->>'siteID')::uuid, (k->>'portID')::uuid FROM jsonb_array_elements($2::jsonb) k
     JOIN sites s ON s.id = (k->>'siteID')::uuid AND s.zone_id = $1 JOIN zone_ports p ON p.id = (k->>'portID')::uuid
     ON CONFLICT DO NOTHING`,
    [zoneId, JSON.stringify(retained)],
  );
  await publish(db, zoneId, 'zone', 'trial', ...sitesOf(retained));
}

/** Null when it is settled already. Locks the zone before its versions. */
async function settle(
  db: ClientBase,
  zoneId: string,
  version: number,
  state: string,
  { note, messageCode }: Why,
): Promise<RetainedPorts | null> {
  // Not FOR UPDATE: writers of blocks have locked the set and need a key-share lock on the zone.
  await db.query('SELECT FROM zones WHERE id = $1 FOR NO KEY UPDATE', [zoneId]);
  const { rows } = await db.query<{ ports: unknown }>(
    `UPDATE zone_versions SET state = $3, note = $4, message_code = $5, settled_at = now()
     WHERE zone_id = $1 AND version = $2 AND state = 'trial' RETURNING retained_ports AS ports`,
    [zoneId, version, state, note.slice(0, 1000), messageCode],
  );
  return rows[0] ? RetainedPorts.parse(rows[0].ports) : null;
}

/**
 * A port that another site uses by now stays with that site. Renumbered ports make room first, since numbers may swap.
 */
async function restorePorts(db: ClientBase, zoneId: string, ports: ZoneContent['ports']): Promise<void> {
  const ids = ports.map(({ id }) => id);
  await db.query('DELETE FROM zone_ports WHERE zone_id = $1 AND NOT id = ANY($2::uuid[])', [zoneId, ids]);
  await db.query(
    `UPDATE zone_ports z SET port = -z.port FROM unnest($2::uuid[], $3::int[]) w (id, port)
     WHERE z.zone_id = $1 AND z.id = w.id AND z.port <> w.port`,
    [zoneId, ids, ports.map(({ port }) => port)],
  );
  for (const { id, port, tls } of ports)
    await db.query(
      `INSERT INTO zone_ports (id, zone_id, port, tls) SELECT $2, $1, $3, $4
       WHERE NOT EXISTS (SELECT FROM port_claims c WHERE c.zone_id = $1 AND c.port = $3 AND c.holder <> $2)
       ON CONFLICT (id) DO UPDATE SET port = excluded.port, tls = excluded.tls`,
      [zoneId, id, port, tls],
    );
  // A port whose former number is taken keeps its current number, or is deleted if that is taken too.
  await db.query(
    `UPDATE zone_ports z SET port = -port WHERE zone_id = $1 AND port < 0
       AND NOT EXISTS (SELECT FROM port_claims c WHERE c.zone_id = $1 AND c.port = -z.port)`,
    [zoneId],
  );
  await db.query('DELETE FROM zone_ports WHERE zone_id = $1 AND port < 0', [zoneId]);
}

const sitesOf = (retained: RetainedPorts) => retained.map(({ siteID }) => siteKey(siteID));

const publish = (db: ClientBase, zoneId: string, ...keys: string[]) =>
  db.query('INSERT INTO outbox (zone_id, key) SELECT $1, key FROM unnest($2::text[]) key', [
    zoneId,
    [...new Set(keys)],
  ]);
