import { ProxyRewriteSettings, type RewriteRule } from '@edgeloom/contract/modules/proxy-rewrites.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { modulesOf } from './modules.service.ts';
import type { InModule } from './redirects.service.ts';

export const modules = modulesOf('proxyRewrite', ProxyRewriteSettings);

export async function rules({ db }: Ctx, at: InModule) {
  return { data: ProxyRewriteSettings.parse((await own(db, at)).settings).rules };
}

/** Replaces all rules. */
export async function setRules(ctx: Ctx, at: InModule, items: RewriteRule[]) {
  const { id, name } = await own(ctx.db, at);
  const { data } = await modules.update(ctx, at.siteId, [{ id, name, rules: items }]);
  return { data: data[0]?.rules ?? [] };
}

const own = async (db: Ctx['db'], { siteId, moduleId }: InModule) =>
  (await db.module.findUnique({ where: { id: moduleId, siteId, kind: 'proxyRewrite' } })) ?? fail('NOT_FOUND');
