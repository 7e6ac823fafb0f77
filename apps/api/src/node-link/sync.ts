// Returns pages of the documents that a node lacks, after a gap, a start or a reconnect.
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry, SyncReply, SyncRequest } from '@edgeloom/contract/edge/messages.ts';
import type { Pool } from 'pg';

const PAGE_DOCS = 1000;
const PAGE_BYTES = 1024 * 1024;

/** Null: no such node. `maxBytes`: the bus' largest message. */
export async function syncPage(
  pool: Pool,
  nodeId: string,
  request: SyncRequest,
  maxBytes: number,
): Promise<SyncReply | null> {
  const rows = await readPage(pool, nodeId, request, Math.min(PAGE_BYTES, maxBytes / 4));
  const [first] = rows;
  if (!first) return null;
  const docs: DocEntry[] = [];
  let reached = first.from;
  for (const { key, revision, sha256, body } of rows) {
    if (key === null || revision === null || sha256 === null) continue;
    reached = revision;
    // An oversized document is omitted, and the digest shows that. If sent it would never arrive and block the others.
    const fits =
      body === null || body.length * 6 < maxBytes || Buffer.byteLength(JSON.stringify(body)) < maxBytes - 4096;
    if (fits) docs.push({ key, revision, sha256, body });
  }
  const more = first.last !== null && reached < first.last;
  return { schema: DOCUMENT_SCHEMA, full: first.full, docs, revision: more ? reached : first.zoneRevision, more };
}

interface PageRow {
  zoneRevision: number;
  full: boolean;
  from: number;
  /** The node's last document after `from`. Null: none. */
  last: number | null;
  key: string | null;
  revision: number | null;
  sha256: string | null;
  body: string | null;
}

/** One statement, so that documents and revision are consistent. The first document is included whatever its size. */
async function readPage(
  pool: Pool,
  nodeId: string,
  { revision, full }: SyncRequest,
  bytes: number,
): Promise<PageRow[]> {
  const { rows } = await pool.query<PageRow>(
    `WITH asked AS (
       SELECT z.id, z.revision, ($2 = 0 OR $2 > z.revision OR $3 OR $2 < z.tombstone_floor) AS full,
         CASE WHEN $2 > z.revision OR (NOT $3 AND $2 < z.tombstone_floor) THEN 0 ELSE $2 END AS from
       FROM nodes n JOIN zones z ON z.id = n.zone_id
       WHERE n.id = $1 AND n.public_key IS NOT NULL
     ), page AS (
       SELECT d.*, sum(octet_length(body)) OVER (ORDER BY d.revision) - coalesce(octet_length(body), 0) AS before
       FROM asked a, LATERAL (
         SELECT * FROM edge_documents
         WHERE zone_id = a.id AND revision > a.from AND (key NOT LIKE 'node/%' OR key = 'node/' || $1::text)
         ORDER BY revision LIMIT $4
       ) d
     )
     SELECT a.revision AS "zoneRevision", a.full, a.from, p.key, p.revision, p.sha256, p.body, (
         SELECT revision FROM edge_documents
         WHERE zone_id = a.id AND revision > a.from AND (key NOT LIKE 'node/%' OR key = 'node/' || $1::text)
         ORDER BY revision DESC LIMIT 1
       ) AS last
     FROM asked a LEFT JOIN page p ON coalesce(p.before, 0) <= $5
     ORDER BY p.revision`,
    [nodeId, revision, full, PAGE_DOCS, Math.floor(bytes)],
  );
  return rows;
}
