// PostgreSQL notifications on a dedicated connection that is reopened when it breaks.
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';

const AGAIN_AFTER_MS = 250;

/**
 * Runs a channel's task at notifications and, without a payload, after every (re)connection, since some may be lost.
 */
export function listen(
  databaseUrl: string,
  channels: Readonly<Record<string, (payload?: string) => void>>,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  let current: pg.Client | null = null;

  async function runSession() {
    const client = new pg.Client({
      connectionString: databaseUrl,
      keepAlive: true,
      connectionTimeoutMillis: 5000,
      application_name: 'edgeloom-listen',
    });
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', () => undefined);
    client.on('notification', ({ channel, payload }) => channels[channel]?.(payload));
    // Outside the try block: ending a client that never connected hangs.
    await client.connect();
    current = client;
    try {
      // Stopped while connecting, when there was nothing to end.
      if (stopping.signal.aborted) return;
      for (const channel of Object.keys(channels)) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      for (const task of Object.values(channels)) task();
      await ended;
    } finally {
      current = null;
      await client.end().catch(() => undefined);
    }
  }

  async function run() {
    while (!stopping.signal.aborted) {
      await runSession().catch(() => undefined);
      await setTimeout(AGAIN_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }
  const running = run();

  return {
    async stop() {
      stopping.abort();
      await current?.end().catch(() => undefined);
      await running;
    },
  };
}
