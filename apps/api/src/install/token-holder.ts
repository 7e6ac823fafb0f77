import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import { tokenHash } from '../node-link/join.ts';

/** Which node a join token is for; whoever shows it has no account, so it is looked for in all of the installation. */
export async function holderOf({ db }: Installation, token: string, now: Date) {
  const found = await db.edgeNode.findUnique({
    where: { joinHash: tokenHash(token) },
    select: { id: true, joinEndsAt: true, publicKey: true, moveToZoneId: true },
  });
  // One that moves holds its token itself.
  if (!found?.joinEndsAt || found.joinEndsAt <= now || found.moveToZoneId !== null) fail('INVALID_TOKEN');
  return { token, nodeId: found.id, isUsed: found.publicKey !== null };
}
