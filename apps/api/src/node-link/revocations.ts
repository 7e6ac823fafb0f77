// The nodes' NATS account and its revoked keys. The database has the list. The server receives it at every
// (re)connection and change, from any process.
import type { NatsConnection } from 'nats';
import type { Pool } from 'pg';
import { lockClasses } from '../core/locks.ts';
import { inSingleTransaction, withClient } from './transactions.ts';
import type { Trust } from '../core/trust.ts';

/** The server checks each connected node before it responds: a third of a second for 1,000. */
const PUSH_TIMEOUT_MS = 10_000;

/** Throws unless the server has accepted the list. It disconnects revoked nodes at once. */
export async function pushAccount(pool: Pool, system: NatsConnection, trust: Trust): Promise<void> {
  await withClient(pool, (client) =>
    inSingleTransaction(client, async () => {
      // Serialized, so that an older list never arrives last.
      await client.query('SELECT pg_advisory_xact_lock($1, 0)', [lockClasses.revocations]);
      // The database's time, since the server keeps the newer claim and processes' clocks differ.
      const { rows } = await client.query<{ now: Date; keys: string[] }>(
        `SELECT clock_timestamp() AS now, coalesce(array_agg(public_key ORDER BY public_key), '{}') AS keys FROM revoked_keys`,
      );
      const [list] = rows;
      if (!list) throw new Error('an aggregate without a row');
      const claim = trust.accountClaim(list.keys, list.now);
      const answer = await system.request('$SYS.REQ.CLAIMS.UPDATE', claim, { timeout: PUSH_TIMEOUT_MS });
      if (!answer.string().includes('"code":200')) throw new Error(`NATS refused the claim: ${answer.string()}`);
    }),
  );
}

/** Pushes the list again whenever keys were added. */
export class RevocationList {
  readonly #pool: Pool;
  readonly #trust: Trust;
  /** Identifies the list that the server has. */
  #pushed = '';

  constructor(pool: Pool, trust: Trust) {
    this.#pool = pool;
    this.#trust = trust;
  }

  async pushChanges(system: NatsConnection): Promise<void> {
    const mark = await readMark(this.#pool);
    if (mark === this.#pushed) return;
    await pushAccount(this.#pool, system, this.#trust);
    this.#pushed = mark;
  }

  /** The server may be another one, or may have lost its store. */
  forgetPushed(): void {
    this.#pushed = '';
  }
}

/** Changes whenever a key is added. */
async function readMark(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ mark: string }>(
    `SELECT count(*) || ' ' || coalesce(max(revoked_at)::text, '') AS mark FROM revoked_keys`,
  );
  return rows[0]?.mark ?? '';
}
