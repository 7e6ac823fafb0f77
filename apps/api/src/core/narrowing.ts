// Narrows the arguments of Prisma's calls to the rows that an actor may see, by owners.ts.
import type { Actor } from './actor.ts';
import type { DataModel } from './data-model.ts';
import { fail } from './fail.ts';
import { owners, type Model } from './owners.ts';

export type Args = Record<string, unknown>;
type Intent = 'reads' | 'writes';
/** Counts the rows of a model in the client of the call. */
type CountRows = (model: string, where: Args) => Promise<unknown>;

export class Narrowing {
  readonly #dataModel: DataModel;
  readonly #actor: Actor;

  constructor(dataModel: DataModel, actor: Actor) {
    this.#dataModel = dataModel;
    this.#actor = actor;
  }

  /** Adds the actor's condition to a `where`. */
  where(model: string, asked: unknown, intent: Intent = 'reads'): Args {
    const own = this.#ownedRows(model, intent);
    return isArgs(asked) ? { ...asked, AND: [own, ...list(asked['AND'])] } : own;
  }

  /** The `where` of a findUnique for findFirst. A compound key is `{ siteId_accountId: { siteId, accountId } }`. */
  uniqueWhere(model: string, key: unknown, intent: Intent): Args {
    const isCompound = (name: string) => !this.#dataModel.isField(model, name) && !['AND', 'OR', 'NOT'].includes(name);
    const flat = Object.entries(key ?? {}).flatMap(([name, value]) =>
      isArgs(value) && isCompound(name) ? Object.entries(value) : [[name, value]],
    );
    return this.where(model, Object.fromEntries(flat), intent);
  }

  /** Narrows nested lists too: a sub-user's site leads to its zone, and the zone to all sites. */
  nested(model: string, args: Args): Args {
    const narrowed = { ...args };
    for (const key of ['include', 'select']) {
      const asked = args[key];
      if (!isArgs(asked)) continue;
      const parts = Object.entries(asked).map(([name, part]) => [name, this.#nestedPart(model, name, part)]);
      narrowed[key] = Object.fromEntries(parts);
    }
    return narrowed;
  }

  /** A row may only reference rows that the actor sees. Nested writes are refused. */
  async checkReferences(model: string, rows: readonly Args[], countRows: CountRows): Promise<void> {
    for (const [parent, ids] of this.#referencesOf(model, rows)) {
      const seen = await countRows(parent, this.where(parent, { id: { in: [...ids] } }));
      if (seen !== ids.size) fail('NOT_FOUND');
    }
  }

  #referencesOf(model: string, rows: readonly Args[]): Map<string, Set<unknown>> {
    const { relation } = this.#dataModel;
    const references = new Map<string, Set<unknown>>();
    for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
      if (relation(model, name)) throw new Error(`${model}.${name}: no nested writes through a scope`);
      const parent = name.endsWith('Id') ? relation(model, name.slice(0, -2)) : null;
      const id = isArgs(value) ? value['set'] : value;
      if (parent && id != null) references.set(parent.model, (references.get(parent.model) ?? new Set()).add(id));
    }
    return references;
  }

  #ownedRows(model: string, intent: Intent): Args {
    const owner = ownerOf(model);
    if (owner === '(append)' || owner === '(none)') throw new Error(`${model} is never read through a scope`);
    const rule = typeof owner === 'object' ? owner[intent] : owner;
    if (typeof rule === 'function') return rule(this.#actor);
    return { [rule]: this.#ownedRows(this.#dataModel.relation(model, rule)?.model ?? rule, intent) };
  }

  #nestedPart(model: string, name: string, asked: unknown): unknown {
    if (name === '_count' && asked)
      return this.nested(model, isArgs(asked) ? asked : { select: this.#countable(model) });
    const child = this.#dataModel.relation(model, name);
    if (!child || !asked) return asked;
    const narrowed = this.nested(child.model, isArgs(asked) ? asked : {});
    return child.isList ? { ...narrowed, where: this.where(child.model, narrowed['where']) } : narrowed;
  }

  /** The lists that `_count: true` may count. */
  #countable(model: string): Args {
    const { relation, listsOf } = this.#dataModel;
    const names = listsOf(model).filter((name) => {
      const owner = ownerOf(relation(model, name)?.model ?? name);
      return owner !== '(none)' && owner !== '(append)';
    });
    return Object.fromEntries(names.map((name) => [name, true]));
  }
}

export function ownerOf(model: string) {
  if (!isModel(model)) throw new Error(`${model} has no owner`);
  return owners[model];
}
const isModel = (model: string): model is Model => Object.hasOwn(owners, model);

export const isArgs = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !(value instanceof Date);
const list = (value: unknown) => [value].flat().filter(isArgs);
