// Common code of all module kinds: names, lists, changes, and removal of unused modules.
import { randomUUIDv7 } from 'node:crypto';
import type * as z from 'zod';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import type { AppliesTo, ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { assignInTransaction } from '../../core/assign-modules.ts';
import { changed } from '../../core/changes.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { noteWeight } from '../../core/document-weight.ts';
import { fail } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import * as sites from '../sites/sites.service.ts';
import { assertOwn } from './domain-modules.service.ts';

/** Per site and kind: every node of the zone loads each module. */
export const MODULES_OF_A_KIND = 200;

const include = { _count: { select: { domains: true, redirects: true } } } satisfies Prisma.ModuleInclude;
type Row = Prisma.ModuleGetPayload<{ include: typeof include }>;
type Listing = Paging<'name' | 'createdAt' | 'updatedAt'> & { keyword?: string | undefined };

/** Turns the input into the stored settings; `before`: the settings stored so far. */
type Settle<Settings, Input> = (
  input: Input,
  at: { ctx: Ctx; tx: ScopedTx; siteId: string; before: unknown },
) => Promise<Settings> | Settings;

/** The calls of one kind of module. `settings` parses stored values; the contract has already validated the input. */
export const modulesOf = <Settings extends Prisma.InputJsonObject, Sent extends object = Settings>(
  kind: ModuleKind,
  settings: z.ZodType<Settings>,
  settle: Settle<Settings, Sent> = (input) => settings.parse(input),
  /** Limits over all modules of a site, checked after the write under the site's lock. */
  assertFits: (tx: ScopedTx, siteId: string) => Promise<void> = async () => undefined,
) => {
  type Input = Sent & { name: string };
  type NewInput = Input & { appliesTo: AppliesTo };
  const shown = (row: Row) => ({
    ...settings.parse(row.settings),
    id: row.id,
    name: row.name,
    inUse: row._count.domains,
    redirectCount: row._count.redirects,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  });
  const read = async (tx: ScopedTx, ids: string[]) => {
    const rows = await tx.module.findMany({ where: { id: { in: ids } }, include });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []).map(shown);
  };

  return {
    async list({ db }: Ctx, siteId: string, { keyword, ...paging }: Listing) {
      await sites.own(db, siteId);
      const where = { siteId, kind, ...(keyword && { name: containing(keyword) }) };
      const [rows, total] = await Promise.all([
        db.module.findMany({ where, include, ...pageOf(paging) }),
        db.module.count({ where }),
      ]);
      return { data: rows.map(shown), total };
    },

    create: (ctx: Ctx, siteId: string, inputs: NewInput[]) =>
      ctx.db.$transaction(async (tx) => {
        const { zoneId } = await sites.lock(tx, siteId);
        if ((await tx.module.count({ where: { siteId, kind } })) + inputs.length > MODULES_OF_A_KIND)
          fail('LIMIT_REACHED', { extra: { limit: MODULES_OF_A_KIND } });
        const rows = [];
        const assignments = [];
        for (const input of inputs) {
          const settled = await settle(input, { ctx, tx, siteId, before: null });
          const id = randomUUIDv7();
          rows.push({ id, siteId, kind, name: input.name, settings: settled });
          const { appliesTo } = input;
          const domains = Array.isArray(appliesTo) ? [...new Set(appliesTo)] : appliesTo;
          assignments.push({ siteId, zoneId, kind, moduleId: id, domains });
        }
        await orFail('DUPLICATED', tx.module.createMany({ data: rows }));
        await assertFits(tx, siteId);
        const ids = rows.map(({ id }) => id);
        for (const assignment of assignments) {
          await assertOwn(tx, siteId, assignment.domains);
          if (assignment.domains.length > 0) await assignInTransaction(tx, assignment);
        }
        await changed(tx, zoneId, ...ids.map(moduleKey));
        return { data: await read(tx, ids) };
      }),

    update: (ctx: Ctx, siteId: string, inputs: (Input & { id: string })[]) =>
      ctx.db.$transaction(async (tx) => {
        const { zoneId } = await sites.lock(tx, siteId);
        const ids = inputs.map(({ id }) => id);
        const found = await tx.module.findMany({ where: { siteId, kind, id: { in: ids } } });
        if (found.length !== new Set(ids).size) fail('NOT_FOUND');
        await noteWeight(tx, ids.map(moduleKey));
        for (const input of inputs) {
          const before = found.find(({ id }) => id === input.id)?.settings;
          const settled = await settle(input, { ctx, tx, siteId, before });
          await orFail(
            'DUPLICATED',
            tx.module.update({ where: { id: input.id, siteId }, data: { name: input.name, settings: settled } }),
          );
        }
        await assertFits(tx, siteId);
        await changed(tx, zoneId, ...ids.map(moduleKey));
        return { data: await read(tx, ids) };
      }),

    remove: ({ db }: Ctx, siteId: string, ids: string[]) =>
      db.$transaction(async (tx) => {
        const { zoneId } = await sites.lock(tx, siteId);
        const where = { siteId, kind, id: { in: ids } };
        const rows = await tx.module.findMany({ where, include });
        if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
        const used = rows.filter(({ _count }) => _count.domains > 0).map(({ name }) => name);
        if (used.length > 0) fail('STILL_IN_USE', { errorData: [{ rule: 'inUse', targets: used }] });
        // A domain may be assigned at this moment; the foreign key then refuses the removal.
        await orInUse('STILL_IN_USE', tx.module.deleteMany({ where }));
        await changed(tx, zoneId, ...ids.map(moduleKey));
        return { ids };
      }),
  };
};
