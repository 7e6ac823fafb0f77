// Tenant scoping: narrows all queries through `ctx.db` by owners.ts, and refuses those it cannot narrow. The unscoped
// client is for sign-in, jobs and the node link only.
import type pg from 'pg';
import type { PrismaClient } from '../generated/client.ts';
import { conflictIn } from './conflict.ts';
import type { Actor } from './actor.ts';
import { readDataModel } from './data-model.ts';
import { registerTransaction } from './document-weight.ts';
import { fail } from './fail.ts';
import { licenseIn, type ClientLicense } from './license.ts';
import { owners, type Model } from './owners.ts';
import { InsertRaceError, repeat } from './repeat.ts';
import { reading, type Read } from './sql.ts';

/** Prisma's models in a transaction, without raw SQL: `tx.$queryRaw` does not compile. */
export type ScopedTx = { [M in Model as Uncapitalize<M>]: PrismaClient[Uncapitalize<M>] };
/** With the licence checks, which need a transaction. */
export interface LicensedTx extends ScopedTx {
  $license: ClientLicense;
}
export interface ScopedDb extends ScopedTx {
  $transaction<T>(work: (tx: LicensedTx) => Promise<T>): Promise<T>;
  /** Plain SQL with the same scope, outside transactions, for frequent reads (sql.ts). */
  $read: Read;
}

const reads = [
  'findUnique',
  'findUniqueOrThrow',
  'findFirst',
  'findFirstOrThrow',
  'findMany',
  'count',
  'aggregate',
  'groupBy',
];
const creates = ['create', 'createMany', 'createManyAndReturn'];
const changes = ['update', 'updateMany', 'updateManyAndReturn', 'upsert', 'delete', 'deleteMany'];

// A batch of a thousand names with origins takes some hundred milliseconds. Waiting for a connection may take longer.
const patience = { timeout: 20_000, maxWait: 10_000 };

type Intent = 'reads' | 'writes';
type Args = Record<string, unknown>;
type Call = (model: string, operation: string, args: Args) => Promise<unknown>;
type Client = Record<string, Record<string, (args: Args) => Promise<unknown>>>;

