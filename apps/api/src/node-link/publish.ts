// Publishes one zone once: compiles what the outbox names, stores it with new revisions, and pushes it. The caller
// holds the zone's lock throughout, so documents leave in order of their revisions.
import { sha256, toggle } from '@edgeloom/contract/edge/digest.ts';
import { DocKey } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry } from '@edgeloom/contract/edge/messages.ts';
import type { PublishError } from '@edgeloom/contract/sites/sites.ts';
import type { PoolClient } from 'pg';
import type { Bus } from '../core/bus.ts';
import type { LinkLog } from './log.ts';
import { compileKeys, DocumentTooLargeError } from './load.ts';
import type { Compiled, Compiler } from './load.ts';
import type { Quarantine } from './quarantine.ts';
import { pushesOf, sendPushes } from './push.ts';
import { inTransaction } from './transactions.ts';

export interface Publishing {
  compiler: Compiler;
  bus: () => Bus | null;
  quarantine: Quarantine;
  log: LinkLog;
}

interface Zone {
  revision: number;
  published: number;
  digest: string;
}

const BATCH = 5000;

/** Returns whether there may be more to do. */
export async function publishOnce(link: Publishing, client: PoolClient, zoneId: string): Promise<boolean> {
  const zone = await readZone(client, zoneId);
  if (zone === null) return forgetZone(client, zoneId);

  const taken = await readChanges(client, zoneId, link.quarantine.keysOf(zoneId));
  // The outbox is read before the tables, so the rows are at least as new as the changes.
  const compiled = await compileKeys(client, link.compiler, zoneId, [...new Set(taken.map(({ key }) => key))]);
  const sound = withoutBroken(link, zoneId, compiled);
  await storeErrors(client, zoneId, compiled);
  const done = taken.filter(({ key }) => sound.has(key) || !DocKey.safeParse(key).success);
  const stored = done.length > 0 ? await store(client, zoneId, zone, sound, done) : { zone, docs: [] };

  await push(link, client, zoneId, stored.zone, zone.published === zone.revision ? stored.docs : null);
  return taken.length === BATCH;
}

async function readZone(client: PoolClient, zoneId: string): Promise<Zone | null> {
  const { rows } = await client.query<Zone>(
    'SELECT revision, published_revision AS published, digest FROM zones WHERE id = $1',
    [zoneId],
  );
  return rows[0] ?? null;
}

/** The zone was deleted. */
async function forgetZone(client: PoolClient, zoneId: string): Promise<false> {
  await client.query('DELETE FROM outbox WHERE zone_id = $1', [zoneId]);
  await client.query('DELETE FROM edge_documents WHERE zone_id = $1', [zoneId]);
  return false;
}

interface Change {
  id: string;
  key: string;
}

async function readChanges(client: PoolClient, zoneId: string, without: string[]): Promise<Change[]> {
  const { rows } = await client.query<Change>(
    'SELECT id, key FROM outbox WHERE zone_id = $1 AND NOT key = ANY($2) ORDER BY id LIMIT $3',
    [zoneId, without, BATCH],
  );
  return rows;
}

/** Documents that fail to compile stay in the outbox. Nodes keep the last good version. */
function withoutBroken({ quarantine, log }: Publishing, zoneId: string, compiled: Compiled[]) {
  const sound = new Map<string, string | null>();
  for (const result of compiled) {
    if ('fault' in result) {
      const retryInMs = quarantine.add(zoneId, result.key);
      log.error({ err: result.fault, zone: zoneId, key: result.key, retryInMs }, 'a document could not be compiled');
    } else {
      quarantine.release(zoneId, result.key);
      sound.set(result.key, result.body);
    }
  }
  return sound;
}

/** Shown with the site (sites.queries.ts) until the document is published. */
async function storeErrors(client: PoolClient, zoneId: string, compiled: readonly Compiled[]) {
  const failed = compiled.filter((result) => 'fault' in result);
  if (failed.length === 0) return;
  await client.query(
    `UPDATE outbox o SET error = f.error, failed_at = coalesce(o.failed_at, now()) FROM unnest($2::text[], $3::text[]) AS f(key, error)
     WHERE o.zone_id = $1 AND o.key = f.key AND o.error IS DISTINCT FROM f.error`,
    [zoneId, failed.map(({ key }) => key), failed.map(({ fault }) => publishErrorOf(fault))],
  );
}

/** Customers see it, so internal errors are only logged. */
const publishErrorOf = (fault: unknown): PublishError =>
  fault instanceof DocumentTooLargeError ? 'tooLarge' : 'notCompiled';

