// Orders pushes and finds gaps between them. Pure.
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry, DocPush } from '@edgeloom/contract/edge/messages.ts';
import { isIntact } from '../plan.ts';

export interface Chain {
  entries: DocEntry[];
  /** The revision after the entries are applied. */
  reached: number;
  /** Something is missing or damaged, so a sync is needed. */
  gap: boolean;
  /** The zone's digest at `reached`, from the last push. */
  digest: string | undefined;
  /** A push was older than the local revision: a repetition, or from a restored database. */
  isOlder: boolean;
}

/** Joins consecutive pushes from `revision` on. Older and repeated ones are skipped. */
export function chain(revision: number, pushes: readonly DocPush[]): Chain {
  const isOlder = pushes.some((push) => push.revision < revision);
  const joined: Chain = { entries: [], reached: revision, gap: false, digest: undefined, isOlder };
  for (const push of [...pushes].sort((a, b) => a.revision - b.revision)) {
    if (push.revision === joined.reached) joined.digest ??= push.digest;
    if (push.revision <= joined.reached) continue;
    const follows = push.previous <= joined.reached;
    // A push without documents was too large. A damaged or oversized one is fetched by a sync.
    const isWhole = push.schema <= DOCUMENT_SCHEMA && push.docs.length > 0 && push.docs.every(isIntact);
    if (!follows || !isWhole) return { ...joined, gap: true };
    const { reached } = joined;
    joined.entries.push(...push.docs.filter((entry) => entry.revision > reached));
    joined.reached = push.revision;
    joined.digest = push.digest;
  }
  return joined;
}
