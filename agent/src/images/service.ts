// Proxy between the two halves of hop B. Where hop B's response has X-E-Image, converts the body to WebP.
// Other responses pass through unchanged, also when conversion fails.
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { Decoders } from './decoders.ts';

/** The limit of nginx. */
const MAX_HEADER_BYTES = 512 << 10;
/** Memory for images in progress, in total and per site. */
const MAX_BUFFERED_BYTES = 128 << 20;
const MAX_BUFFERED_PER_SITE = MAX_BUFFERED_BYTES / 4;
const EXIT_TIMEOUT_MS = 60_000;

export async function serveImages(run: string): Promise<void> {
  const decoders = new Decoders();
  const budget = new MemoryBudget();

  const handle = (incoming: IncomingMessage, reply: ServerResponse) => {
    reply.sendDate = false;
    const isImageRequest = incoming.headers['x-e-image'] !== undefined;
    if (!isImageRequest) return void reply.writeHead(204).end();
    let isAnswered = false;
    const inner = request({
      socketPath: `${run}/hop.sock`,
      path: incoming.url ?? '/',
      method: incoming.method ?? 'GET',
      headers: withoutConnection(incoming.rawHeaders),
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    inner.on('response', (response) => {
      isAnswered = true;
      // Node refuses to repeat some status lines. nginx then repeats the request without us.
      void relay(response, reply).catch(() => reply.destroy());
    });
    inner.on('error', (error: NodeJS.ErrnoException) => {
      if (isAnswered) return;
      // nginx parses some responses that Node refuses. It repeats those requests without us.
      if (error.code?.startsWith('HPE_')) reply.destroy();
      // The client closed, or hop B closed so that a stale response can serve.
      else reply.writeHead(502, ['X-E-Image', 'close']).end();
    });
    reply.on('close', () => inner.destroy());
    inner.end();
  };

  async function relay(response: IncomingMessage, reply: ServerResponse): Promise<void> {
    const order = readImageOrder(response);
    if (order === null) return stream(response, reply);
    const reservation = budget.of(order.site);
    await convert(response, reply, order, reservation).finally(() => reservation.release());
  }

  async function convert(
    response: IncomingMessage,
    reply: ServerResponse,
    order: ImageOrder,
    reservation: Reservation,
  ): Promise<void> {
    const { bytes, result } = await readBody(response, order.mostBytes, reservation);
    if (result !== 'whole') {
      writeHead(reply, response, result === 'crowded' ? [] : ['x-e-image']);
      // A truncated response stays truncated for the client, after its first bytes have been sent.
      reply.write(bytes, () => result === 'torn' && reply.destroy());
      return result === 'torn' ? undefined : stream(response, reply);
    }
    const isWorthIt = bytes.length >= order.leastBytes;
    const outcome = isWorthIt ? await decoders.convert(order.site, { bytes, quality: order.quality }) : 'same';
    if (outcome === 'later') writeHead(reply, response, []);
    else if (outcome === 'same') writeHead(reply, response, ['x-e-image']);
    else {
      const changed = ['Content-Type', 'image/webp', 'Content-Length', String(outcome.length)];
      writeHead(reply, response, BODY_FIELDS, changed);
      return void reply.end(outcome);
    }
    reply.end(bytes);
  }

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0 }, handle);
  server.on('clientError', (_, socket) => socket.destroy());
  const socket = `${run}/images.${process.pid}.sock`;
  server.listen({ path: socket, readableAll: true, writableAll: true });
  await once(server, 'listening');
  // Renames over the old socket: a previous process would unlink the name when it exits.
  await rename(socket, `${run}/images.sock`);
  process.send?.('ready');

  // Without the agent nothing supervises this process: finish pending requests and exit.
  process.on('disconnect', () => {
    server.close(() => {
      decoders.stop();
      process.exit();
    });
    setTimeout(() => process.exit(), EXIT_TIMEOUT_MS).unref();
  });
}

interface ImageOrder {
  quality: number;
  leastBytes: number;
  mostBytes: number;
  site: string;
}

function readImageOrder({ headers }: IncomingMessage): ImageOrder | null {
  const [quality, leastBytes, mostBytes, site] = String(headers['x-e-image'] ?? '').split(' ');
  if (site === undefined) return null;
  return { quality: Number(quality), leastBytes: Number(leastBytes), mostBytes: Number(mostBytes), site };
}

async function readBody(response: IncomingMessage, most: number, reservation: Reservation) {
  const chunks: Buffer[] = [];
  let length = 0;
  let result: 'whole' | 'long' | 'crowded' | 'torn' = 'whole';
  try {
    for await (const chunk of response.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) result = 'long';
      else if (!reservation.take(chunk.length)) result = 'crowded';
      if (result !== 'whole') break;
    }
  } catch {
    result = 'torn';
  }
  return { bytes: Buffer.concat(chunks), result };
}

/** Reserves memory by bytes received rather than Content-Length, so slow origins block nobody. */
interface Reservation {
  /** False: no memory left. */
  take: (bytes: number) => boolean;
  release: () => void;
}

class MemoryBudget {
  #all = 0;
  readonly #bySite = new Map<string, number>();

  of(site: string): Reservation {
    let own = 0;
    const add = (bytes: number) => {
      own += bytes;
      this.#all += bytes;
      const left = (this.#bySite.get(site) ?? 0) + bytes;
      if (left === 0) this.#bySite.delete(site);
      else this.#bySite.set(site, left);
      return left;
    };
    return {
      take: (bytes) => add(bytes) <= MAX_BUFFERED_PER_SITE && this.#all <= MAX_BUFFERED_BYTES,
      release: () => void add(-own),
    };
  }
}

/** Streams the response, with its header unless that was sent already. */
function stream(response: IncomingMessage, reply: ServerResponse): void {
  if (!reply.headersSent) writeHead(reply, response, []);
  pipeline(response, reply, () => undefined);
}

/** Header fields that describe the original bytes only. */
const BODY_FIELDS = [
  'x-e-image',
  'content-type',
  'content-length',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
];
const CONNECTION_FIELDS = ['connection', 'keep-alive', 'transfer-encoding'];

/** Keeps the order of fields, which matters to nginx. */
function writeHead(reply: ServerResponse, response: IncomingMessage, without: string[], more: string[] = []): void {
  const fields = [...withoutFields(response.rawHeaders, [...CONNECTION_FIELDS, ...without]), ...more];
  reply.writeHead(response.statusCode ?? 502, response.statusMessage, fields);
}

const withoutConnection = (rawHeaders: string[]) => withoutFields(rawHeaders, CONNECTION_FIELDS);

const withoutFields = (rawHeaders: string[], names: string[]) =>
  rawHeaders.filter((_, i) => !names.includes(rawHeaders[i - (i % 2)]?.toLowerCase() ?? ''));
