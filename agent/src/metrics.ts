// Prometheus metrics of this node, over HTTP. Values are read at each request. Off without EDGELOOM_METRICS.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Log } from './log.ts';
import type { Status } from './nginx/admin.ts';
import { version } from './version.ts';

export interface NodeFacts {
  isConnected: () => boolean;
  /** False also while nginx does not respond. */
  isNginxUp: () => boolean;
  isDiskFull: () => boolean;
  documents: () => { stored: number; rejected: number };
  /** Rejects while nginx does not respond. */
  nginx: () => Promise<Status>;
  logs: () => Promise<LogFigures>;
}

/** Access logs of both nginx. Sent and dropped: since the agent started. */
export interface LogFigures {
  waitingBytes: number;
  droppedLines: number;
  droppedBytes: number;
  sentBytes: number;
  sentBatches: number;
}

/** Returns a function that stops the server. A server that cannot listen is logged, and the node serves without it. */
export async function serveMetrics(address: string, facts: NodeFacts, log: Log): Promise<() => Promise<void>> {
  const registry = createRegistry(facts);
  const server = createServer((request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      (error: unknown) => {
        log.warn('metrics could not be read', { error });
        response.writeHead(500).end();
      },
    );
  });
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
  try {
    await once(server.listen({ host, port: Number(port) }), 'listening');
    log.info('metrics are served', { address });
  } catch (error) {
    log.error('metrics cannot be served', { error, address });
  }
  return async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}

export function createRegistry(facts: NodeFacts): Registry {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // prom-client names some gauges like counters.
  for (const name of ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'])
    registry.removeSingleMetric(name);

  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      name: `edgeloom_agent_${name}`,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  const counter = (name: string, help: string, read: () => number | Promise<number>) =>
    new Counter({
      name: `edgeloom_agent_${name}`,
      help,
      registers,
      async collect() {
        const value = await read();
        this.reset();
        this.inc(value);
      },
    });

  gauge('connected', '1 if the agent is connected to the control plane', () => Number(facts.isConnected()));
  gauge('nginx_up', '1 if nginx runs and responds', () => Number(facts.isNginxUp()));
  gauge('cache_disk_full', '1 if responses are not stored because the disk is full', () => Number(facts.isDiskFull()));
  gauge('documents', 'Documents of the zone on this node', () => facts.documents().stored);
  gauge('documents_rejected', 'Documents that this node rejected', () => facts.documents().rejected);
  const logs = (read: keyof LogFigures) => async () => (await facts.logs())[read];
  gauge('logs_waiting_bytes', 'Bytes of the access log that wait to be sent', logs('waitingBytes'));
  counter('logs_dropped_lines_total', 'Lines of the access log that were deleted unsent', logs('droppedLines'));
  counter('logs_dropped_bytes_total', 'Bytes of the access log that were deleted unsent', logs('droppedBytes'));
  counter('logs_sent_bytes_total', 'Bytes of the access log that were sent', logs('sentBytes'));
  counter('logs_sent_batches_total', 'Batches of the access log that were sent', logs('sentBatches'));
  const info = new Gauge({
    name: 'edgeloom_agent_info',
    help: 'Version of the agent',
    labelNames: ['version'],
    registers,
  });
  info.set({ version }, 1);
  const connections = new Gauge({
    name: 'edgeloom_agent_nginx_connections',
    help: 'Connections of nginx by state (reading, writing, waiting)',
    labelNames: ['state'],
    registers,
    async collect() {
      const counts = (await facts.nginx().catch(() => null))?.connections;
      connections.reset();
      if (counts === undefined) return;
      for (const state of ['reading', 'writing', 'waiting'] as const) connections.set({ state }, counts[state]);
    },
  });
  return registry;
}
