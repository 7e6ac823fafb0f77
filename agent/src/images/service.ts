// Proxy between the two halves of hop B. Where hop B's response has X-E-Image, converts the body to WebP.
// Other responses pass through unchanged, also when conversion fails.
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { Decoders } from './decoders.ts';

/** The limit of nginx. */
const MOST_HEADER_BYTES = 512 << 10;
/** Memory for images in progress, in total and per site. */
const MOST_HELD_BYTES = 128 << 20;
const MOST_HELD_OF_A_SITE = MOST_HELD_BYTES / 4;
const ENDED_AFTER_MS = 60_000;

export async function serveImages(run: string): Promise<void> {
  const decoders = new Decoders();
  const held = new Held();

  const pass = (asked: IncomingMessage, reply: ServerResponse) => {
    reply.sendDate = false;
    const isForUs = asked.headers['x-e-image'] !== undefined;
    if (!isForUs) return void reply.writeHead(204).end();
    let isAnswered = false;
    const inner = request({
      socketPath: `${run}/hop.sock`,
      path: asked.url ?? '/',
      method: asked.method ?? 'GET',
      headers: withoutConnection(asked.rawHeaders),
      agent: false,
      maxHeaderSize: MOST_HEADER_BYTES,
    });
    inner.on('response', (answer) => {
      isAnswered = true;
      // Node refuses to repeat some status lines. nginx then repeats the request without us.
      void passOn(answer, reply).catch(() => reply.destroy());
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

  async function passOn(answer: IncomingMessage, reply: ServerResponse): Promise<void> {
    const order = readOrder(answer);
    if (order === null) return stream(answer, reply);
    const hold = held.of(order.site);
    await look(answer, reply, order, hold).finally(() => hold.release());
  }

  async function look(answer: IncomingMessage, reply: ServerResponse, order: Order, hold: Hold): Promise<void> {
    const { bytes, came } = await gather(answer, order.mostBytes, hold);
    if (came !== 'whole') {
      writeHead(reply, answer, came === 'crowded' ? [] : ['x-e-image']);
      // A truncated response stays truncated for the client, after its first bytes have been sent.
      reply.write(bytes, () => came === 'torn' && reply.destroy());
      return came === 'torn' ? undefined : stream(answer, reply);
    }
    const isWorthIt = bytes.length >= order.leastBytes;
    const outcome = isWorthIt ? await decoders.convert(order.site, { bytes, quality: order.quality }) : 'same';
    if (outcome === 'later') writeHead(reply, answer, []);
    else if (outcome === 'same') writeHead(reply, answer, ['x-e-image']);
    else {
      const changed = ['Content-Type', 'image/webp', 'Content-Length', String(outcome.length)];
      writeHead(reply, answer, ABOUT_THE_BYTES, changed);
      return void reply.end(outcome);
    }
    reply.end(bytes);
  }

  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES, requestTimeout: 0 }, pass);
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
    setTimeout(() => process.exit(), ENDED_AFTER_MS).unref();
  });
}

interface Order {
  quality: number;
  leastBytes: number;
  mostBytes: number;
  site: string;
}

function readOrder({ headers }: IncomingMessage): Order | null {
  const [quality, leastBytes, mostBytes, site] = String(headers['x-e-image'] ?? '').split(' ');
  if (site === undefined) return null;
  return { quality: Number(quality), leastBytes: Number(leastBytes), mostBytes: Number(mostBytes), site };
}

async function gather(answer: IncomingMessage, most: number, hold: Hold) {
  const chunks: Buffer[] = [];
  let length = 0;
  let came: 'whole' | 'long' | 'crowded' | 'torn' = 'whole';
  try {
    for await (const chunk of answer.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) came = 'long';
      else if (!hold.take(chunk.length)) came = 'crowded';
      if (came !== 'whole') break;
    }
  } catch {
    came = 'torn';
  }
  return { bytes: Buffer.concat(chunks), came };
}

/** Reserves memory by bytes received rather than Content-Length, so slow origins block nobody. */
interface Hold {
  /** False: no memory left. */
  take: (bytes: number) => boolean;
  release: () => void;
}

class Held {
  #all = 0;
  readonly #bySite = new Map<string, number>();

  of(site: string): Hold {
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
      take: (bytes) => add(bytes) <= MOST_HELD_OF_A_SITE && this.#all <= MOST_HELD_BYTES,
      release: () => void add(-own),
    };
  }
}

/** Streams the response, with its header unless that was sent already. */
function stream(answer: IncomingMessage, reply: ServerResponse): void {
  if (!reply.headersSent) writeHead(reply, answer, []);
  pipeline(answer, reply, () => undefined);
}

/** Header fields that describe the original bytes only. */
const ABOUT_THE_BYTES = [
  'x-e-image',
  'content-type',
  'content-length',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
];
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding'];

/** Keeps the order of fields, which matters to nginx. */
function writeHead(reply: ServerResponse, answer: IncomingMessage, without: string[], more: string[] = []): void {
  const fields = [...withoutFields(answer.rawHeaders, [...OF_THE_CONNECTION, ...without]), ...more];
  reply.writeHead(answer.statusCode ?? 502, answer.statusMessage, fields);
}

const withoutConnection = (rawHeaders: string[]) => withoutFields(rawHeaders, OF_THE_CONNECTION);

const withoutFields = (rawHeaders: string[], names: string[]) =>
  rawHeaders.filter((_, i) => !names.includes(rawHeaders[i - (i % 2)]?.toLowerCase() ?? ''));
