// What all stand-ins of DNS vendors share: a server on this machine, and records in memory.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';

export interface Asked {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  body: string;
}
export interface Answer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}
export interface Kept {
  id: string;
  /** In full. */
  name: string;
  type: string;
  line: string;
  values: string[];
  ttl: number;
  weight?: number;
}

export interface Vendor {
  url: string;
  zone: string;
  key: { keyID: string; keySecret: string };
  records: Records;
  /** How often it has answered, busy or not. */
  calls: () => number;
  /** So many calls are answered that there are too many of them. */
  busyFor: (calls: number) => void;
  stop: () => Promise<void>;
}

/** Records, and whether a set ever lost its last value and then got another. */
export class Records {
  rows: Kept[] = [];
  gaps: string[] = [];
  #last = 0;
  readonly #emptied = new Set<string>();

  add(row: Omit<Kept, 'id'>): Kept {
    if (this.#emptied.has(keyOf(row))) this.gaps.push(keyOf(row));
    const kept = { ...row, id: String((this.#last += 1)) };
    this.rows.push(kept);
    return kept;
  }
  drop(id: string): boolean {
    const row = this.rows.find((one) => one.id === id);
    if (!row) return false;
    this.rows = this.rows.filter((one) => one !== row);
    if (!this.rows.some((one) => keyOf(one) === keyOf(row))) this.#emptied.add(keyOf(row));
    return true;
  }
  /** So many names that nobody asks about. */
  fill(zone: string, count: number, line: string) {
    for (let at = 0; at < count; at += 1)
      this.add({ name: `n${at}.${zone}`, type: 'A', line, values: ['192.0.2.1'], ttl: 600 });
  }
}
const keyOf = ({ name, type, line }: Pick<Kept, 'name' | 'type' | 'line'>) => `${name} ${type} ${line}`;

interface Speaks {
  /** Its answer when the signature is wrong, or null. */
  refuse: (asked: Asked) => Answer | null;
  busy: Answer;
  answer: (asked: Asked) => Answer;
}

export async function standIn({
  refuse,
  busy,
  answer,
}: Speaks): Promise<Pick<Vendor, 'url' | 'calls' | 'busyFor' | 'stop'>> {
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
      const { status, body, headers: more = {} } = isBusy ? busy : (refuse(asked) ?? answer(asked));
      response.writeHead(status, more).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  return {
    url: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    calls: () => calls,
    busyFor: (count) => {
      busyCalls = count;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

export const json = (status: number, body: object): Answer => ({
  status,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** As vendors read an Authorization field: `Algorithm Name=value, Name=value`. */
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

/** Headers that were signed, as one text; each by its name in lower case and its value trimmed. */
export const headerLines = (headers: IncomingHttpHeaders, names: string[]) =>
  names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');

/** Every letter but the unreserved ones by its bytes. */
export const percent = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[A-Za-z0-9_.~-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
/** What was asked for, sorted by name, as it is signed. */
export const sortedQuery = (url: URL) =>
  [...url.searchParams.keys()]
    .sort()
    .map((name) => `${percent(name)}=${percent(url.searchParams.get(name) ?? '')}`)
    .join('&');

export const isFresh = (at: number, withinMinutes: number) => Math.abs(Date.now() - at) < withinMinutes * 60_000;
