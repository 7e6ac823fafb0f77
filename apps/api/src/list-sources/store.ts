// Replaces the copy of a subscribed list by a new one, or records why there is none.
import { MAX_SOURCE_ENTRIES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { randomUUIDv7 } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import type { FetchedList } from './fetch.ts';
import { parseList } from './parse.ts';

/** A document of this many entries is below 2 MB, also of IPv6 addresses. */
const CHUNK_ENTRIES = 20_000;

export interface DueSource {
  id: string;
  siteId: string;
  url: string;
  etag: string | null;
}

/** Does nothing if the source was removed, or has another URL or copy since. */
export async function storeFetched(pool: Pool, source: DueSource, fetched: FetchedList): Promise<void> {
  const parsed = fetched.kind === 'text' ? await parseList(fetched.text, MAX_SOURCE_ENTRIES) : null;
  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      if (!(await lockSource(client, source))) return;
      if (fetched.kind === 'error') return storeError(client, source, fetched.error, fetched.status);
      if (fetched.kind === 'unchanged' || parsed === null) return storeSuccess(client, source);
      if (typeof parsed === 'string') return storeError(client, source, parsed, null);
      if (parsed.entries.length + (await countOthers(client, source)) > MAX_SOURCE_ENTRIES)
        return storeError(client, source, 'tooManyEntries', null);
      await storeCopy(client, source, { ...parsed, etag: fetched.etag });
      await storeSuccess(client, source);
    }),
  );
}

/** Locks the site like the calls do, so that two sources cannot exceed the site's limit together. */
async function lockSource(client: PoolClient, { id, siteId, url, etag }: DueSource): Promise<boolean> {
  await client.query('SELECT FROM sites WHERE id = $1 FOR NO KEY UPDATE', [siteId]);
  const { rowCount } = await client.query(
    `SELECT FROM list_sources s JOIN list_source_states t ON t.source_id = s.id
     WHERE s.id = $1 AND s.url = $2 AND t.etag IS NOT DISTINCT FROM $3`,
    [id, url, etag],
  );
  return rowCount === 1;
}

async function countOthers(client: PoolClient, { id, siteId }: DueSource): Promise<number> {
  const { rows } = await client.query<{ entries: number }>(
    `SELECT coalesce(sum(cardinality(value)), 0)::int AS entries FROM list_source_chunks
     WHERE site_id = $1 AND source_id <> $2`,
    [siteId, id],
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

interface Copy {
  entries: string[];
  rejected: number;
  etag: string | null;
}

async function storeCopy(client: PoolClient, { id, siteId }: DueSource, { entries, rejected, etag }: Copy) {
  const { rows: stored } = await client.query<{ value: string[] }>(
    'SELECT value FROM list_source_chunks WHERE source_id = $1 ORDER BY position',
    [id],
  );
  const before = new Set(stored.flatMap(({ value }) => value));
  const added = entries.filter((entry) => !before.has(entry)).length;
  const removed = before.size + added - entries.length;
  await client.query('UPDATE list_source_states SET etag = $2, rejected = $3, entries = $4 WHERE source_id = $1', [
    id,
    etag,
    rejected,
    entries.length,
  ]);
  // Equal chunks stay unwritten, so that nodes receive nothing.
  if (added + removed === 0) return;
  await client.query('UPDATE list_source_states SET added = $2, removed = $3 WHERE source_id = $1', [
    id,
    added,
    removed,
  ]);
  await storeChunks(client, { id, siteId }, entries);
}

/** Chunks keep their ids, which are the ids of nodes' lists. */
async function storeChunks(client: PoolClient, { id, siteId }: Pick<DueSource, 'id' | 'siteId'>, entries: string[]) {
  const chunks = Math.ceil(entries.length / CHUNK_ENTRIES);
  for (let position = 0; position < chunks; position++)
    await client.query(
      `INSERT INTO list_source_chunks AS c (id, source_id, site_id, position, value) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (source_id, position) DO UPDATE SET value = excluded.value WHERE c.value <> excluded.value`,
      [randomUUIDv7(), id, siteId, position, entries.slice(position * CHUNK_ENTRIES, (position + 1) * CHUNK_ENTRIES)],
    );
  await client.query('DELETE FROM list_source_chunks WHERE source_id = $1 AND position >= $2', [id, chunks]);
}
