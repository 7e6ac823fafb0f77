// Packets that the kernel firewalls of a zone's nodes dropped, summed over the last report of each node.
import { NodeLoad, type Dropped } from '@edgeloom/contract/edge/messages.ts';
import type { Reply } from '@edgeloom/contract/endpoint.ts';
import type { zoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.endpoints.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as zones from '../zones/zones.service.ts';

export async function dropped({ db }: Ctx, zoneId: string): Promise<Reply<typeof zoneFirewall.dropped>> {
  await zones.own(db, zoneId);
  const states = await db.nodeState.findMany({
    where: { node: { zoneId, kind: 'edge', enabled: true }, connectedAt: { not: null } },
    select: { load: true },
  });
  const drops = states.flatMap(({ load }) => NodeLoad.safeParse(load).data?.dropped ?? []);
  const since = drops.map((one) => one.since).sort()[0];
  return {
    since: since === undefined ? null : new Date(since),
    nodes: drops.length,
    of: states.length,
    blocked: sum(drops, 'blocked'),
    blacklist: sum(drops, 'blacklist'),
    risk: sum(drops, 'risk'),
    syn: sum(drops, 'syn'),
  };
}

const sum = (drops: readonly Dropped[], cause: 'blocked' | 'blacklist' | 'risk' | 'syn') =>
  drops.reduce(
    (all, one) => ({
      packets: plus(all.packets, one[cause].packets),
      bytes: plus(all.bytes, one[cause].bytes),
      perSecond: plus(all.perSecond, one[cause].perSecond),
    }),
    { packets: 0, bytes: 0, perSecond: 0 },
  );

/** A wrong number from one node must not make the sum unreadable. */
const plus = (a: number, b: number) => Math.min(a + b, Number.MAX_SAFE_INTEGER);
