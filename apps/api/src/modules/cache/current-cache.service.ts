import type { CurrentCache } from '@edgeloom/contract/cache/cache.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as sites from '../sites/sites.service.ts';

export async function get({ db }: Ctx, siteId: string): Promise<CurrentCache> {
  await sites.own(db, siteId);
  const rows = await db.cachedNow.findMany({
    where: { siteId },
    include: { node: { select: { name: true } } },
    orderBy: { node: { name: 'asc' } },
  });
  const nodes = rows.map(({ node, objects, bytes, measuredAt }) => ({
    nodeName: node.name,
    objects,
    bytes: Number(bytes),
    measuredAt,
  }));
  const sum = (field: 'objects' | 'bytes') => nodes.reduce((total, node) => total + node[field], 0);
  const [oldest = null] = nodes.map(({ measuredAt }) => measuredAt).sort((a, b) => a.getTime() - b.getTime());
  return { objects: sum('objects'), bytes: sum('bytes'), measuredAt: oldest, nodes };
}
