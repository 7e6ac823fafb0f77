import { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import type { SiteSettings } from '@edgeloom/contract/site-settings/site-settings.ts';
import type { Ctx } from '../../core/ctx.ts';
import { onSite } from '../../core/rule-list.ts';
import * as cacheRules from '../cache/cache-rules.service.ts';
import * as cacheSetting from '../cache/cache-setting.service.ts';
import * as compression from '../compression/compression.service.ts';
import { errorPages } from '../error-pages/error-pages.service.ts';
import { antiHeaders } from '../hotlink/hotlink.service.ts';
import * as sitePorts from '../ports/site-ports.service.ts';
import { rates } from '../rates/rates.service.ts';
import * as sites from '../sites/sites.service.ts';

/** The most rules that a site may have. */
const allRules = { page: 1, pageSize: 500, sortBy: 'priority', orderBy: 'asc' } as const;

/** Each part in the form of its own call. */
export async function get(ctx: Ctx, siteId: string): Promise<SiteSettings> {
  await sites.own(ctx.db, siteId);
  const may = <T>(area: Area, read: () => Promise<T>): Promise<T | null> =>
    ctx.actor.permissions.has(`${area}:read`) ? read() : Promise.resolve(null);
  const place = onSite({ siteId });
  const [cache, rules, compressed, limits, pages, headers, modules, dnsAccounts, ports, forwards] = await Promise.all([
    may('cache', () => cacheSetting.get(ctx, siteId)),
    may('cache', () => cacheRules.list(ctx, siteId, allRules)),
    may('cache', () => compression.get(ctx, siteId)),
    may('cache', () => rates.list(ctx, place)),
    may('module', () => errorPages.list(ctx, place)),
    may('firewall', () => antiHeaders.list(ctx, place)),
    may('module', () => readModules(ctx, siteId)),
    may('dns', () => ctx.db.siteDns.count({ where: { siteId } })),
    sitePorts.list(ctx, siteId),
    ctx.db.portRule.count({ where: { siteId } }),
  ]);
  return {
    cache,
    cacheRules: rules && rules.data,
    compression: compressed,
    rates: limits && limits.data,
    errorPages: pages && pages.data,
    antiHeaders: headers && headers.data,
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
