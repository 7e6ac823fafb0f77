// Copies modules of one kind with the rules attached to them. A module of the same name at the target site takes the
// content of the copied one, for all domains assigned there.
import { randomUUIDv7 } from 'node:crypto';
import * as z from 'zod';
import type { CopyModulesInput } from '@edgeloom/contract/copies/copies.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { REDIRECTS_OF_A_SITE } from '@edgeloom/contract/modules/redirects.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, Failure } from '../../core/fail.ts';
import { inAgeOrder } from '../../core/rule-list.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Redirect } from '../../generated/client.ts';
import type { OfKind } from '../modules/domain-modules.service.ts';
import { MODULES_OF_A_KIND } from '../modules/modules.service.ts';
import { judge, ruleOf } from '../modules/redirects.service.ts';
import { copyOf } from '../modules/token-auths.service.ts';
import { contentOf } from '../../core/site-rule.ts';
import { lockTargets } from './targets.ts';

const AnyObject = z.record(z.string(), z.json());

export const copyModules = (ctx: Ctx, { siteId, kind }: OfKind, { siteIDs, ids }: CopyModulesInput) =>
  ctx.db.$transaction(async (tx) => {
    const targets = await lockTargets(tx, siteId, siteIDs);
    const wanted = [...new Set(ids)];
    const sources = await tx.module.findMany({
      where: { siteId, kind, id: { in: wanted } },
      include: { redirects: true },
    });
    if (sources.length !== wanted.length) fail('NOT_FOUND');
    for (const target of targets) {
      const keys: string[] = [];
      for (const { name, settings, redirects } of sources) {
        const copied =
          kind === 'tokenAuth' ? await copyOf({ ctx, tx, siteId: target.id }, settings) : AnyObject.parse(settings);
        const present = await tx.module.findFirst({ where: { siteId: target.id, kind, name }, select: { id: true } });
        const id = present?.id ?? randomUUIDv7();
        if (present) await tx.module.update({ where: { id }, data: { settings: copied } });
        else await tx.module.create({ data: { id, siteId: target.id, kind, name, settings: copied } });
        if (kind === 'urlRedirect')
          await copyRedirects(tx, { siteId: target.id, moduleId: id }, redirects).catch((error: unknown) => {
            if (error instanceof Failure)
              failAt(`siteIDs.${siteIDs.indexOf(target.id)}`, 'loop', `${name} would lead back to itself there`);
            throw error;
          });
        keys.push(moduleKey(id));
      }
      if ((await tx.module.count({ where: { siteId: target.id, kind } })) > MODULES_OF_A_KIND)
        fail('LIMIT_REACHED', { extra: { limit: MODULES_OF_A_KIND } });
      if ((await tx.redirect.count({ where: { siteId: target.id } })) > REDIRECTS_OF_A_SITE)
        fail('REDIRECT_LIMIT', { extra: { limit: REDIRECTS_OF_A_SITE } });
      await changed(tx, target.zoneId, ...keys);
    }
    return { siteIDs };
  });

async function copyRedirects(tx: ScopedTx, at: { siteId: string; moduleId: string }, rows: Redirect[]) {
  const fresh = inAgeOrder(
    rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((row) => ({ ...contentOf(row), ...at })),
  );
  await tx.redirect.deleteMany({ where: { moduleId: at.moduleId } });
  // At the target, the domains assigned by name may form a loop that does not exist at the source.
  await judge(tx, at, fresh.map(ruleOf));
  await tx.redirect.createMany({ data: fresh });
}
