// The connections to NATS: one into the account of the nodes, one into the system account. They come back by themselves
// for as long as the process lives, whatever happens to the server meanwhile.
import { setTimeout } from 'node:timers/promises';
import { connect, Events, jwtAuthenticator } from 'nats';
import type { NatsConnection } from 'nats';
import type { FastifyBaseLogger } from 'fastify';
import type { Credentials, Trust } from '../node-link/trust.ts';

export interface Bus {
  readonly nodes: NatsConnection;
  readonly system: NatsConnection;
  /** Whether the nodes' connection stands at this moment. */
  isUp: () => boolean;
  /** Called now and after every reconnect of that connection. */
  onUp: (which: 'nodes' | 'system', task: () => void) => void;
  /** Finishes what is under way, then closes both. */
  drain: () => Promise<void>;
}

const FIRST_CONNECT_WAIT_MS = 200;

type Log = Pick<FastifyBaseLogger, 'info' | 'warn'>;

/** Waits for the server, so call it in the background of anything that must run without it. The signal ends the waiting. */
export async function openBus(servers: string[], trust: Trust, log: Log, signal?: AbortSignal): Promise<Bus> {
  const [nodes, system] = await Promise.all([
    open(servers, trust.ownCredentials(), 'control plane', log, signal),
    open(servers, trust.systemCredentials(), 'control plane, system', log, signal),
  ]);
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
      // Draining waits for the server's answer; without a server there is nothing to wait for.
      const end = (connection: NatsConnection, isUp: boolean) => (isUp ? connection.drain() : connection.close());
      await Promise.allSettled([end(nodes, nodesUp), end(system, nodesUp)]);
    },
  };
}

async function open(servers: string[], { jwt, seed }: Credentials, name: string, log: Log, signal?: AbortSignal) {
  const options = {
    servers,
    name,
    authenticator: jwtAuthenticator(jwt, seed),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
    reconnectJitter: 200,
    // A server that has lost its account claims refuses everyone until it has them again.
    ignoreAuthErrorAbort: true,
    pingInterval: 10_000,
    maxPingOut: 2,
  };
  // The library can wait for the first connection as well, but not be told to stop waiting.
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await connect(options);
    } catch (error) {
      if (tries === 1) log.warn({ err: error, connection: name }, 'NATS is not there yet');
      await setTimeout(FIRST_CONNECT_WAIT_MS, undefined, { signal });
    }
  }
}
