import type { Installation } from '../core/installation.ts';
import { tickets } from './orders.ts';

/** Whether whoever shows this token is a node that may have the release. It has no account, so it is looked for in all of the
 *  installation; one that was removed or whose key was taken away is none any more. */
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
