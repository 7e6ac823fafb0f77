// How much text the lists of a document may hold together. No document outgrows what nodes take (MAX_DOCUMENT_BYTES): the
// other lists are bounded by the number and the length of their entries. Checked where a change is recorded (changes.ts).
import { failAt } from './fail.ts';

/** NATS carries 8 MB in a message; a body within JSON takes up to twice its size there. */
export const MAX_DOCUMENT_BYTES = 3 * 1024 * 1024;

interface WeighedList {
  kind: 'site' | 'module';
  table: string;
  /** Of the rows that belong to a document: the column with the document's id. */
  of: string;
  /** SQL: where the form shows the error. */
  field: string;
  /** SQL: at least the bytes that a row `r` takes in the document. */
  bytes: string;
  limit: number;
}

const jsonBytes = 'octet_length(row_to_json(r)::text)';
// A target is sent encoded: three bytes for each byte that no URL holds.
const target = `octet_length(r.target) + 2 * octet_length(regexp_replace(r.target, '[]!#-;=?-Z_a-z~[]', '', 'g'))`;

export const weighedLists: readonly WeighedList[] = [
  { kind: 'site', table: 'cache_rules', of: 'site_id', field: `'rules'`, bytes: jsonBytes, limit: 1024 * 1024 },
  {
    kind: 'module',
    table: 'modules',
    of: 'id',
    field: `CASE r.kind WHEN 'tokenAuth' THEN 'auths' WHEN 'proxyRewrite' THEN 'rules' ELSE 'headers' END`,
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

/** Prisma's client inside a transaction. */
interface RawTx {
  $queryRawUnsafe<T>(query: string, ...values: unknown[]): PromiseLike<T>;
}
const isRaw = (tx: object): tx is RawTx => '$queryRawUnsafe' in tx;

const behind = new WeakMap<object, object>();
/** A scoped transaction has no SQL of its own: this is the transaction behind it. */
export const registerTransaction = (scoped: object, tx: object) => void behind.set(scoped, tx);

/** A list over its limit stays until this transaction writes to it: an older site can still be paused, or lose rules. */
const query = (kind: string) =>
  weighedLists
    .filter((list) => list.kind === kind)
    .map(
      ({ table, of, field, bytes, limit }) =>
        `SELECT ${field} AS field FROM ${table} r WHERE r.${of} = ANY($1::uuid[]) GROUP BY r.${of}, 1
         HAVING sum(${bytes}) > ${limit} AND bool_or(age(r.xmin) <= age(pg_current_xact_id()::xid))`,
    )
    .join(' UNION ALL ');
const queries = (['site', 'module'] as const).map((kind) => ({ prefix: `${kind}/`, text: query(kind) }));

/** Fails where this transaction writes to a list of one of these documents that is now too long. */
export async function assertWeight(tx: object, keys: readonly string[]): Promise<void> {
  const raw = behind.get(tx) ?? tx;
  for (const { prefix, text } of queries) {
    const ids = keys.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    if (ids.length === 0) continue;
    if (!isRaw(raw)) throw new Error('documents can only be weighed within a transaction');
    const [found] = await raw.$queryRawUnsafe<{ field: string }[]>(text, ids);
    if (found) failAt(found.field, 'range', 'too much text');
  }
}
