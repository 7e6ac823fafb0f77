// The HTTP ports of its zone that a site uses: always 80 and 443, others if the site enables them.
import { PortMap } from '@edgeloom/contract/domains/domains.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { isEverySites, type SiteZonePort } from '@edgeloom/contract/ports/ports.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import * as sites from '../sites/sites.service.ts';

interface OfSite {
  id: string;
  zoneId: string;
}

export async function list({ db }: Ctx, siteId: string) {
  return { data: await portsOf(db, await sites.own(db, siteId)) };
}

/** The ports that a domain of the site may map. */
export async function openPorts(db: ScopedTx, site: OfSite): Promise<Set<number>> {
  const rows = await portsOf(db, site);
  return new Set(rows.filter(({ open }) => open).map(({ port }) => port));
}

export const open = ({ db }: Ctx, siteId: string, ports: number[]) =>
  db.$transaction(async (tx) => {
    const site = await sites.lock(tx, siteId);
    const known = new Map((await portsOf(tx, site)).map((row) => [row.port, row]));
    const missing = ports.filter((port) => !known.has(port));
    if (missing.length > 0)
      fail('INCONSISTENT_PORTS', { errorData: [{ targets: missing }], extra: { port: missing[0] } });
    const closed = [...new Set(ports)].flatMap((port) => known.get(port) ?? []).filter((row) => !row.open);
    await tx.sitePort.createMany({ data: closed.map(({ id }) => ({ siteId, zonePortId: id })) });
    await changed(tx, site.zoneId, siteKey(siteId));
    return { data: await portsOf(tx, site) };
  });

export const close = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const site = await sites.lock(tx, siteId);
    const opened = (await portsOf(tx, site)).filter((row) => row.open && ids.includes(row.id));
    if (opened.length !== new Set(ids).size) fail('NOT_FOUND');
    const every = opened.find(({ port }) => isEverySites(port));
    if (every) fail('INCONSISTENT_PORTS', { extra: { port: every.port } });
    await assertUnmapped(tx, siteId, new Set(opened.map(({ port }) => port)));
    await tx.sitePort.deleteMany({ where: { siteId, zonePortId: { in: ids } } });
    await changed(tx, site.zoneId, siteKey(siteId));
    return { data: await portsOf(tx, site) };
  });

async function portsOf(db: ScopedTx, { id, zoneId }: OfSite): Promise<SiteZonePort[]> {
  const rows = await db.zonePort.findMany({
    where: { zoneId },
    include: { sites: { where: { siteId: id }, select: { siteId: true } } },
    orderBy: { port: 'asc' },
  });
  return rows.map(({ sites: opened, ...row }) => ({
    ...row,
    portType: 7,
    open: isEverySites(row.port) || opened.length > 0,
  }));
}

/** Fails if a domain maps one of these ports. */
async function assertUnmapped(tx: ScopedTx, siteId: string, ports: ReadonlySet<number>) {
  const mapping = [...ports].map((from) => ({ portMap: { array_contains: [{ from }] } }));
  const found = await tx.domain.findFirst({ where: { siteId, OR: mapping }, select: { portMap: true } });
  const mapped = found && PortMap.parse(found.portMap).find(({ from }) => ports.has(from));
  if (mapped) fail('ILLEGAL_PORT_MAP', { extra: { port: mapped.from } });
}
