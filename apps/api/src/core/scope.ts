// Tenant scoping: narrows all queries through `ctx.db` by owners.ts, and refuses those it cannot narrow. The unscoped
// client is for sign-in, jobs and the node link only.
import type pg from 'pg';
import type { PrismaClient } from '../generated/client.ts';
import { conflictIn } from './conflict.ts';
import type { Actor } from './actor.ts';
import { readDataModel } from './data-model.ts';
import { registerTransaction } from './document-weight.ts';
import { licenseIn, type ClientLicense } from './license.ts';
import { isArgs, Narrowing, ownerOf, type Args } from './narrowing.ts';
import type { Model } from './owners.ts';
import { InsertRaceError, repeat } from './repeat.ts';
import { reading, type Read } from './sql.ts';

/** Prisma's models in a transaction, without raw SQL: `tx.$queryRaw` does not compile. */
export type ScopedTx = { [M in Model as Uncapitalize<M>]: PrismaClient[Uncapitalize<M>] };
/** With the license checks, which need a transaction. */
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

type Call = (model: string, operation: string, args: Args) => Promise<unknown>;
type Client = Record<string, Record<string, (args: Args) => Promise<unknown>>>;

export function scoping(root: PrismaClient, pool: pg.Pool): (actor: Actor) => ScopedDb {
  const dataModel = readDataModel(root);
  const modelsOf = createModels(dataModel.models);
  const read = reading(pool);

  return (actor) => {
    const narrowing = new Narrowing(dataModel, actor);
    const over = (client: unknown) =>
      modelsOf((model, operation, args) => {
        const work = () => runNarrowed(narrowing, client as Client, { model, operation, args });
        // Within a transaction, only the transaction as a whole can be repeated.
        return operation === 'upsert' && client === root ? repeat(work) : work();
      });
    const db: unknown = Object.assign(over(root), {
      $transaction: <T>(work: (tx: LicensedTx) => Promise<T>) =>
        root.$transaction((tx) => {
          const scoped = Object.assign(over(tx), { $license: licenseIn(tx, actor.clientId) });
          registerTransaction(scoped, tx);
          return work(scoped);
        }, patience),
      $read: read(actor),
    });
    return db as ScopedDb;
  };
}

/** Creates objects with a property per model, each made on first use, since a call needs one or two. */
function createModels(models: readonly string[]): (call: Call) => ScopedTx {
  class ScopedModels {
    readonly call: Call;
    constructor(call: Call) {
      this.call = call;
    }
  }
  for (const model of models) {
    Object.defineProperty(ScopedModels.prototype, lower(model), {
      get(this: ScopedModels) {
        const { call } = this;
        const get =
          (_: object, operation: string | symbol) =>
          (args: Args = {}) =>
            call(model, String(operation), args);
        return new Proxy({}, { get });
      },
    });
  }
  return (call) => new ScopedModels(call) as unknown as ScopedTx;
}

interface ScopedCall {
  model: string;
  operation: string;
  args: Args;
}

async function runNarrowed(narrowing: Narrowing, client: Client, { model, operation, args }: ScopedCall) {
  checkAllowed(model, operation);
  const rows = [args['data'], args['create'], args['update']].flat().filter(isArgs);
  await narrowing.checkReferences(model, rows, async (parent, where) => client[lower(parent)]?.['count']?.({ where }));
  const asked = narrowing.nested(model, args);
  if (creates.includes(operation)) return client[lower(model)]?.[operation]?.(asked);
  const intent = reads.includes(operation) ? 'reads' : 'writes';
  // A narrowed findUnique is three times slower than findFirst, and Prisma joins unnarrowed ones across callers.
  const where = operation.startsWith('findUnique')
    ? narrowing.uniqueWhere(model, args['where'], intent)
    : narrowing.where(model, args['where'], intent);
  try {
    return await client[lower(model)]?.[operation.replace('Unique', 'First')]?.({ ...asked, where });
  } catch (error) {
    // A narrowed upsert reads before it inserts, so a concurrent insert may come between.
    if (operation !== 'upsert' || conflictIn(error) === null) throw error;
    throw new InsertRaceError('the row was inserted meanwhile', { cause: error });
  }
}

function checkAllowed(model: string, operation: string): void {
  const owner = ownerOf(model);
  const isKnown = [...reads, ...creates, ...changes].includes(operation);
  if (owner === '(none)' || (owner === '(append)' && !creates.includes(operation)) || !isKnown)
    throw new Error(`${model}.${operation} is outside every scope`);
}

const lower = (model: string) => model.charAt(0).toLowerCase() + model.slice(1);
