import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import { SiteRule } from '@edgeloom/contract/site-rules.ts';
import type { SiteSettings } from '@edgeloom/contract/site-settings/site-settings.ts';
import type { Ctx } from '../../core/ctx.ts';
import { siteRules } from '../../site-rules.ts';
import * as cacheSetting from '../cache/cache-setting.service.ts';
import * as compression from '../compression/compression.service.ts';
import * as sitePorts from '../ports/site-ports.service.ts';
import * as sites from '../sites/sites.service.ts';

type RuleSettings = Pick<SiteSettings, SiteRule>;
const isWhole = (part: Partial<RuleSettings>): part is RuleSettings => SiteRule.options.every((name) => name in part);

/** Each part has the format of its endpoint. */
export async function get(ctx: Ctx, siteId: string): Promise<SiteSettings> {
  await sites.own(ctx.db, siteId);
  const may = <T>(area: Area, read: () => Promise<T>): Promise<T | null> =>
    ctx.actor.permissions.has(`${area}:read`) ? read() : Promise.resolve(null);
  const [cache, compressed, modules, dnsAccounts, ports, forwards] = await Promise.all([
    may('cache', () => cacheSetting.get(ctx, siteId)),
    may('cache', () => compression.get(ctx, siteId)),
    may('module', () => readModules(ctx, siteId)),
    may('dns', () => ctx.db.siteDns.count({ where: { siteId } })),
    sitePorts.list(ctx, siteId),
    ctx.db.portRule.count({ where: { siteId } }),
  ]);
  const parts = await Promise.all(
    siteRules.map(
      async ({ name, area, settings }) => (await may(area, () => settings(ctx, siteId))) ?? { [name]: null },
    ),
  );
  const rules: Partial<RuleSettings> = Object.assign({}, ...parts);
  if (!isWhole(rules)) throw new Error('a rule list is missing in site-rules.ts');
  return {
    cache,
    ...rules,
    compression: compressed,
    modules,
    dnsAccounts,
    ports: ports.data,
    forwards,
  };
}

async function readModules({ db }: Ctx, siteId: string) {
  const rows = await db.module.findMany({
    where: { siteId },
    select: { id: true, kind: true, name: true, _count: { select: { domains: true } } },
    orderBy: [{ kind: 'asc' }, { name: 'asc' }],
  });
  return rows.map(({ _count, kind, ...row }) => ({ ...row, kind: ModuleKind.parse(kind), inUse: _count.domains }));
}
