// Continuous clients of every protocol that record the result of each request. They retry only where browsers do:
// a closed idle connection, or a stream that the server refused unprocessed. Retries are counted.
import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { Origin } from '../fakes/origin.ts';

interface LoadTarget {
  http: number;
  https: number;
  /** Address of one node. */
  address: string;
  /** Host name of the site. */
  name: string;
}

export interface LoadOptions {
  origin: Origin;
  places: LoadTarget[];
  /** Pause between two requests of one client. */
  pauseMs: number;
  /** Duration of downloads, uploads and WebSockets. */
  longMs: number;
}

interface RequestCounts {
  requests: number;
  /** Retries. */
  retried: number;
  failed: Record<string, number>;
  longestMs: number;
}
type VisitorKind = 'kept' | 'fresh' | 'keptTls' | 'freshTls' | 'http2' | 'download' | 'upload' | 'socket';
export type Report = Record<VisitorKind, RequestCounts>;

const PAGE = 'a page';
const PIECES = 40;
/** Larger than the socket buffers of both ends, so that nginx takes part until the end. */
const DOWNLOAD = Buffer.alloc(32 * 2 ** 20, 'edgeloom ');
const PIECE = Buffer.alloc(16 * 1024, 'x');

/** `stop` lets each client finish its request. */
export function startVisitors({ origin, places, pauseMs, longMs }: LoadOptions): { stop: () => Promise<Report> } {
  origin.on('/page', { body: PAGE, headers: { 'cache-control': 'max-age=3600' } });
  origin.on('/fresh', { body: PAGE, headers: { 'cache-control': 'no-store' } });
  origin.on('/download', { body: DOWNLOAD, headers: { 'cache-control': 'no-store' } });
  origin.on('/upload', ({ body }) => ({ body: String(body.length), headers: { 'cache-control': 'no-store' } }));
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = (ms: number) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const tally = (): RequestCounts => ({ requests: 0, retried: 0, failed: {}, longestMs: 0 });
  const report: Report = {
    kept: tally(),
    fresh: tally(),
    keptTls: tally(),
    freshTls: tally(),
    http2: tally(),
    download: tally(),
    upload: tally(),
    socket: tally(),
  };
  const sweep = setInterval(() => origin.requests.splice(0), 1000);

  async function runLoop(sort: VisitorKind, task: (repeated: () => void) => Promise<void>) {
    const mine = report[sort];
    while (!signal.aborted) {
      const began = performance.now();
      mine.requests += 1;
      await task(() => (mine.retried += 1)).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        mine.failed[why] = (mine.failed[why] ?? 0) + 1;
      });
      mine.longestMs = Math.max(mine.longestMs, performance.now() - began);
      await pause(pauseMs);
    }
  }

  const running = places.flatMap((place) => {
    const { address: host, http: port, https, name } = place;
    const plain = { host, port, headers: { host: name } };
    const secure = { host, port: https, servername: name, rejectUnauthorized: false, headers: { host: name } };
    const agents = { plain: new Agent({ keepAlive: true }), secure: new SecureAgent({ keepAlive: true }) };
    let turn = 0;
    const path = () => ((turn += 1) % 2 === 0 ? '/page' : '/fresh');
    const page = async (ask: () => Promise<string>) => assertEqual(await ask(), PAGE);
    const keepAlive = (options: RequestOptions, isSecure: boolean, repeated: () => void) =>
      page(() => requestKeepAlive({ ...options, path: path() }, isSecure, repeated));
    const h2 = new Http2Visitor(place);
    const sorts: [VisitorKind, number, (repeated: () => void) => Promise<void>][] = [
      ['kept', 3, (repeated) => keepAlive({ ...plain, agent: agents.plain }, false, repeated)],
      ['fresh', 2, () => page(() => ask({ ...plain, agent: false, path: path() }, false))],
      ['keptTls', 2, (repeated) => keepAlive({ ...secure, agent: agents.secure }, true, repeated)],
      ['freshTls', 2, () => page(() => ask({ ...secure, agent: false, path: path() }, true))],
      ['http2', 3, (repeated) => page(() => h2.get(path(), repeated))],
      ['download', 2, () => download(plain)],
      ['upload', 2, () => upload(plain)],
      ['socket', 2, () => socket(plain)],
    ];
    const all = sorts.flatMap(([sort, count, task]) => Array.from({ length: count }, () => runLoop(sort, task)));
    return [
      (async () => {
        await Promise.all(all);
        agents.plain.destroy();
        agents.secure.destroy();
        h2.close();
      })(),
    ];
  });

  async function download(options: RequestOptions) {
    const answer = await answered({ ...options, agent: false, path: '/download' }, false);
    let bytes = 0;
    let due = DOWNLOAD.length / PIECES;
    for await (const piece of answer) {
      bytes += Buffer.from(piece).length;
      if (bytes < due) continue;
      due += DOWNLOAD.length / PIECES;
      await pause(longMs / PIECES);
    }
    assertEqual(`${answer.statusCode} ${bytes}`, `200 ${DOWNLOAD.length}`);
  }

  async function upload(options: RequestOptions) {
    const length = PIECE.length * PIECES;
    const headers = { ...options.headers, 'content-length': length };
    const call = request({ ...options, headers, agent: false, method: 'POST', path: '/upload' });
    const answer = answerOf(call);
    answer.catch(() => undefined);
    for (let i = 0; i < PIECES && !call.destroyed; i += 1) {
      call.write(PIECE);
      await pause(longMs / PIECES);
    }
    call.end();
    assertEqual(await textOf(await answer), String(length));
  }

  async function socket(options: RequestOptions) {
    const headers = { ...options.headers, connection: 'Upgrade', upgrade: 'websocket' };
    const call = request({ ...options, headers, agent: false, path: '/socket' });
    call.end();
    const line = await new Promise<Socket>((resolve, reject) => {
      call.on('upgrade', (_, opened: Socket) => resolve(opened));
      call.on('response', ({ statusCode }) => reject(new Error(`status ${statusCode}`)));
      call.on('error', reject);
    });
    try {
      const words = line.iterator();
      for (let i = 0; i < PIECES; i += 1) {
        line.write(`word ${i}`);
        const echoed = await words.next();
        assertEqual(echoed.done === true ? 'the socket was closed' : String(echoed.value), `echo word ${i}`);
        await pause(longMs / PIECES);
      }
    } finally {
      line.destroy();
    }
  }

  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
      clearInterval(sweep);
      return report;
    },
  };
}

