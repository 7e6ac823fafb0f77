import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { tokenHash } from '../node-link/join.ts';

/** The node or monitor of a join token. The caller has no account, so all clients are searched. */
export async function holderOf({ db }: Installation, token: string, now: Date) {
  const where = { joinHash: tokenHash(token) };
  const node = await db.edgeNode.findUnique({
    where,
    select: { id: true, joinEndsAt: true, publicKey: true, moveToZoneId: true },
  });
  // A node that moves to another zone keeps its token itself.
  const found = node?.moveToZoneId == null ? (node ?? (await db.monitorNode.findUnique({ where }))) : null;
  if (!found?.joinEndsAt || found.joinEndsAt <= now) fail('INVALID_TOKEN');
  return { token, nodeId: found.id, isUsed: found.publicKey !== null };
}