async function store(
  client: PoolClient,
  zoneId: string,
  { revision: before, published, digest: digestBefore }: Zone,
  bodies: ReadonlyMap<string, string | null>,
  done: readonly Change[],
): Promise<{ zone: Zone; docs: DocEntry[] }> {
  return inTransaction(client, async () => {
    const known = await readHashes(client, zoneId, [...bodies.keys()]);
    const docs: DocEntry[] = [];
    let digest = digestBefore;
    // Removed documents come last, after those that stop naming them.
    for (const [key, body] of [...bodies].toSorted(([, a], [, b]) => Number(a === null) - Number(b === null))) {
      const hash = sha256(body ?? '');
      const old = known.get(key) ?? null;
      if (body === null ? old === null : old === hash) continue;
      docs.push({ key, revision: before + docs.length + 1, sha256: hash, body });
      // The zone's digest excludes documents of single nodes. Each node adds its own.
      if (key.startsWith('node/')) continue;
      if (old !== null) digest = toggle(digest, key, old);
      if (body !== null) digest = toggle(digest, key, hash);
    }
    const revision = before + docs.length;
    if (docs.length > 0) {
      await client.query(
        `INSERT INTO edge_documents (zone_id, key, revision, sha256, body)
         SELECT $1, * FROM unnest($2::text[], $3::int[], $4::text[], $5::text[])
         ON CONFLICT (zone_id, key) DO UPDATE SET
           revision = excluded.revision, sha256 = excluded.sha256, body = excluded.body, updated_at = now()`,
        [
          zoneId,
          docs.map((d) => d.key),
          docs.map((d) => d.revision),
          docs.map((d) => d.sha256),
          docs.map((d) => d.body),
        ],
      );
      const { rowCount } = await client.query(
        'UPDATE zones SET revision = $2, digest = $3 WHERE id = $1 AND revision = $4',
        [zoneId, revision, digest, before],
      );
      if (rowCount !== 1) throw new Error('the zone changed under its lock');
    }
    await client.query('DELETE FROM outbox WHERE id = ANY($1::bigint[])', [done.map(({ id }) => id)]);
    await markJobs(client, zoneId, [...bodies.keys()]);
    return { zone: { revision, published, digest }, docs };
  });
}

/** Existing documents only. */
async function readHashes(client: PoolClient, zoneId: string, keys: string[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ key: string; sha256: string }>(
    'SELECT key, sha256 FROM edge_documents WHERE zone_id = $1 AND key = ANY($2) AND body IS NOT NULL',
    [zoneId, keys],
  );
  return new Map(rows.map(({ key, sha256 }) => [key, sha256]));
}

/** Jobs waiting for documents learn the revision once none is in the outbox. */
const markJobs = (client: PoolClient, zoneId: string, keys: string[]) =>
  client.query(
    `UPDATE jobs j
     SET revision = coalesce((SELECT max(e.revision) FROM edge_documents e WHERE e.zone_id = $1 AND e.key = ANY(j.doc_keys)), 0)
     FROM sites s
     WHERE s.id = j.site_id AND s.zone_id = $1
       AND j.state = 'processing' AND j.revision IS NULL AND j.doc_keys && $2::text[]
       AND NOT EXISTS (SELECT FROM outbox o WHERE o.zone_id = $1 AND o.key = ANY(j.doc_keys))`,
    [zoneId, keys],
  );

/** Without a bus documents wait in the database for the next publish. */
async function push(link: Publishing, client: PoolClient, zoneId: string, zone: Zone, storedDocs: DocEntry[] | null) {
  const bus = link.bus();
  if (zone.published === zone.revision || !bus?.isUp()) return;
  const docs = storedDocs ?? (await readUnpushed(client, zoneId, zone.published));
  const maxPayload = bus.nodes.info?.max_payload ?? 1024 * 1024;
  await sendPushes(bus.nodes, pushesOf(zoneId, zone.published, zone.revision, docs, maxPayload, zone.digest));
  await client.query('UPDATE zones SET published_revision = $2 WHERE id = $1', [zoneId, zone.revision]);
}

async function readUnpushed(client: PoolClient, zoneId: string, published: number): Promise<DocEntry[]> {
  const { rows } = await client.query<DocEntry>(
    `SELECT key, revision, sha256, body FROM edge_documents WHERE zone_id = $1 AND revision > $2
     ORDER BY revision LIMIT 10001`,
    [zoneId, published],
  );
  return rows;
}
