// NATS connections: one in the nodes' account, one in the system account. Both reconnect as long as the process lives.
import { setTimeout } from 'node:timers/promises';
import { natsAuthenticator } from '@edgeloom/contract/edge/nats-key.ts';
import { connect, Events } from 'nats';
import type { ConnectionOptions, NatsConnection } from 'nats';
import type { FastifyBaseLogger } from 'fastify';
import type { Credentials, Trust } from './trust.ts';

export interface Bus {
  readonly nodes: NatsConnection;
  readonly system: NatsConnection;
  /** Whether the nodes' connection is up. */
  isUp: () => boolean;
  /** Runs the task now and after every reconnect of that connection. */
  onUp: (which: 'nodes' | 'system', task: () => void) => void;
  /** Finishes pending work, then closes both. */
  drain: () => Promise<void>;
}

const FIRST_CONNECT_WAIT_MS = 200;

type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>;

/**
 * Waits for the server, so call it in the background. The signal aborts the wait. `introduce` sends the nodes' account
 * to the server, which admits neither nodes nor us without it.
 */
export async function openBus(
  servers: string[],
  trust: Trust,
  sendAccount: (system: NatsConnection) => Promise<void>,
  log: Log,
  signal: AbortSignal,
): Promise<Bus> {
  const system = await connectWithRetries(
    'system',
    () => connect(options(servers, trust.systemCredentials())),
    log,
    signal,
  );
  const nodes = await connectWithRetries('introduction', () => sendAccount(system), log, signal)
    .then(() => connectWithRetries('nodes', () => connect(options(servers, trust.ownCredentials())), log, signal))
    .catch(async (error: unknown) => {
      await system.close();
      throw error;
    });
  const connections = { nodes, system };
  const listeners = { nodes: new Set<() => void>(), system: new Set<() => void>() };
  let nodesUp = true;

  const watch = async (which: 'nodes' | 'system') => {
    for await (const { type } of connections[which].status()) {
      if (type === Events.Disconnect) {
        if (which === 'nodes') nodesUp = false;
        log.warn({ connection: which }, 'NATS is out of reach');
      } else if (type === Events.Reconnect) {
        if (which === 'nodes') nodesUp = true;
        log.info({ connection: which }, 'NATS is back');
        for (const listener of listeners[which]) listener();
      }
    }
  };
  void watch('nodes');
  void watch('system');

  return {
    nodes,
    system,
    isUp: () => nodesUp && !nodes.isClosed(),
    onUp(which, task) {
      listeners[which].add(task);
      task();
    },
    async drain() {
      // Draining waits for the server's response, so a dead connection is closed instead.
      const end = (connection: NatsConnection, isUp: boolean) => (isUp ? connection.drain() : connection.close());
      await Promise.allSettled([end(nodes, nodesUp), end(system, nodesUp)]);
    },
  };
}

const options = (servers: string[], { jwt, seed }: Credentials): ConnectionOptions => ({
  servers,
  name: 'control plane',
  authenticator: natsAuthenticator(jwt, seed),
  maxReconnectAttempts: -1,
  reconnectTimeWait: 100,
  reconnectJitter: 200,
  // A server that lost the nodes' account refuses us until it is sent again.
  ignoreAuthErrorAbort: true,
  pingInterval: 10_000,
  maxPingOut: 2,
});

/** The library's own wait for the first connection cannot be aborted. */
async function connectWithRetries<T>(what: string, task: () => Promise<T>, log: Log, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await task();
    } catch (error) {
      if (tries === 1) log.warn({ err: error, connection: what }, 'NATS is not there yet');
      await setTimeout(FIRST_CONNECT_WAIT_MS, undefined, { signal });
    }
  }
}