/** One HTTP/2 connection for all requests. A new one follows a GOAWAY. */
class Http2Visitor {
  readonly #place: LoadTarget;
  #session: Promise<ClientHttp2Session | null> | null = null;

  constructor(place: LoadTarget) {
    this.#place = place;
  }

  async get(path: string, repeated: () => void, tries = 1): Promise<string> {
    const opened = this.#session === null;
    this.#session ??= this.#open().catch((error: unknown) => {
      this.#session = null;
      throw error;
    });
    const session = await this.#session;
    // HTTP/2 is disabled in the zone at the moment; the next request checks again.
    if (session === null) {
      this.#session = null;
      const { address: host, https: port, name } = this.#place;
      const options = { host, port, servername: name, rejectUnauthorized: false, headers: { host: name } };
      return ask({ ...options, agent: false, path }, true);
    }
    try {
      return await this.#ask(session, path);
    } catch (error) {
      if (!(error instanceof NotBegun) || (opened && tries > 3)) throw error;
      repeated();
      if (session.closed || session.destroyed) this.#session = null;
      return this.get(path, repeated, tries + 1);
    }
  }

  close(): void {
    void this.#session?.then((session) => session?.close()).catch(() => undefined);
  }

  async #open(): Promise<ClientHttp2Session | null> {
    const { address: host, https: port, name } = this.#place;
    const line = connectTls({
      host,
      port,
      servername: name,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await once(line, 'secureConnect');
    if (line.alpnProtocol !== 'h2') {
      line.destroy();
      return null;
    }
    const session = connectHttp2(`https://${name}`, { createConnection: () => line });
    const leave = () => (this.#session = null);
    session.on('goaway', leave);
    session.on('close', leave);
    session.on('error', leave);
    return session;
  }

  async #ask(session: ClientHttp2Session, path: string): Promise<string> {
    if (session.closed || session.destroyed) throw new NotBegun('the connection has ended');
    const stream = session.request({ ':path': path, ':authority': this.#place.name });
    let [status, body] = [0, ''];
    let hasBegun = false;
    stream.on('response', (headers) => {
      hasBegun = true;
      status = Number(headers[':status']);
    });
    stream.setEncoding('utf8');
    stream.on('data', (piece: string) => (body += piece));
    const failures: Error[] = [];
    stream.on('error', (error: Error) => failures.push(error));
    await new Promise<void>((resolve) => stream.once('close', resolve));
    // Error 7 is REFUSED_STREAM: the server has not processed the request.
    if (!hasBegun && (stream.rstCode === 7 || session.destroyed)) throw new NotBegun('it was not begun');
    for (const failure of failures) throw failure;
    return mustAnswer(status, body);
  }
}
class NotBegun extends Error {}

async function requestKeepAlive(options: RequestOptions, isSecure: boolean, repeated: () => void): Promise<string> {
  const call = isSecure ? secureRequest(options) : request(options);
  call.end();
  try {
    return await textOf(await answerOf(call));
  } catch (error) {
    const isClosed =
      error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    if (!call.reusedSocket || !isClosed) throw error;
    repeated();
    return requestKeepAlive(options, isSecure, repeated);
  }
}

const ask = async (options: RequestOptions, isSecure: boolean): Promise<string> =>
  textOf(await answered(options, isSecure));

async function answered(options: RequestOptions, isSecure: boolean): Promise<IncomingMessage> {
  const call = isSecure ? secureRequest(options) : request(options);
  call.end();
  return answerOf(call);
}

function answerOf(call: ReturnType<typeof request>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    call.on('response', resolve);
    call.on('error', reject);
    call.setTimeout(60_000, () => call.destroy(new Error('silent for a minute')));
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of answer) body += String(piece);
  return mustAnswer(answer.statusCode ?? 0, body);
}

function mustAnswer(status: number, body: string): string {
  if (status !== 200) throw new Error(`status ${status}`);
  return body;
}

function assertEqual(said: string, expected: string): void {
  if (said !== expected) throw new Error(`wrong answer: ${said.slice(0, 60)}`);
}
