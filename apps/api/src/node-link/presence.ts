// Tracks which nodes are connected, by NATS events and by the full list when events may have been lost.
import type { Msg } from 'nats';
import type { Pool } from 'pg';
import * as z from 'zod';
import type { Bus } from '../core/bus.ts';
import type { LinkLog } from './log.ts';

const Time = z
  .string()
  .transform((text) => new Date(text))
  .pipe(z.date());
const Client = z.object({ user: z.string(), start: Time, stop: Time.optional() });
const ConnectionEvent = z.object({ client: Client });
const Connections = z.object({
  data: z.object({
    now: Time,
    total: z.int(),
    connections: z.array(z.object({ authorized_user: z.string().optional(), start: Time })),
  }),
});

interface Connection {
  publicKey: string;
  startedAt: Date;
}

/** Subscribes once. The subscription survives reconnects. `came` is called when a node connects. */
export function watchPresence(pool: Pool, bus: Bus, account: string, log: LinkLog, onConnected: () => void): void {
  const watch = (event: 'CONNECT' | 'DISCONNECT', store: (client: z.output<typeof Client>) => Promise<unknown>) => {
    const receive = async (msg: Msg) => {
      try {
        await store(ConnectionEvent.parse(JSON.parse(msg.string())).client);
      } catch (error) {
        log.warn({ err: error, event }, 'presence of a node was not stored');
      }
    };
    bus.system.subscribe(`$SYS.ACCOUNT.${account}.${event}`, {
      queue: 'control-plane',
      callback: (error, msg) => void (error ? log.warn({ err: error, event }, 'a subscription failed') : receive(msg)),
    });
  };
  watch('CONNECT', async ({ user, start }) => {
    await storeConnected(pool, [{ publicKey: user, startedAt: start }], true);
    onConnected();
  });
  watch('DISCONNECT', ({ user, start, stop }) =>
    storeDisconnected(pool, { publicKey: user, startedAt: start }, stop ?? start),
  );
}

/**
 * Two processes may handle events in either order, and NATS may notice a disconnect after the node's next connect. So
 * connections are compared by their start.
 */
const storeConnected = (pool: Pool, connections: Connection[], isSeen: boolean) =>
  pool.query(
    `INSERT INTO node_states AS s (node_id, connected_at, last_seen_at)
     SELECT n.id, max(c.started_at), CASE WHEN $3 THEN now() END
     FROM unnest($1::text[], $2::timestamptz[]) AS c(public_key, started_at) JOIN nodes n ON n.public_key = c.public_key
     GROUP BY n.id
     ON CONFLICT (node_id) DO UPDATE SET
       connected_at = greatest(s.connected_at, excluded.connected_at), last_seen_at = coalesce(excluded.last_seen_at, s.last_seen_at)
     WHERE s.ended_began_at IS NULL OR s.ended_began_at < excluded.connected_at`,
    [connections.map(({ publicKey }) => publicKey), connections.map(({ startedAt }) => startedAt), isSeen],
  );

/** The end of an older connection is ignored, since the node has reconnected. */
const storeDisconnected = (pool: Pool, { publicKey, startedAt }: Connection, endedAt: Date) =>
  pool.query(
    `UPDATE node_states s SET connected_at = NULL, disconnected_at = $3, ended_began_at = greatest(s.ended_began_at, $2)
     FROM nodes n WHERE n.id = s.node_id AND n.public_key = $1 AND (s.connected_at IS NULL OR s.connected_at <= $2)`,
    [publicKey, startedAt, endedAt],
  );

const PAGE = 1000;
/** Newer events may not be in the list. */
const SETTLING_MS = 5000;

/** Synchronizes the table with NATS' list. Returns the number of connected nodes. */
export async function reviewPresence(pool: Pool, bus: Bus, account: string): Promise<number> {
  const connections: Connection[] = [];
  let asOf = new Date(0);
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    total = 0;
    const ask = JSON.stringify({ acc: account, auth: true, limit: PAGE, offset });
    // Each server of a cluster responds.
    const answers = await bus.system.requestMany('$SYS.REQ.SERVER.PING.CONNZ', ask, { maxWait: 1000 });
    for await (const msg of answers) {
      const { data } = Connections.parse(JSON.parse(msg.string()));
      if (data.now > asOf) asOf = data.now;
      total = Math.max(total, data.total);
      for (const { authorized_user: publicKey, start } of data.connections)
        if (publicKey !== undefined) connections.push({ publicKey, startedAt: start });
    }
  }
  // No response: nothing is known.
  if (asOf.getTime() === 0) return 0;
  // A connection is no sign of life of the node itself.
  await storeConnected(pool, connections, false);
  await pool.query(
    `UPDATE node_states s SET connected_at = NULL, disconnected_at = $2 FROM nodes n
     WHERE n.id = s.node_id AND s.connected_at < $3 AND NOT n.public_key = ANY($1)`,
    [connections.map(({ publicKey }) => publicKey), asOf, new Date(asOf.getTime() - SETTLING_MS)],
  );
  return connections.length;
}
