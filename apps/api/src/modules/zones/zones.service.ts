import { randomUUIDv7 } from 'node:crypto';
import type { MetaQuery } from '@edgeloom/contract/common/common.ts';
import { RedirectCode, type Zone, type ZoneInput, type ZoneUpdate } from '@edgeloom/contract/zones/zones.ts';
import { changed } from '../../core/changes.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, namedBy } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { newZoneKey } from '../../core/secrets.ts';
import type { Prisma } from '../../generated/client.ts';
import { startingSettings } from '../zone-settings/nginx-defaults.service.ts';
import { change } from '../zone-settings/zone-changes.service.ts';
import { countZones, readZones, type ZonePaging } from './zones.queries.ts';

const include = {
  ports: { select: { port: true, tls: true }, orderBy: { port: 'asc' } },
  _count: { select: { nodes: true, sites: true } },
} satisfies Prisma.ZoneInclude;

export async function list(ctx: Ctx, { name, ...paging }: ZonePaging & { name?: string | undefined }) {
  const [data, total] = await Promise.all([readZones(ctx, paging, name), countZones(ctx, name)]);
  return { data, total };
}

export const meta = ({ db }: Ctx, query: MetaQuery) => choicesOf(db.zone, namedBy(query), query);

export async function get({ db }: Ctx, id: string): Promise<Zone> {
  return zoneOf((await db.zone.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND'));
}

export async function create(
  { db, actor, installation }: Ctx,
  { ports, CDNRayLog, ...input }: ZoneInput,
): Promise<Zone> {
  // A sub-client works in assigned zones; it could not see a zone that it creates.
  if (!actor.isRoot) fail('PERMISSION_DENIED');
  if (new Set(ports.map(({ port }) => port)).size !== ports.length) failAt('ports', 'unique', 'data already exists');
  const id = randomUUIDv7();
  const data = {
    ...input,
    cdnRayLog: CDNRayLog,
    id,
    clientId: actor.clientId,
    keySealed: newZoneKey(installation.secrets, id),
  };
  return db.$transaction(async (tx) => {
    await tx.$license.assertBelow('zones', actor.clientId);
    const settings = await startingSettings(tx, actor.clientId);
    await orFail('ZONE_NAME_TAKEN', tx.zone.create({ data: { ...data, ...(settings.nginx.enable && { settings }) } }));
    await tx.zonePort.createMany({ data: ports.map((port) => ({ ...port, zoneId: id })) });
    await changed(tx, id, 'zone');
    await tx.$license.assertRoom('zones');
    return zoneOf(await tx.zone.findUniqueOrThrow({ where: { id }, include }));
  });
}

export async function update({ db }: Ctx, { id, CDNRayLog, ...input }: ZoneUpdate): Promise<Zone> {
  const data = omitUndefined({ ...input, cdnRayLog: CDNRayLog });
  return zoneOf(await orFail('ZONE_NAME_TAKEN', db.zone.update({ where: { id }, data, include })));
}

export const setRedirectCode = (ctx: Ctx, id: string, code: number, reason?: string): Promise<Zone> =>
  change(ctx, {
    zoneId: id,
    reason,
    work: async (tx) => zoneOf(await tx.zone.update({ where: { id }, data: { forceSslRedirectCode: code }, include })),
  });

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const where = { id: { in: ids } };
    const rows = await tx.zone.findMany({
      where,
      select: { _count: { select: { nodes: true, products: true, sites: true } } },
    });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    if (rows.some(({ _count }) => _count.nodes > 0)) fail('ZONE_HAS_NODES');
    if (rows.some(({ _count }) => _count.sites > 0)) fail('SITE_IN_USE');
    if (rows.some(({ _count }) => _count.products > 0)) fail('PRODUCT_IN_USE');
    const inZone = { where: { zoneId: { in: ids } } };
    await tx.group.updateMany({ ...inZone, data: { backupGroupId: null } });
    await orInUse('PRODUCT_IN_USE', tx.group.deleteMany(inZone));
    await tx.virtualNode.deleteMany(inZone);
    // A sub-account may not see everything in its zone, and a node may join concurrently: foreign keys decide.
    await orInUse('PRODUCT_IN_USE', tx.zone.deleteMany({ where }));
    return { ids };
  });

/** A zone of the caller; NOT_FOUND for any other. */
export async function own(tx: ScopedTx, id: string) {
  return (await tx.zone.findUnique({ where: { id }, select: { id: true } })) ?? fail('NOT_FOUND');
}

const zoneOf = ({
  revision,
  forceSslRedirectCode,
  cdnRayLog,
  settings: _,
  _count,
  ...row
}: Prisma.ZoneGetPayload<{ include: typeof include }>): Zone => ({
  ...row,
  CDNRayLog: cdnRayLog,
  forceSSLRedirectCode: RedirectCode.parse(forceSslRedirectCode),
  serial: revision,
  nodeCount: _count.nodes,
  siteCount: _count.sites,
});
