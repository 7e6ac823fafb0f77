import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { tokenHash } from '../node-link/join.ts';

/** The node of a join token. The caller has no account, so all clients are searched. */
export async function holderOf({ db }: Installation, token: string, now: Date) {
  const found = await db.edgeNode.findUnique({
    where: { joinHash: tokenHash(token) },
    select: { id: true, joinEndsAt: true, publicKey: true, moveToZoneId: true },
  });
  // A node that moves to another zone keeps its token itself.
  if (!found?.joinEndsAt || found.joinEndsAt <= now || found.moveToZoneId !== null) fail('INVALID_TOKEN');
  return { token, nodeId: found.id, isUsed: found.publicKey !== null };
}
