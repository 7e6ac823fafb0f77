// Short rule lists of a site or a domain, contained whole in its document: read at once, changed by id under a lock,
// and published in the same transaction.
import { randomUUIDv7 } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from './changes.ts';
import type { Ctx } from './ctx.ts';
import { fail, failAt } from './fail.ts';
import type { ScopedTx } from './scope.ts';

/** Null: rules of the site, for all its domains. */
export interface Place {
  siteId: string;
  domainId: string | null;
}

export interface OnSite extends Place {
  domainId: null;
}
export const onSite = ({ siteId }: { siteId: string }): OnSite => ({ siteId, domainId: null });

interface Table<P extends Place, Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input> {
  /** The form field that shows errors. */
  field: string;
  limit: number;
  /** For all rules of one place together. */
  maxBytes: number;
  /** In the order of evaluation at the edge. */
  read: (tx: ScopedTx, place: P) => Promise<Rule[]>;
  insert: (tx: ScopedTx, rows: (Input & P & { id: string })[]) => Promise<unknown>;
  change: (tx: ScopedTx, input: Input & { id: string }) => Promise<unknown>;
  remove: (tx: ScopedTx, place: P, ids: string[]) => Promise<{ count: number }>;
  /** Normalizes an input for storage. */
  settle: <I extends Input>(input: I) => I;
}

export function ruleList<P extends Place, Rule extends { id: string; createdAt: Date; updatedAt: Date }, Input>(
  table: Table<P, Rule, Input>,
) {
  const within = <T>({ db }: Ctx, place: P, work: (tx: ScopedTx) => Promise<T>) =>
    db.$transaction(async (tx) => {
      const publish = await lock(tx, place);
      const done = await work(tx);
      await publish();
      return done;
    });

  async function readBack(tx: ScopedTx, place: P, ids: readonly string[]) {
    const all = await table.read(tx, place);
    if (all.length > table.limit) failAt(table.field, 'range', `at most ${table.limit} rules`);
    if (Buffer.byteLength(JSON.stringify(all)) > table.maxBytes) failAt(table.field, 'range', 'too much text');
    return { data: all.filter(({ id }) => ids.includes(id)) };
  }

  return {
    async list({ db }: Ctx, place: P) {
      await own(db, place);
      return { data: await table.read(db, place) };
    },

    create: (ctx: Ctx, place: P, inputs: Input[]) =>
      within(ctx, place, async (tx) => {
        const rows = inAgeOrder(inputs.map((input) => ({ ...table.settle(input), ...place })));
        await table.insert(tx, rows);
        return readBack(
          tx,
          place,
          rows.map(({ id }) => id),
        );
      }),

    update: (ctx: Ctx, place: P, inputs: (Input & { id: string })[]) =>
      within(ctx, place, async (tx) => {
        const before = new Map((await table.read(tx, place)).map((rule) => [rule.id, rule]));
        // Moving one rule sends all of them, so unchanged ones cost nothing.
        for (const input of inputs) {
          const was = before.get(input.id) ?? fail('NOT_FOUND');
          const settled = table.settle(input);
          if (!isDeepStrictEqual({ ...was, ...settled }, was)) await table.change(tx, settled);
        }
        return readBack(
          tx,
          place,
          inputs.map(({ id }) => id),
        );
      }),

    remove: (ctx: Ctx, place: P, ids: string[]) =>
      within(ctx, place, async (tx) => {
        const { count } = await table.remove(tx, place, ids);
        if (count !== new Set(ids).size) fail('NOT_FOUND');
        return { ids };
      }),
  };
}

/** Adds ids in the order of rules. Of equal priorities the older comes first. */
export function inAgeOrder<Row>(rows: Row[]): (Row & { id: string })[] {
  const ids = rows.map(() => randomUUIDv7()).toSorted();
  return rows.map((row, i) => ({ ...row, id: ids[i] ?? randomUUIDv7() }));
}

/** Returns the function that publishes the change. A disabled domain has no document. */
async function lock(tx: ScopedTx, { siteId, domainId }: Place): Promise<() => Promise<void>> {
  const data = { updatedAt: new Date() };
  if (domainId === null) {
    const { zoneId } = await tx.site.update({ where: { id: siteId }, data, select: { zoneId: true } });
    return () => changed(tx, zoneId, siteKey(siteId));
  }
  const select = { name: true, enabled: true, site: { select: { zoneId: true } } } as const;
  const { name, enabled, site } = await tx.domain.update({ where: { id: domainId, siteId }, data, select });
  return () => changed(tx, site.zoneId, ...(enabled ? [hostKey(name)] : []));
}

async function own(db: ScopedTx, { siteId, domainId }: Place) {
  const found =
    domainId === null
      ? await db.site.count({ where: { id: siteId } })
      : await db.domain.count({ where: { id: domainId, siteId } });
  if (found === 0) fail('NOT_FOUND');
}
