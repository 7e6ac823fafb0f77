// Stores a fetched list in place of the last copy, or why the fetch failed.
import { MAX_SOURCE_ENTRIES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { randomUUIDv7 } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { FetchedList, ListRequest } from './fetch.ts';
import { entriesOf, lacksMost, withStoredEnds, type ListChunk } from './chunks.ts';
import { parseInWorker } from './parse-in-worker.ts';
import type { ListCopy } from './parse.worker.ts';

export interface DueSource extends Pick<ListRequest, 'kind' | 'url' | 'etag'> {
  id: string;
  /** Null: the source belongs to a zone. */
  siteId: string | null;
  zoneId: string | null;
}

/** Does nothing if the source was removed, or its URL or ETag changed since. */
export async function storeFetched(pool: Pool, source: DueSource, fetched: FetchedList): Promise<void> {
  const parsed = fetched.kind === 'text' ? await parseInWorker({ ...fetched, kind: source.kind }) : null;
  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      if (!(await lockOwnerAndCheckSource(client, source))) return;
      if (fetched.kind === 'error') return storeError(client, source, fetched.error, fetched.status);
      if (fetched.kind === 'unchanged' || parsed === null) return storeSuccess(client, source);
      if (typeof parsed === 'string') return storeError(client, source, parsed, null);
      if (entriesOf(parsed.chunks).length + (await countOthers(client, source)) > MAX_SOURCE_ENTRIES)
        return storeError(client, source, 'tooManyEntries', null);
      const stored = await storedChunks(client, source);
      if (
        source.kind === 'crowdSec' &&
        lacksMost(parsed.chunks, stored, fetched.receivedAt) &&
        (await lastError(client, source)) !== 'tooFewEntries'
      )
        return storeError(client, source, 'tooFewEntries', null);
      await storeCopy(client, source, { ...parsed, etag: fetched.etag, stored });
      await storeSuccess(client, source);
    }),
  );
}

/**
 * Locks the site or zone like the calls do, so that two sources cannot exceed its limit together. A locked zone is not
 * published meanwhile, that is, while up to 100,000 entries are compared.
 */
async function lockOwnerAndCheckSource(client: PoolClient, { id, siteId, zoneId, url, etag }: DueSource) {
  const owner = siteId === null ? 'zones' : 'sites';
  await client.query(`SELECT FROM ${owner} WHERE id = $1 FOR NO KEY UPDATE`, [siteId ?? zoneId]);
  const { rowCount } = await client.query(
    `SELECT FROM list_sources s JOIN list_source_states t ON t.source_id = s.id
     WHERE s.id = $1 AND s.url = $2 AND t.etag IS NOT DISTINCT FROM $3`,
    [id, url, etag],
  );
  return rowCount === 1;
}

async function countOthers(client: PoolClient, { id, siteId, zoneId }: DueSource): Promise<number> {
  const { rows } = await client.query<{ entries: number }>(
    `SELECT coalesce(sum(cardinality(value)), 0)::int AS entries FROM list_source_chunks
     WHERE (site_id = $1 OR zone_id = $2) AND source_id <> $3`,
    [siteId, zoneId, id],
  );
  return rows[0]?.entries ?? 0;
}

const storeError = async (client: PoolClient, { id }: DueSource, error: ListSourceError, status: number | null) =>
  void (await client.query(
    `UPDATE list_source_states SET checked_at = now(), error = $2, status = $3, failures = failures + 1
     WHERE source_id = $1`,
    [id, error, status],
  ));

const storeSuccess = async (client: PoolClient, { id }: DueSource) =>
  void (await client.query(
    `UPDATE list_source_states SET checked_at = now(), fetched_at = now(), error = NULL, status = NULL, failures = 0
     WHERE source_id = $1`,
    [id],
  ));

interface StoredChunk extends ListChunk {
  position: number;
}
async function storedChunks(client: PoolClient, { id }: DueSource): Promise<StoredChunk[]> {
  const { rows } = await client.query<StoredChunk>(
    'SELECT position, value, expires FROM list_source_chunks WHERE source_id = $1 ORDER BY position',
    [id],
  );
  return rows;
}

async function lastError(client: PoolClient, { id }: DueSource): Promise<string | null> {
  const { rows } = await client.query<{ error: string | null }>(
    'SELECT error FROM list_source_states WHERE source_id = $1',
    [id],
  );
  return rows[0]?.error ?? null;
}

async function storeCopy(
  client: PoolClient,
  source: DueSource,
  { chunks, rejected, etag, stored }: ListCopy & { etag: string | null; stored: readonly StoredChunk[] },
) {
  const entries = entriesOf(chunks);
  const before = new Set(entriesOf(stored));
  const added = entries.filter((entry) => !before.has(entry)).length;
  const removed = before.size + added - entries.length;
  await client.query('UPDATE list_source_states SET etag = $2, rejected = $3, entries = $4 WHERE source_id = $1', [
    source.id,
    etag,
    rejected,
    entries.length,
  ]);
  await storeChunks(client, source, withStoredEnds(chunks, stored), stored);
  if (added + removed === 0) return;
  await client.query('UPDATE list_source_states SET added = $2, removed = $3 WHERE source_id = $1', [
    source.id,
    added,
    removed,
  ]);
}

/** Unchanged chunks are not written, because triggers publish each written chunk. */
async function storeChunks(
  client: PoolClient,
  { id, siteId, zoneId }: DueSource,
  chunks: readonly ListChunk[],
  stored: readonly StoredChunk[],
) {
  const wanted = new Set(chunks.map(textOf));
  const known = new Set(stored.map(textOf));
  const gone = stored.filter((chunk) => !wanted.has(textOf(chunk))).map(({ position }) => position);
  let next = (stored.at(-1)?.position ?? -1) + 1;
  for (const { value, expires } of chunks.filter((chunk) => !known.has(textOf(chunk))))
    // A new chunk takes the row of one that is gone, with its id, so that nodes replace their list.
    await client.query(
      `INSERT INTO list_source_chunks (id, source_id, site_id, zone_id, position, value, expires)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (source_id, position) DO UPDATE SET value = excluded.value, expires = excluded.expires`,
      [randomUUIDv7(), id, siteId, zoneId, gone.shift() ?? next++, value, JSON.stringify(expires)],
    );
  await client.query('DELETE FROM list_source_chunks WHERE source_id = $1 AND position = ANY($2)', [id, gone]);
}
const textOf = ({ value, expires }: ListChunk) => [...value, ...expires.map(({ ip, at }) => `${ip} ${at}`)].join('\n');
