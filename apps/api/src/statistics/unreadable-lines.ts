// Access log lines that failed to parse. They count for the node that sent them, and its operator sees the newest ones.
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { MAX_UNREADABLE_CHARS, MAX_UNREADABLE_LINES, type UnreadableLine } from '@edgeloom/contract/nodes/nodes.ts';
import type { ClientBase } from 'pg';

/** `since`: lines before this time are not stored, in milliseconds since 1970. Infinite: none are. */
export async function storeUnreadable(
  db: ClientBase,
  nodeId: string,
  { kind }: LogBatch,
  texts: readonly string[],
  { now, since }: { now: number; since: number },
): Promise<void> {
  if (texts.length === 0) return;
  const at = new Date(now);
  const lines = texts.slice(-MAX_UNREADABLE_LINES).map((text): UnreadableLine => ({ at, kind, line: printable(text) }));
  await db.query(
    `INSERT INTO unreadable_lines AS u (node_id, count, lines) VALUES ($1, $2, $3)
     ON CONFLICT (node_id) DO UPDATE SET count = u.count + excluded.count, lines = (
       SELECT coalesce(jsonb_agg(line ORDER BY n), '[]')
       FROM (SELECT * FROM jsonb_array_elements(u.lines || excluded.lines) WITH ORDINALITY AS each (line, n)
             ORDER BY n DESC LIMIT ${MAX_UNREADABLE_LINES}) newest
     )`,
    [nodeId, texts.length, JSON.stringify(now < since ? [] : lines)],
  );
}

/** Removes lines that are older than stored requests. Their number stays. */
export const expireUnreadable = (db: Pick<ClientBase, 'query'>, since: number) =>
  db.query(
    `UPDATE unreadable_lines
     SET lines = jsonb_path_query_array(lines, '$[*] ? (@.at >= $at)', jsonb_build_object('at', $1::text))
     WHERE lines->0->>'at' < $1`,
    [Number.isFinite(since) ? new Date(since).toISOString() : '9999'],
  );

/** Without control characters: PostgreSQL refuses NUL. Their escapes are those of bytes that are not UTF-8. */
const printable = (text: string) =>
  `${text.slice(0, MAX_UNREADABLE_CHARS)}${text.length > MAX_UNREADABLE_CHARS ? '…' : ''}`
    .toWellFormed()
    .replace(/\p{Cc}/gu, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
