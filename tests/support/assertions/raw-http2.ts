// An HTTP/2 client that sends any header fields, also those that Node and curl refuse.
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const FRAME_HEAD_BYTES = 9;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const GOAWAY = 7;
const WINDOW_UPDATE = 8;
const END_HEADERS = 4;
const END_STREAM_AND_HEADERS = 5;
const INITIAL_WINDOW_SIZE = 4;
const SETTING_BYTES = 6;
/** The first byte of a response's header block: RFC 7541, appendix A. */
const statuses: Readonly<Record<number, number>> = { 0x88: 200, 0x89: 204, 0x8b: 304, 0x8c: 400, 0x8d: 404, 0x8e: 500 };

/** A status, or the end of the stream or of the connection without one. */
type Outcome = number | 'reset' | 'closed';

/** A connection that is closed with its socket. */
export class RawHttp2 {
  readonly #socket: TLSSocket;
  readonly #outcomes = new Map<number, Outcome>();
  readonly #windowUpdates = new Map<number, number>();
  #initialWindow = 65_535;
  #received: Buffer = Buffer.alloc(0);
  #lastStream = -1;

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  static async open(port: number, servername: string): Promise<RawHttp2> {
    const socket = connect({ port, servername, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(SETTINGS, 0, 0, Buffer.alloc(0))]));
    return new RawHttp2(socket);
  }

  /** A GET request. The names of `fields` are sent as they are. */
  async get(authority: string, path: string, fields: readonly [name: string, value: string][] = []): Promise<Outcome> {
    const stream = this.#ask('GET', authority, path, fields, END_STREAM_AND_HEADERS);
    while (!this.#outcomes.has(stream) && !this.#socket.destroyed)
      await Promise.race([once(this.#socket, 'data'), once(this.#socket, 'close')]);
    return this.#outcomes.get(stream) ?? 'closed';
  }

  /** Begins a POST request, and sends nothing of its body. Returns its stream. */
  post(authority: string, path: string, fields: readonly [name: string, value: string][] = []): number {
    return this.#ask('POST', authority, path, fields, END_HEADERS);
  }

  /** Number of bytes that this stream may send before the server reads any. */
  windowOf(stream: number): number {
    return this.#initialWindow + (this.#windowUpdates.get(stream) ?? 0);
  }

  /** Undefined until the server responds. */
  outcomeOf(stream: number): Outcome | undefined {
    return this.#outcomes.get(stream);
  }

  close(): void {
    this.#socket.destroy();
  }

  #ask(method: string, authority: string, path: string, fields: readonly [string, string][], flags: number): number {
    const all = [[':method', method], [':scheme', 'https'], [':authority', authority], [':path', path], ...fields];
    const block = Buffer.concat(all.map(([name = '', value = '']) => literal(name, value)));
    const stream = (this.#lastStream += 2);
    this.#socket.write(frame(HEADERS, flags, stream, block));
    return stream;
  }

  #read(chunk: Buffer) {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= FRAME_HEAD_BYTES) {
      const length = FRAME_HEAD_BYTES + this.#received.readUIntBE(0, 3);
      if (this.#received.length < length) return;
      this.#readFrame(this.#received.subarray(0, length));
      this.#received = this.#received.subarray(length);
    }
  }

  #readFrame(bytes: Buffer) {
    const [type, stream, first = 0] = [bytes[3], bytes.readUInt32BE(5), bytes[FRAME_HEAD_BYTES]];
    if (type === RST_STREAM && !this.#outcomes.has(stream)) this.#outcomes.set(stream, 'reset');
    if (type === HEADERS && !this.#outcomes.has(stream)) this.#outcomes.set(stream, statuses[first] ?? 0);
    if (type === SETTINGS) this.#readSettings(bytes.subarray(FRAME_HEAD_BYTES));
    if (type === WINDOW_UPDATE)
      this.#windowUpdates.set(stream, (this.#windowUpdates.get(stream) ?? 0) + bytes.readUInt32BE(FRAME_HEAD_BYTES));
    if (type === GOAWAY) this.#socket.destroy();
  }

  #readSettings(settings: Buffer) {
    for (let at = 0; at < settings.length; at += SETTING_BYTES)
      if (settings.readUInt16BE(at) === INITIAL_WINDOW_SIZE) this.#initialWindow = settings.readUInt32BE(at + 2);
  }
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A field without compression, of less than 127 bytes in name and value. */
function literal(name: string, value: string): Buffer {
  const part = (text: string) => Buffer.concat([Buffer.from([Buffer.byteLength(text)]), Buffer.from(text)]);
  return Buffer.concat([Buffer.from([0]), part(name), part(value)]);
}
