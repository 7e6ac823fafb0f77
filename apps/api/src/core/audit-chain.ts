// Verifies the audit log: recomputes each row's hash from its content and the previous hash (see migration
// audit_limits), independently of the database function.
import { createHash } from 'node:crypto';
import type pg from 'pg';

const BATCH = 1000;

export interface Fault {
  chain: string;
  seq: bigint;
  /** Null where there is no row to name. */
  reqID: string | null;
  what: 'changed' | 'missing' | 'cut off' | 'without a head';
}
export interface Verified {
  chain: string;
  rows: bigint;
  /** Stored elsewhere, it later proves that nothing before it was rewritten. */
  hash: string;
  fault: Fault | null;
}

interface Row {
  seq: string;
  req_id: string;
  hash: Buffer;
  parts: string[];
}

export async function* verifyAudit(pool: pg.Pool): AsyncGenerator<Verified> {
  // Heads first: rows added during the check come after them.
  const { rows: chains } = await pool.query<{ chain: string; seq: string | null; hash: Buffer | null }>(
    `SELECT chain, seq, hash FROM audit_heads
     UNION ALL SELECT DISTINCT r.chain, NULL::bigint, NULL::bytea FROM audit_rows r
       WHERE NOT EXISTS (SELECT 1 FROM audit_heads h WHERE h.chain = r.chain) ORDER BY chain`,
  );
  for (const { chain, seq, hash } of chains) {
    const head = seq === null || hash === null ? null : { seq: BigInt(seq), hash };
    yield verifyChain(pool, chain, head);
  }
}

async function verifyChain(
  pool: pg.Pool,
  chain: string,
  head: { seq: bigint; hash: Buffer } | null,
): Promise<Verified> {
  let rows = 0n;
  let previousHash: Buffer = Buffer.alloc(0);
  const broken = (what: Fault['what'], at: Pick<Fault, 'seq' | 'reqID'>): Verified => ({
    chain,
    rows,
    hash: previousHash.toString('hex'),
    fault: { chain, what, ...at },
  });
  if (!head) return broken('without a head', { seq: 0n, reqID: null });

  while (rows < head.seq) {
    const { rows: batch } = await pool.query<Row>(
      `SELECT seq, req_id, hash, ARRAY[chain::text, seq::text, req_id::text, (extract(epoch FROM at) * 1000)::bigint::text,
         coalesce(client_id::text, ''), coalesce(root_id::text, ''), coalesce(account_id::text, ''), account_name, email,
         coalesce(proxy_id::text, ''), proxy_name, method, path, status::text, address, changes::text, context::text]
         || CASE WHEN action_id IS NULL THEN '{}' ELSE ARRAY[action_id::text] END AS parts
       FROM audit_rows WHERE chain = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT ${BATCH}`,
      [chain, String(rows), String(head.seq)],
    );
    if (batch.length === 0) return broken('cut off', { seq: rows + 1n, reqID: null });
    for (const row of batch) {
      const seq = BigInt(row.seq);
      if (seq !== rows + 1n) return broken('missing', { seq: rows + 1n, reqID: null });
      if (!hashOf(previousHash, row.parts).equals(row.hash)) return broken('changed', { seq, reqID: row.req_id });
      rows = seq;
      previousHash = row.hash;
    }
  }
  if (!previousHash.equals(head.hash)) return broken('changed', { seq: head.seq, reqID: null });
  return { chain, rows, hash: previousHash.toString('hex'), fault: null };
}

/** Each part is prefixed with its length in bytes, so that the boundaries are unambiguous. */
function hashOf(previousHash: Buffer, parts: readonly string[]): Buffer {
  const hash = createHash('sha256').update(previousHash);
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return hash.digest();
}
