// The caller's own address in block sets. Another tenant's site may have found it, so this is outside of the scope of
// rows; zones are still the caller's.
import type { OwnBlock } from '@edgeloom/contract/block-ips/block-ips.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import type { Ctx } from './ctx.ts';

const OWN = `FROM blocks b JOIN block_sets k ON k.zone_id = b.zone_id
  WHERE b.zone_id = ANY ($1::uuid[]) AND b.network = $2 AND NOT b.removed AND b.until > now() AND b.revision > k.flushed`;

export async function readOwnBlocks({ db, caller, installation }: Ctx): Promise<OwnBlock> {
  const { rows } = await installation.pool.query<OwnBlock['blocks'][number]>(
    `SELECT b.cause, b.since, b.until ${OWN} ORDER BY b.until DESC LIMIT 1000`,
    [await zonesOf(db), networkOf(caller.address) ?? ''],
  );
  return { ip: caller.address, blocks: rows };
}

export async function removeOwnBlocks({ db, caller, installation }: Ctx): Promise<{ removed: number }> {
  const { rows } = await installation.pool.query<{ zoneId: string }>(
    `SELECT DISTINCT b.zone_id AS "zoneId" ${OWN} ORDER BY b.zone_id`,
    [await zonesOf(db), networkOf(caller.address) ?? ''],
  );
  return installation.db.$transaction(async (tx) => {
    let removed = 0;
    for (const { zoneId } of rows) {
      const { revision, flushed } = await tx.blockSet.update({
        where: { zoneId },
        data: { revision: { increment: 1n } },
      });
      const { count } = await tx.block.updateMany({
        where: { zoneId, network: networkOf(caller.address) ?? '', removed: false, revision: { gt: flushed } },
        data: { removed: true, removedBy: null, revision },
      });
      removed += count;
    }
    return { removed };
  });
}

const zonesOf = async (db: Ctx['db']) =>
  (await db.blockSet.findMany({ select: { zoneId: true } })).map((set) => set.zoneId);
