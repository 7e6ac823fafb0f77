// In which order pushes may be applied, and whether something is missing between them. Pure.
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry, DocPush } from '@edgeloom/contract/edge/messages.ts';
import { isIntact } from '../plan.ts';

export interface Chain {
  entries: DocEntry[];
  /** The revision that is reached once the entries are applied. */
  reached: number;
  /** Something is missing or damaged: the rest has to be asked for. */
  gap: boolean;
  /** Of the zone at `reached`, as the last push said. */
  digest: string | undefined;
  /** A push was older than what is here: a repetition, or from a database that was restored. */
  isOlder: boolean;
}

/** Joins the pushes that follow each other from `revision` on. Older and repeated ones are passed over. */
export function chain(revision: number, pushes: readonly DocPush[]): Chain {
  const isOlder = pushes.some((push) => push.revision < revision);
  const joined: Chain = { entries: [], reached: revision, gap: false, digest: undefined, isOlder };
  for (const push of [...pushes].sort((a, b) => a.revision - b.revision)) {
    if (push.revision === joined.reached) joined.digest ??= push.digest;
    if (push.revision <= joined.reached) continue;
    const follows = push.previous <= joined.reached;
    // Without documents they were too large to push. One that was damaged on its way comes whole by the sync.
    const isWhole = push.schema <= DOCUMENT_SCHEMA && push.docs.length > 0 && push.docs.every(isIntact);
    if (!follows || !isWhole) return { ...joined, gap: true };
    const { reached } = joined;
    joined.entries.push(...push.docs.filter((entry) => entry.revision > reached));
    joined.reached = push.revision;
    joined.digest = push.digest;
  }
  return joined;
}
