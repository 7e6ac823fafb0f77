// Computes what a set of documents would change. Pure.
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DocKey, checkDoc, nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry } from '@edgeloom/contract/edge/messages.ts';
import * as z from 'zod';
import type { Change } from './store/documents.ts';
import type { Known } from './store/manifest.ts';

export interface Rejection {
  key: string;
  revision: number;
  error: string;
  /** Hash of a rejected document, or of one kept for a later agent. Null when the document was to be removed. */
  sha256: string | null;
  /** A valid document that nginx could not serve. It is retried, for example when a port becomes free. */
  change?: Change;
}

/** The node that applies the documents. */
export interface Self {
  nodeID: string;
  zoneID: string;
}

export interface Plan {
  /** `data`: files that Lua reads. `structure`: input of nginx files as well. */
  effect: 'none' | 'data' | 'structure';
  data: Change[];
  structure: Change[];
  rejected: Rejection[];
}

const GONE = sha256('');

/** The last valid entry of each key counts. Documents of other nodes are ignored. */
export function plan(known: (key: string) => Known | undefined, entries: readonly DocEntry[], self: Self): Plan {
  const own = nodeKey(self.nodeID);
  const isStructure = ({ key }: { key: string }) => key === 'zone' || key === 'trial' || key === own;
  const changes = new Map<string, Change>();
  const rejected = new Map<string, Rejection>();
  for (const entry of entries) {
    if (entry.key.startsWith('node/') && entry.key !== own) continue;
    const { key, revision } = entry;
    const refuse = (error: string) =>
      rejected.set(key, { key, revision, error, sha256: entry.body === null ? null : entry.sha256 });
    try {
      const lacked = check(entry, self);
      // A structural document needs all its capabilities, so the former one stays in effect.
      if (lacked.length > 0 && isStructure(entry)) throw new Error(closedBecause(lacked));
      changes.set(key, { ...entry });
      rejected.delete(key);
      if (lacked.length > 0) refuse(closedBecause(lacked));
    } catch (error) {
      refuse(fault(error));
    }
  }
  const wanted = [...changes.values()].filter((change) => !isSame(change, known(change.key)));
  const structure = wanted.filter(isStructure);
  const data = wanted.filter((change) => !isStructure(change));
  return {
    effect: structure.length > 0 ? 'structure' : data.length > 0 ? 'data' : 'none',
    data,
    structure,
    rejected: [...rejected.values()],
  };
}

/** Whether the entry arrived intact. A damaged one is requested again, while an invalid one is rejected. */
export const isIntact = ({ body, sha256: hash }: DocEntry) => (body === null ? GONE : sha256(body)) === hash;

export const closedBecause = (lacked: readonly string[]) =>
  `this agent is too old for ${lacked.join(', ')}: closed until it is upgraded`;

/** Throws when the document must be rejected. Returns required capabilities that this agent lacks. */
function check(entry: DocEntry, self: Self): string[] {
  // Keys become paths.
  DocKey.parse(entry.key);
  if (!isIntact(entry)) throw new Error('the body does not match its hash');
  if (entry.body === null && entry.key === 'zone') throw new Error('a zone document cannot be removed');
  const checked = entry.body === null ? { later: true } : checkDoc(entry.key, entry.body);
  if ('doc' in checked && checked.doc.kind === 'zone' && checked.doc.id !== self.zoneID)
    throw new Error(`this node is not in zone ${checked.doc.id}`);
  return 'closed' in checked ? checked.closed : [];
}

// Removing an unknown document still counts: a crash may have left its file.
const isSame = (change: Change, known: Known | undefined) =>
  change.body !== null && known !== undefined && known.revision === change.revision && known.sha256 === change.sha256;

function fault(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [first] = error.issues;
    return first === undefined ? 'not valid' : `${first.path.join('.')}: ${first.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