export function scoping(root: PrismaClient, pool: pg.Pool): (actor: Actor) => ScopedDb {
  const { models, isField, relation, listsOf } = readDataModel(root);
  const read = reading(pool);

  class ScopedModels {
    readonly call: Call;
    constructor(call: Call) {
      this.call = call;
    }
  }
  // One property per model, created on first use, since a call needs one or two.
  for (const model of models) {
    Object.defineProperty(ScopedModels.prototype, lower(model), {
      get(this: ScopedModels) {
        const { call } = this;
        return new Proxy(
          {},
          {
            get:
              (_, operation) =>
              (args: Args = {}) =>
                call(model, String(operation), args),
          },
        );
      },
    });
  }
  const scopedTx = (scoped: unknown) => scoped as ScopedTx;

  return (actor) => {
    const over = (client: unknown) =>
      new ScopedModels((model, operation, args) => run(client as Client, model, operation, args));
    const db: unknown = Object.assign(over(root), {
      $transaction: <T>(work: (tx: LicensedTx) => Promise<T>) =>
        root.$transaction((tx) => {
          const scoped = Object.assign(scopedTx(over(tx)), { $license: licenseIn(tx, actor.clientId) });
          registerTransaction(scoped, tx);
          return work(scoped);
        }, patience),
      $read: read(actor),
    });
    return db as ScopedDb;

    async function run(client: Client, model: string, operation: string, args: Args) {
      const isRead = reads.includes(operation);
      const isCreate = creates.includes(operation);
      const owner = owners[model as Model];
      if (
        owner === '(none)' ||
        (owner === '(append)' && !isCreate) ||
        !(isRead || isCreate || changes.includes(operation))
      )
        throw new Error(`${model}.${operation} is outside every scope`);

      await checkReferences(client, model, [args['data'], args['create'], args['update']].flat().filter(isArgs));
      const shown = below(model, args);
      if (isCreate) return client[lower(model)]?.[operation]?.(shown);
      const intent = isRead ? 'reads' : 'writes';
      // A narrowed findUnique is three times slower than findFirst, and Prisma joins unnarrowed ones across callers.
      const asked = operation.startsWith('findUnique') ? flat(model, args['where']) : args['where'];
      const where = narrow(model, asked, intent);
      const work = async () => client[lower(model)]?.[operation.replace('Unique', 'First')]?.({ ...shown, where });
      if (operation !== 'upsert') return work();
      // A narrowed upsert reads before it inserts, so a concurrent insert may come between.
      const upsert = () =>
        work().catch((error: unknown) => {
          throw conflictIn(error) === null
            ? error
            : new InsertRaceError('the row was inserted meanwhile', { cause: error });
        });
      return (client as unknown) === root ? repeat(upsert) : upsert();
    }

    function mine(model: string, intent: Intent): Args {
      const owner = owners[model as Model];
      if (owner === '(append)' || owner === '(none)') throw new Error(`${model} is never read through a scope`);
      const rule = typeof owner === 'object' ? owner[intent] : owner;
      if (typeof rule === 'function') return rule(actor);
      return { [rule]: mine(relation(model, rule)?.model ?? rule, intent) };
    }

    function narrow(model: string, asked: unknown, intent: Intent = 'reads') {
      const own = mine(model, intent);
      return isArgs(asked) ? { ...asked, AND: [own, ...list(asked['AND'])] } : own;
    }

    /** Nested lists are narrowed too: a sub-user's site leads to its zone, and the zone to all sites. */
    function below(model: string, args: Args): Args {
      const parts = (asked: Args) => Object.keys(asked).map((name) => [name, part(model, name, asked[name])]);
      const shown = { ...args };
      for (const key of ['include', 'select']) if (isArgs(args[key])) shown[key] = Object.fromEntries(parts(args[key]));
      return shown;
    }

    function part(model: string, name: string, asked: unknown): unknown {
      if (name === '_count' && asked) return below(model, isArgs(asked) ? asked : { select: readable(model) });
      const child = relation(model, name);
      if (!child || !asked) return asked;
      const shown = below(child.model, isArgs(asked) ? asked : {});
      if (!child.isList) return shown;
      return { ...shown, where: narrow(child.model, shown['where']) };
    }

    /** The lists that `_count: true` may count. */
    function readable(model: string) {
      const names = listsOf(model).filter((name) => {
        const owner = owners[(relation(model, name)?.model ?? name) as Model];
        return owner !== '(none)' && owner !== '(append)';
      });
      return Object.fromEntries(names.map((name) => [name, true]));
    }

    /** A row may only reference rows that the actor sees. Nested writes are refused. */
    async function checkReferences(client: Client, model: string, rows: Args[]) {
      const wanted = new Map<string, Set<unknown>>();
      for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
        if (relation(model, name)) throw new Error(`${model}.${name}: no nested writes through a scope`);
        const parent = name.endsWith('Id') ? relation(model, name.slice(0, -2)) : null;
        const id = isArgs(value) ? value['set'] : value;
        if (parent && id != null) wanted.set(parent.model, (wanted.get(parent.model) ?? new Set()).add(id));
      }
      for (const [parent, ids] of wanted) {
        const seen = await client[lower(parent)]?.['count']?.({ where: narrow(parent, { id: { in: [...ids] } }) });
        if (seen !== ids.size) fail('NOT_FOUND');
      }
    }
  };

  /** findUnique names a compound key as `{ siteId_accountId: { siteId, accountId } }`. */
  function flat(model: string, key: unknown): Args {
    const isPair = (name: string) => !isField(model, name) && !['AND', 'OR', 'NOT'].includes(name);
    return Object.fromEntries(
      Object.entries(key ?? {}).flatMap(([name, value]) =>
        isArgs(value) && isPair(name) ? Object.entries(value) : [[name, value]],
      ),
    );
  }
}

const lower = (model: string) => model.charAt(0).toLowerCase() + model.slice(1);
const isArgs = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !(value instanceof Date);
const list = (value: unknown) => [value].flat().filter(isArgs);
