// Limits the total text of a document's lists, so that no document exceeds MAX_DOCUMENT_BYTES.
// The other lists are limited by the number and the length of their entries. changed() and restoreSite() check.
import { failAt } from './fail.ts';

/** NATS carries 8 MB in a message; a body within JSON takes up to twice its size there. */
export const MAX_DOCUMENT_BYTES = 3 * 1024 * 1024;

interface WeighedList {
  kind: 'site' | 'module';
  table: string;
  /** The column with the document's id. */
  of: string;
  /** SQL: the form field that shows the error. */
  field: string;
  /** SQL: an upper bound of the bytes of row `r` in the document. */
  bytes: string;
  limit: number;
}

// Without updated_at, which is not in the document and varies in length.
const jsonBytes = 'octet_length(row_to_json(r)::text) - octet_length(to_json(r.updated_at)::text)';
// Targets are sent percent-encoded, which triples bytes that URLs may not contain.
const target = `octet_length(r.target) + 2 * octet_length(regexp_replace(r.target, '[]!#-;=?-Z_a-z~[]', '', 'g'))`;

export const weighedLists: readonly WeighedList[] = [
  { kind: 'site', table: 'cache_rules', of: 'site_id', field: `'rules'`, bytes: jsonBytes, limit: 1024 * 1024 },
  // The site's document names a list's URLs. Its entries are a document of their own.
  {
    kind: 'site',
    table: 'firewall_lists',
    of: 'site_id',
    field: `'url'`,
    bytes: '200 + octet_length(array_to_json(r.urls)::text)',
    limit: 256 * 1024,
  },
  {
    kind: 'module',
    table: 'modules',
    of: 'id',
    field: `CASE r.kind WHEN 'tokenAuth' THEN 'auths' WHEN 'proxyRewrite' THEN 'rules' WHEN 'acl' THEN 'rules' WHEN 'luaAcl' THEN 'script' WHEN 'waf' THEN 'exceptions' ELSE 'headers' END`,
    bytes: 'octet_length(r.settings::text)',
    limit: 512 * 1024,
  },
  {
    kind: 'module',
    table: 'redirects',
    of: 'module_id',
    field: `'redirects'`,
    bytes: `250 + 2 * octet_length(r.source) + ${target}`,
    limit: 2900 * 1024,
  },
];

/** Prisma's client within a transaction. */
export interface RawTx {
  $queryRawUnsafe<T>(query: string, ...values: unknown[]): PromiseLike<T>;
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
}
const isRaw = (tx: object): tx is RawTx => '$queryRawUnsafe' in tx;

const behind = new WeakMap<object, object>();
/** Scoped transactions have no SQL. This finds the underlying transaction. */
export const registerTransaction = (scoped: object, tx: object) => void behind.set(scoped, tx);

export function rawOf(scoped: object): RawTx {
  const tx = behind.get(scoped);
  if (!tx || !isRaw(tx)) throw new Error('not a scoped transaction');
  return tx;
}

/** Locks the caller's account until the transaction ends, so that limits of its own rows hold. */
export async function lockAccount(scoped: object, { id }: { id: string }): Promise<void> {
  await rawOf(scoped).$queryRawUnsafe('SELECT 1 FROM accounts WHERE id = $1::uuid FOR UPDATE', id);
}

/** Counts the exports of all accounts of an operator, which is locked until the transaction ends. */
export async function countOperatorExports(scoped: object, clientId: string, day: string) {
  const tx = rawOf(scoped);
  // Weaker than FOR UPDATE, so that new accounts and sites of the operator do not wait.
  await tx.$queryRawUnsafe('SELECT 1 FROM clients WHERE id = $1::uuid FOR NO KEY UPDATE', clientId);
  const [counted] = await tx.$queryRawUnsafe<{ open: number; bytes: number; today: number }[]>(
    `SELECT count(*) FILTER (WHERE e.status IN ('waiting', 'processing'))::int AS open, coalesce(sum(e.bytes), 0)::float8 AS bytes,
       (SELECT coalesce(sum(d.exports), 0)::int FROM log_export_days d JOIN accounts o ON o.id = d.account_id
        WHERE o.client_id = $1::uuid AND d.day = $2) AS today
     FROM log_exports e JOIN accounts a ON a.id = e.account_id WHERE a.client_id = $1::uuid`,
    clientId,
    day,
  );
  return counted ?? { open: 0, bytes: 0, today: 0 };
}

interface LongList {
  /** The document's id and the list's table. */
  list: string;
  field: string;
  bytes: number;
  isWritten: boolean;
}

const query = (kind: string) =>
  weighedLists
    .filter((list) => list.kind === kind)
    .map(
      ({ table, of, field, bytes, limit }) =>
        `SELECT r.${of} || ' ${table}' AS list, ${field} AS field, sum(${bytes})::int AS bytes,
           bool_or(age(r.xmin) <= age(pg_current_xact_id()::xid)) AS "isWritten"
         FROM ${table} r WHERE r.${of} = ANY($1::uuid[]) GROUP BY r.${of}, 2 HAVING sum(${bytes}) > ${limit}`,
    )
    .join(' UNION ALL ');
const queries = (['site', 'module'] as const).map((kind) => ({ prefix: `${kind}/`, text: query(kind) }));

async function readLongLists(tx: object, keys: readonly string[]): Promise<LongList[]> {
  const found: LongList[] = [];
  for (const { prefix, text } of queries) {
    const ids = keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    if (ids.length === 0) continue;
    if (!isRaw(tx)) throw new Error('documents can only be weighed within a transaction');
    found.push(...(await tx.$queryRawUnsafe<LongList[]>(text, ids)));
  }
  return found;
}

const bytesBefore = new WeakMap<object, Map<string, number>>();

/** Call before changing these documents' lists. An existing excess is allowed while it does not grow. */
export async function noteWeight(tx: object, keys: readonly string[]): Promise<void> {
  const raw = behind.get(tx) ?? tx;
  const known = bytesBefore.get(raw) ?? new Map<string, number>();
  for (const { list, bytes } of await readLongLists(raw, keys)) known.set(list, known.get(list) ?? bytes);
  bytesBefore.set(raw, known);
}

/** Fields of lists that are too long and were extended by this transaction. */
export async function overweightFields(tx: object, keys: readonly string[]): Promise<string[]> {
  const raw = behind.get(tx) ?? tx;
  const known = bytesBefore.get(raw);
  const long = await readLongLists(raw, keys);
  return long
    .filter(({ list, bytes, isWritten }) => isWritten && bytes > (known?.get(list) ?? 0))
    .map(({ field }) => field);
}

/** Sites whose lists already exceed the limit can still be paused, and their rules removed or shortened. */
export async function assertWeight(tx: object, keys: readonly string[]): Promise<void> {
  const [field] = await overweightFields(tx, keys);
  if (field !== undefined) failAt(field, 'range', 'too much text');
}
