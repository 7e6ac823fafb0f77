import type { Installation } from '../core/installation.ts';
import { tickets } from './orders.ts';

/**
 * Whether this token belongs to a node that may download the release. The caller has no account, so all clients are
 * searched. Removed and revoked nodes are excluded.
 */
export async function mayFetch(
  { db, secrets }: Installation,
  token: string,
  sha256: string,
  now: Date,
): Promise<boolean> {
  const id = tickets(secrets).holderOf(token, sha256, now);
  if (id === null) return false;
  const node = await db.edgeNode.findUnique({ where: { id }, select: { publicKey: true } });
  return node !== null && node.publicKey !== null;
}
