// An origin that does what a test tells it, path by path, and remembers what it was asked.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';

export type Asked = {
  method: string;
  url: string;
  path: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: string;
  /** The same for requests on one connection. */
  connection: number;
  /** What a TLS visitor named; null without TLS or name. */
  serverName: string | null;
  /** The Host field without its port. */
  name: string;
};

export type Answer = {
  status?: number;
  headers?: Record<string, OutgoingHttpHeader>;
  body?: string | Buffer;
  /** Answer only when this is done. */
  after?: Promise<unknown>;
  /** Close the connection instead of an answer. */
  reset?: boolean;
  /** Bytes to send as they are, leaving the connection open. */
  raw?: string;
  /** The same, and then the connection is closed. */
  torn?: string;
};

export type Script = Answer | ((asked: Asked) => Answer | Promise<Answer>);

export class Origin {
  /** In the order they came. */
  readonly requests: Asked[] = [];
  readonly port: number;
  readonly #scripts: Map<string, Script>;
  readonly #stop: () => Promise<void>;

  constructor(port: number, scripts: Map<string, Script>, stop: () => Promise<void>) {
    this.port = port;
    this.#scripts = scripts;
    this.#stop = stop;
  }

  /** From now on the path (without query) is answered so. */
  on(path: string, script: Script): void {
    this.#scripts.set(path, script);
  }

  /** What it was asked for this path. */
  asked(path: string): Asked[] {
    return this.requests.filter((request) => request.path === path);
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

/** `tls`: with this certificate. `any`: for paths that no script was given for; else they are answered 200 with their own URL. */
export async function startOrigin(
  options: { tls?: { cert: string; key: string }; port?: number; host?: string; any?: Script } = {},
): Promise<Origin> {
  const scripts = new Map<string, Script>();
  const connections = new Map<Socket, number>();
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => request.socket.destroy());
  };
  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const url = request.url ?? '/';
    const { socket } = request;
    const servername = 'servername' in socket && typeof socket.servername === 'string' ? socket.servername : null;
    const asked: Asked = {
      method: request.method ?? '',
      url,
      path: url.split('?', 1)[0] ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks).toString(),
      connection: connections.get(socket) ?? -1,
      serverName: servername,
      name: nameIn(request),
    };
    origin.requests.push(asked);
    const script = scripts.get(asked.path) ?? options.any ?? { body: url };
    const told = typeof script === 'function' ? await script(asked) : script;
    await told.after;
    if (told.reset === true) return void socket.destroy();
    if (told.raw !== undefined) return void socket.write(told.raw);
    if (told.torn !== undefined) return void socket.end(told.torn);
    const headers = Object.entries(told.headers ?? {});
    response.sendDate = !headers.some(([name]) => name.toLowerCase() === 'date');
    for (const [name, value] of headers) response.setHeader(name, value);
    response.writeHead(told.status ?? 200);
    response.end(request.method === 'HEAD' ? undefined : told.body);
  }
  const server = options.tls === undefined ? createServer(handle) : createSecureServer(options.tls, handle);
  server.keepAliveTimeout = 60_000;
  let seen = 0;
  server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    seen += 1;
    connections.set(socket, seen);
    socket.on('error', () => undefined);
    socket.on('close', () => connections.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    origin.requests.push({
      method: request.method ?? '',
      url: request.url ?? '',
      path: (request.url ?? '').split('?', 1)[0] ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: '',
      connection: connections.get(socket) ?? -1,
      serverName: null,
      name: nameIn(request),
    });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    // Echoes whatever comes, and says so.
    socket.on('data', (data) => socket.write(`echo ${data.toString()}`));
    socket.on('end', () => socket.end());
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
  const origin = new Origin(address.port, scripts, async () => {
    server.closeAllConnections();
    for (const socket of connections.keys()) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return origin;
}

/** A gate for `after`: open it when the test has seen enough. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const nameIn = ({ headers }: IncomingMessage) => (headers.host ?? '').replace(/:\d+$/, '');
