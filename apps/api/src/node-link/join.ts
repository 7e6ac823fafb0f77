// A node's first call, over HTTPS: it proves itself by the token that its operator was shown, says which key it made, and
// is told its zone, its NATS identity and the key that opens its documents' secrets.
import { createHash } from 'node:crypto';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { JoinReply, JoinRequest } from '@edgeloom/contract/edge/messages.ts';
import { changed } from '../core/changes.ts';
import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { contexts } from '../core/secrets.ts';

export const tokenHash = (token: string) => createHash('sha256').update(token).digest('hex');

/** The lookup is by hash, so what an attacker could time says nothing about a token. A token is good for one key: who
 *  repeats a join with that key (its answer was lost) is answered again, who comes with another is refused. */
export async function join(
  { db, env, secrets, trust }: Installation,
  request: JoinRequest,
  now: Date,
): Promise<JoinReply> {
  if (!trust) fail('SELF_CHECK_FAILED');
  const node = await db.$transaction(async (tx) => {
    const found = await tx.edgeNode.findUnique({
      where: { joinHash: tokenHash(request.token) },
      include: { zone: { select: { keySealed: true } } },
    });
    if (!found?.joinEndsAt || found.joinEndsAt <= now) fail('INVALID_TOKEN');
    if (found.publicKey === request.publicKey) return found;
    const isTaken = await tx.edgeNode.count({ where: { publicKey: request.publicKey } });
    const isRevoked = await tx.revokedKey.count({ where: { publicKey: request.publicKey } });
    if (found.publicKey !== null || isTaken + isRevoked > 0) fail('INVALID_TOKEN');

    // Of two at once with one token, the second finds the key set.
    const { count } = await tx.edgeNode.updateMany({
      where: { id: found.id, publicKey: null, joinHash: found.joinHash },
      data: { publicKey: request.publicKey, joinedAt: now },
    });
    if (count !== 1) fail('INVALID_TOKEN');
    const version = request.version.slice(0, 64);
    await tx.nodeState.upsert({
      where: { nodeId: found.id },
      create: { nodeId: found.id, version },
      update: { version, revision: 0, digest: null, digestAgrees: null, connectedAt: null },
    });
    await changed(tx, found.zoneId, 'zone', nodeKey(found.id));
    return found;
  });
  return {
    nodeID: node.id,
    zoneID: node.zoneId,
    natsServers: env.NODE_NATS_URLS.length > 0 ? env.NODE_NATS_URLS : [env.NATS_URL],
    jwt: trust.nodeCredentials(request.publicKey, node.id, node.zoneId),
    zoneKey: secrets.open(node.zone.keySealed, contexts.zoneKey(node.zoneId)),
  };
}
