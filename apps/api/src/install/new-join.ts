// A newly installed machine replaces a node: the former machine loses its identity.
import { randomBytes } from 'node:crypto';
import type { Installation } from '../core/installation.ts';
import { tokenHash } from '../node-link/join.ts';
import { linkOf } from '../node-link/start.ts';
import { StepFailure } from './host.ts';
import type { Target } from './target.ts';

/** An installation may wait for a person. */
const GOOD_FOR_MS = 86_400_000;

/** `present`: the node that the machine already is, '' for none. It must be removed first. */
export async function refuseAnother({ db }: Installation, present: string, target: Target): Promise<void> {
  if (present === '' || present === target.id) return;
  const of = { where: { id: present }, select: { id: true } };
  const other = (await db.edgeNode.findUnique(of)) ?? (await db.monitorNode.findUnique(of));
  if (other) throw new StepFailure('join', `this machine is node ${present} already: uninstall that one first`);
}

/** Returns a single-use join token. */
export async function newJoin(installation: Installation, nodeId: string, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const isRevoked = await installation.db.$transaction(async (tx) => {
    const { publicKey } = await tx.edgeNode.findUniqueOrThrow({ where: { id: nodeId }, select: { publicKey: true } });
    if (publicKey !== null) await tx.revokedKey.createMany({ data: [{ publicKey }], skipDuplicates: true });
    const joining = { joinHash: tokenHash(token), joinEndsAt: new Date(now.getTime() + GOOD_FOR_MS) };
    await tx.edgeNode.update({ where: { id: nodeId }, data: { ...joining, publicKey: null, joinedAt: null } });
    return publicKey !== null;
  });
  // New machines have no former identity to revoke.
  if (isRevoked) await linkOf(installation)?.revoke();
  return token;
}
