import { isEverySites } from '@edgeloom/contract/ports/ports.ts';
import type { ScopedTx } from '../../core/scope.ts';

/** A new site in a zone with neither 80 nor 443 starts with the ports that exist. */
export async function openFirstPorts(tx: ScopedTx, { id: siteId, zoneId }: { id: string; zoneId: string }) {
  const rows = await tx.zonePort.findMany({ where: { zoneId }, select: { id: true, port: true } });
  if (rows.some(({ port }) => isEverySites(port))) return;
  await tx.sitePort.createMany({ data: rows.map(({ id }) => ({ siteId, zonePortId: id })) });
}
