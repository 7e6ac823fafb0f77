// A node's first call, by HTTPS: it sends its join token and public key, and receives its zone, NATS identity and zone
// keys.
import { createHash } from 'node:crypto';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { JoinReply, JoinRequest } from '@edgeloom/contract/edge/messages.ts';
import { changed } from '../core/changes.ts';
import { orFail } from '../core/conflict.ts';
import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { Prisma } from '../generated/client.ts';
import type { EdgeNode } from '../generated/client.ts';
import { openRing, zoneRing } from '../zone-keys/ring.ts';

export const tokenHash = (token: string) => createHash('sha256').update(token).digest('hex');

export const natsServersOf = ({ NODE_NATS_URLS, NATS_URL }: Installation['env']): string[] =>
  NODE_NATS_URLS.length > 0 ? NODE_NATS_URLS : [NATS_URL];

/** A key is one identity. Its revocation would also end another one. */
export async function isUsedKey(tx: Prisma.TransactionClient, publicKey: string): Promise<boolean> {
  const where = { publicKey };
  const nodes = await tx.edgeNode.count({ where });
  const monitors = await tx.monitorNode.count({ where });
  return nodes + monitors + (await tx.revokedKey.count({ where })) > 0;
}

/**
 * Also used by a node that moves to another zone. The lookup is by hash, so timing reveals nothing. A token is bound to
 * the first key: repeating a join with that key succeeds, another key is refused.
 */
export async function join(
  { db, env, secrets, trust }: Installation,
  request: JoinRequest,
  now: Date,
): Promise<JoinReply> {
  if (!trust) fail('SELF_CHECK_FAILED');
  const node = await db.$transaction(async (tx) => {
    const found = await tx.edgeNode.findUnique({
      where: { joinHash: tokenHash(request.token) },
    });
    if (!found?.joinEndsAt || found.joinEndsAt <= now) fail('INVALID_TOKEN');
    const moves = found.moveToZoneId !== null;
    if (found.publicKey === request.publicKey && !moves) return { ...found, ring: await zoneRing(tx, found.zoneId) };
    if ((found.publicKey !== null && !moves) || (await isUsedKey(tx, request.publicKey))) fail('INVALID_TOKEN');

    const zoneId = found.moveToZoneId ?? found.zoneId;
    // Locks the zone, so that no key change starts without this node.
    await tx.$queryRaw`SELECT 1 FROM zones WHERE id = ${zoneId}::uuid FOR SHARE`;
    const ring = await zoneRing(tx, zoneId);
    if (ring.length === 0) fail('INVALID_TOKEN');
    if (ring.length > 1 && !request.keyRing) fail('NODE_VERSION_MISMATCH');
    // The second of two concurrent joins finds that the key is set.
    const { id, joinHash, publicKey, moveToZoneId } = found;
    const joined = tx.edgeNode.updateMany({
      where: { id, joinHash, publicKey, moveToZoneId },
      data: {
        publicKey: request.publicKey,
        joinedAt: now,
        zoneId,
        moveToZoneId: null,
        ...(moves && { parentId: null }),
      },
    });
    if ((await orFail('DUPLICATED', joined)).count !== 1) fail('INVALID_TOKEN');
    if (moves) await leave(tx, found);
    const version = request.version.slice(0, 64);
    const keyIds = request.keyRing ? ring.map((one) => one.name) : Prisma.DbNull;
    await tx.nodeState.upsert({
      where: { nodeId: found.id },
      create: { nodeId: found.id, version, keyIds },
      update: { version, keyIds, revision: 0, digest: null, digestAgrees: null, connectedAt: null },
    });
    await changed(tx, zoneId, 'zone', nodeKey(found.id));
    return { ...found, zoneId, ring };
  });
  const zoneKeys = openRing(secrets, node.zoneId, node.ring);
  return {
    nodeID: node.id,
    zoneID: node.zoneId,
    natsServers: natsServersOf(env),
    jwt: trust.nodeCredentials(request.publicKey, node.id, node.zoneId),
    zoneKey: zoneKeys[0]?.key ?? fail('INVALID_TOKEN'),
    zoneKeys,
  };
}

/**
 * Deletes what the former zone knew of the node. The caller revokes its former key at NATS afterwards, or the next
 * check of revocations does.
 */
async function leave(tx: Prisma.TransactionClient, { id, zoneId, publicKey }: EdgeNode) {
  if (publicKey !== null) await tx.revokedKey.createMany({ data: [{ publicKey }], skipDuplicates: true });
  await tx.edgeNode.updateMany({ where: { parentId: id }, data: { parentId: null } });
  await tx.jobReceipt.deleteMany({ where: { nodeId: id, state: 'pending' } });
  await tx.cachedNow.deleteMany({ where: { nodeId: id } });
  await tx.originState.deleteMany({ where: { nodeId: id } });
  await changed(tx, zoneId, 'zone', nodeKey(id));
}
