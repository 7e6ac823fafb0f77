// A process with the embedded engine of ClickHouse behind its HTTP interface, as far as @clickhouse/client uses it for
// statements, inserts and parameters. Arguments: its directory and database. Ends with its standard input.
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Session } from 'chdb';

const [, , directory = '', database = ''] = process.argv;
const session = new Session(directory);
session.query(`CREATE DATABASE IF NOT EXISTS ${database}`);
session.query(`USE ${database}`);

/** URL parameters that are no settings. */
const OWN = /^(?:query|query_id|database|session_id|default_format|role|param_.*)$/;

async function statementOf(request: IncomingMessage): Promise<string> {
  const fields = new URL(request.url ?? '', 'http://localhost').searchParams;
  const body = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  let data = body.toString();
  if (type.startsWith('multipart/')) {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) fields.set(name, String(value));
    data = '';
  }
  const query = [fields.get('query'), data].filter((text) => text !== null && text !== '').join('\n');
  const settings = [...fields].filter(([name]) => !OWN.test(name)).map(([name, value]) => `${name} = ${quote(value)}`);
  const [head, ...lines] = split(query);
  const bound = head.replace(/\{(\w+):\s*(\w+(?:\(\w+\))?)\}/g, (_, name: string, of: string) =>
    bind(fields.get(`param_${name}`) ?? '', of),
  );
  const set = settings.length === 0 ? '' : ` SETTINGS ${settings.join(', ')}`;
  return [bound.replace(/\sFORMAT\s+\w+\s*$/, (format) => `${set}${format}`), ...lines].join('');
}

/** The data of an insert begins in the line after its format. */
function split(query: string): [string, ...string[]] {
  const insert = /^\s*INSERT[^\n]*?FORMAT \w+\n/.exec(query);
  return insert === null ? [query] : [insert[0], query.slice(insert[0].length)];
}

/** Values are written as in tab-separated files, and read by their type. */
function bind(value: string, type: string): string {
  if (/^U?Int\d+$/.test(type)) return String(BigInt(value));
  const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' };
  const text = value.replaceAll(/\\(.)/gs, (_, character: string) => escapes[character] ?? character);
  return type === 'String' ? quote(text) : `CAST(${quote(type.startsWith('Array') ? value : text)}, '${type}')`;
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;

/** The engine runs one statement of a session at a time. */
let last: Promise<unknown> = Promise.resolve();
const inTurn = (statement: string) => {
  const result = last.then(() => session.queryAsync(statement, { format: 'TabSeparated' }));
  last = result.catch(() => undefined);
  return result;
};

const server = createServer((request, response) => {
  const answer = async () =>
    request.url?.startsWith('/ping') ? 'Ok.\n' : (await inTurn(await statementOf(request))).text();
  answer().then(
    (text) => response.end(text),
    (error: unknown) => {
      const message = String(error instanceof Error ? error.message : error);
      const [, code = '1'] = /Code: (\d+)/.exec(message) ?? [];
      response.writeHead(500, { 'x-clickhouse-exception-code': code }).end(message);
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : '');
});
process.stdin.resume().on('end', () => process.exit(0));
