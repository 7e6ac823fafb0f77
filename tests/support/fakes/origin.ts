// A scriptable origin that records its requests.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';

export type OriginRequest = {
  method: string;
  url: string;
  path: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: string;
  /** The same number for requests on one connection. */
  connection: number;
  /** SNI, or null. */
  serverName: string | null;
  /** The Host header without its port. */
  name: string;
};

export type OriginResponse = {
  status?: number;
  headers?: Record<string, OutgoingHttpHeader>;
  body?: string | Buffer;
  /** Delays the response until this promise resolves. */
  after?: Promise<unknown>;
  /** Resets the connection in place of a response. */
  reset?: boolean;
  /** The body in place of `body`: a chunk for each piece, as soon as it is there. */
  pieces?: AsyncIterable<string>;
  /** Bytes to send as they are. The connection stays open. */
  raw?: string;
  /** Bytes to send as they are. The connection closes afterwards. */
  rawThenClose?: string;
};

export type Script = OriginResponse | ((asked: OriginRequest) => OriginResponse | Promise<OriginResponse>);

export class Origin {
  /** In order of arrival. */
  readonly requests: OriginRequest[] = [];
  readonly port: number;
  readonly #scripts: Map<string, Script>;
  readonly #stop: () => Promise<void>;

  constructor(port: number, scripts: Map<string, Script>, stop: () => Promise<void>) {
    this.port = port;
    this.#scripts = scripts;
    this.#stop = stop;
  }

  /** Sets the response of a path (without query). */
  on(path: string, script: Script): void {
    this.#scripts.set(path, script);
  }

  /** Requests of this path. */
  asked(path: string): OriginRequest[] {
    return this.requests.filter((request) => request.path === path);
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}

/** `tls` sets a certificate. `any` handles paths without a script; by default they return 200 with their own URL. */
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
    const asked: OriginRequest = {
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
    const scripted = typeof script === 'function' ? await script(asked) : script;
    await scripted.after;
    if (scripted.reset === true) return void socket.destroy();
    if (scripted.raw !== undefined) return void socket.write(scripted.raw);
    if (scripted.rawThenClose !== undefined) return void socket.end(scripted.rawThenClose);
    const headers = Object.entries(scripted.headers ?? {});
    response.sendDate = !headers.some(([name]) => name.toLowerCase() === 'date');
    for (const [name, value] of headers) response.setHeader(name, value);
    response.writeHead(scripted.status ?? 200);
    for await (const piece of scripted.pieces ?? []) response.write(piece);
    response.end(request.method === 'HEAD' ? undefined : scripted.body);
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
    // Echoes WebSocket data.
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

/** A promise for `after`, and the function that resolves it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const nameIn = ({ headers }: IncomingMessage) => (headers.host ?? '').replace(/:\d+$/, '');
