// Runs only the layer 4 part: the agent's forwards and the machine's nginx, with documents from memory.
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Forwards } from '@edgeloom/agent/forwards/forwards.ts';
import { findWorkers } from '@edgeloom/agent/host.ts';
import { layoutOf, prepareLayout } from '@edgeloom/agent/layout.ts';
import { findNginx } from '@edgeloom/agent/nginx/processes.ts';
import { createLookUp } from '@edgeloom/agent/origins/addresses.ts';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import type { Capabilities } from '@edgeloom/agent/render/capabilities.ts';
import { keyOf } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc, PortDoc } from '@edgeloom/contract/edge/documents.ts';
import { upstream, zoneDoc } from '../services/edge.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePorts } from '../services/ports.ts';
import { testDir } from '../services/test-dir.ts';

export const portDoc = (port: number, over: Partial<PortDoc> = {}): PortDoc => ({
  kind: 'port',
  id: randomUUID(),
  siteID: randomUUID(),
  port,
  protocol: 'tcp',
  acceptProxy: false,
  sendProxy: false,
  method: 'roundRobin',
  maxFails: 1,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 2,
  idleTimeoutSeconds: 60,
  upstreams: [upstream(9)],
  ...over,
});

export interface ForwardsOptions {
  resolvers?: string[];
  capabilities?: Partial<Capabilities>;
  /** Directory of an earlier instance. */
  dir?: string;
  /** Initial documents. */
  docs?: EdgeDoc[];
  /** Number of workers. With one worker, round robin is deterministic. */
  processes?: number;
}

export async function startForwards(options: ForwardsOptions = {}) {
  const { resolvers = [], capabilities = {}, processes = 1 } = options;
  const dir = options.dir ?? (await testDir());
  const [workers, found] = await Promise.all([findWorkers(), detectCapabilities('nginx')]);
  const layout = layoutOf(dir);
  await prepareLayout(layout, workers);
  const nodeID = randomUUID();
  const log: string[] = [];
  const note = (message: string, facts: object = {}) => void log.push(`${message} ${JSON.stringify(facts)}`);
  const forwards = new Forwards({
    binary: '/usr/sbin/nginx',
    layout: layout.forwards,
    host: {
      dir,
      luaDir: '/nowhere',
      listen: ['127.0.0.1'],
      user: workers?.user ?? null,
      capabilities: { ...found, ...capabilities },
      resolvers,
      caBundle: null,
    },
    lookUp: createLookUp(resolvers),
    pace: { minReloadMs: 1, workerMs: 1, maxReloadMs: 10, retryMs: 100 },
    log: { info: note, warn: note, error: note },
  });
  const [http = 0, https = 0] = await freePorts(2);
  const docs = new Map<string, EdgeDoc>();
  const put = (...changed: EdgeDoc[]) => {
    for (const doc of changed) docs.set(keyOf(doc), doc);
    forwards.changed(changed.map(keyOf));
  };
  put({ ...zoneDoc({ http, https }), worker: { processes, connections: 1024 } }, ...(options.docs ?? []));
  forwards.follow({
    store: {
      keys: () => docs.keys(),
      read: (key) => Promise.resolve(docs.has(key) ? JSON.stringify(docs.get(key)) : null),
    },
    self: () => ({ nodeID, zoneID: '' }),
  });
  return {
    forwards,
    dir,
    zonePort: http,
    nodeID,
    log,
    put,
    remove: (...keys: string[]) => {
      for (const key of keys) docs.delete(key);
      forwards.changed(keys);
    },
    /** Resolves when the configuration with this document is in use. */
    serves: ({ id }: PortDoc) =>
      eventually(async () => {
        const text = await readFile(join(layout.forwards.conf, 'good/nginx.conf'), 'utf8');
        if (!text.includes(id)) throw new Error(`port/${id} is not served\n${log.join('\n')}`);
      }),
    processes: () => findNginx(layout.forwards.dir),
    /** Entries of the access log. */
    rows: async (): Promise<Record<string, unknown>[]> =>
      (await readFile(join(layout.forwards.logs, 'access.json'), 'utf8'))
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    stop: async () => {
      await forwards.stop({ nginx: true });
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A TCP echo server that sends its name first and records what each connection received. */
export async function startEcho(name: string) {
  const received: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const i = received.push('') - 1;
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    socket.on('data', (data) => {
      received[i] += data.toString('latin1');
      socket.write(`${name} ${data.toString('latin1')}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  return {
    name,
    port: address.port,
    received,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function startUdpEcho(name: string) {
  const socket = createSocket('udp4');
  socket.on('message', (data, from) => socket.send(`${name} ${data.toString()}`, from.port, from.address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    stop: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** Resolves with the bytes of a new connection once they match `enough`, or when the connection closes. */
export function sendTcp(port: number, text: string | Buffer, enough = /./s): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    // Closing with unread data resets the connection.
    socket.once('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve('') : reject(error)));
    socket.once('close', () => resolve(''));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (!enough.test(received)) return;
      resolve(received);
      socket.destroy();
    });
    socket.write(text);
  });
}

/** Sends a datagram until a response arrives. */
export async function sendUdp(port: number, text: string): Promise<string> {
  const socket = createSocket('udp4');
  const again = setInterval(() => socket.send(text, port, '127.0.0.1'), 100);
  // The server may not be listening yet.
  socket.on('error', () => undefined);
  try {
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.send(text);
    const [data]: Buffer[] = await new Promise((resolve) => socket.once('message', (message) => resolve([message])));
    return String(data);
  } finally {
    clearInterval(again);
    socket.close();
  }
}
