// Shared by the fake DNS vendors: an HTTP server and records in memory.
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';

export interface VendorRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: string;
}
export interface VendorResponse {
  status: number;
  body: string;
  headers?: Record<string, string>;
}
export interface StoredRecord {
  id: string;
  /** Fully qualified. */
  name: string;
  type: string;
  line: string;
  values: string[];
  ttl: number;
  weight?: number;
}

export interface FakeVendor {
  url: string;
  zone: string;
  key: { keyID: string; keySecret: string };
  records: Records;
  /** Number of requests so far, including rate-limited ones. */
  calls: () => number;
  /** Rate-limits the next requests. */
  rateLimitNext: (calls: number) => void;
  stop: () => Promise<void>;
}

/** The records, and whether a set was ever deleted and created again. */
export class Records {
  rows: StoredRecord[] = [];
  gaps: string[] = [];
  #last = 0;
  readonly #emptied = new Set<string>();

  add(row: Omit<StoredRecord, 'id'>): StoredRecord {
    if (this.#emptied.has(keyOf(row))) this.gaps.push(keyOf(row));
    const stored = { ...row, id: String((this.#last += 1)) };
    this.rows.push(stored);
    return stored;
  }
  drop(id: string): boolean {
    const row = this.rows.find((one) => one.id === id);
    if (!row) return false;
    this.rows = this.rows.filter((one) => one !== row);
    if (!this.rows.some((one) => keyOf(one) === keyOf(row))) this.#emptied.add(keyOf(row));
    return true;
  }
  /** Adds many unrelated names. */
  fill(zone: string, count: number, line: string) {
    for (let at = 0; at < count; at += 1)
      this.add({ name: `n${at}.${zone}`, type: 'A', line, values: ['192.0.2.1'], ttl: 600 });
  }
}
const keyOf = ({ name, type, line }: Pick<StoredRecord, 'name' | 'type' | 'line'>) => `${name} ${type} ${line}`;

interface VendorApi {
  /** Returns an error response if the signature is wrong, otherwise null. */
  checkSignature: (asked: VendorRequest) => VendorResponse | null;
  rateLimited: VendorResponse;
  respond: (asked: VendorRequest) => VendorResponse;
}

export async function startFakeVendor({
  checkSignature,
  rateLimited,
  respond,
}: VendorApi): Promise<Pick<FakeVendor, 'url' | 'calls' | 'rateLimitNext' | 'stop'>> {
  let calls = 0;
  let busyCalls = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls += 1;
      const { method = 'GET', headers } = request;
      const url = new URL(request.url ?? '/', `http://${headers.host}`);
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString() };
      const isBusy = busyCalls > 0;
      if (isBusy) busyCalls -= 1;
      const { status, body, headers: more = {} } = isBusy ? rateLimited : (checkSignature(asked) ?? respond(asked));
      response.writeHead(status, more).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    url: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    calls: () => calls,
    rateLimitNext: (count) => {
      busyCalls = count;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export const json = (status: number, body: object): VendorResponse => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** Parses an Authorization header: `Algorithm Name=value, Name=value`. */
export function readAuthorization(field: string | undefined) {
  const [algorithm = '', ...rest] = (field ?? '').split(' ');
  const parts = new Map(
    rest
      .join('')
      .split(',')
      .map((part): [string, string] => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
  );
  return { algorithm, part: (name: string) => parts.get(name) ?? '' };
}

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
export const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();

/** The signed headers as text: lower-case names, trimmed values. */
export const headerLines = (headers: IncomingHttpHeaders, names: string[]) =>
  names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');

/** Percent-encodes everything but unreserved characters. */
const percent = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[A-Za-z0-9_.~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
/** The query sorted by name, as it is signed. */
export const sortedQuery = (url: URL) =>
  [...url.searchParams.keys()]
    .sort()
    .map((name) => `${percent(name)}=${percent(url.searchParams.get(name) ?? '')}`)
    .join('&');

export const isFresh = (at: number, withinMinutes: number) => Math.abs(Date.now() - at) < withinMinutes * 60_000;
