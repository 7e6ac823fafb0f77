// A node's first call, over HTTPS: it proves itself by the token that its operator was shown, says which key it made, and
// is told its zone, its NATS identity and the keys that open its documents' secrets.
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

/** Also how a node that is asked to move joins its next zone. The lookup is by hash, so what an attacker could time says
 *  nothing about a token. A token is good for one key: who repeats a join with that key (its answer was lost) is answered
 *  again, who comes with another is refused. */
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
    const isTaken = await tx.edgeNode.count({ where: { publicKey: request.publicKey } });
    const isRevoked = await tx.revokedKey.count({ where: { publicKey: request.publicKey } });
    if ((found.publicKey !== null && !moves) || isTaken + isRevoked > 0) fail('INVALID_TOKEN');

    const zoneId = found.moveToZoneId ?? found.zoneId;
    // Held, so that no change of the zone's key begins without this node.
    await tx.$queryRaw`SELECT 1 FROM zones WHERE id = ${zoneId}::uuid FOR SHARE`;
    const ring = await zoneRing(tx, zoneId);
    if (ring.length === 0) fail('INVALID_TOKEN');
    if (ring.length > 1 && !request.keyRing) fail('NODE_VERSION_MISMATCH');
    // Of two at once with one token, the second finds the key set.
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
    natsServers: env.NODE_NATS_URLS.length > 0 ? env.NODE_NATS_URLS : [env.NATS_URL],
    jwt: trust.nodeCredentials(request.publicKey, node.id, node.zoneId),
    zoneKey: zoneKeys[0]?.key ?? fail('INVALID_TOKEN'),
    zoneKeys,
  };
}

/** What the zone that it moves away from knew of it. Whoever asked it to move tells NATS of its former key once it has
 *  answered; should nobody be left who asked, the next look at revoked keys does. */
async function leave(tx: Prisma.TransactionClient, { id, zoneId, publicKey }: EdgeNode) {
  if (publicKey !== null) await tx.revokedKey.createMany({ data: [{ publicKey }], skipDuplicates: true });
  await tx.edgeNode.updateMany({ where: { parentId: id }, data: { parentId: null } });
  await tx.jobReceipt.deleteMany({ where: { nodeId: id, state: 'pending' } });
  await tx.cachedNow.deleteMany({ where: { nodeId: id } });
  await tx.originState.deleteMany({ where: { nodeId: id } });
  await changed(tx, zoneId, 'zone', nodeKey(id));
}
