// Makes the node what its documents say. Called again with the same documents it changes nothing.
import { toggle } from '@edgeloom/contract/edge/digest.ts';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { Ack, DocEntry } from '@edgeloom/contract/edge/messages.ts';
import type { EdgeNode } from './edge-node.ts';
import { reason } from './log.ts';
import { TooSoon } from './nginx/pace.ts';
import { plan } from './plan.ts';
import type { Plan, Rejection } from './plan.ts';

/** Names of everything that is refused at the moment, with why; it stands until a good document of that name comes. */
export type Refusals = Map<string, Rejection>;

/** More than anybody reads; the digest tells that there is more. */
const REPORTED = 100;

export async function reconcile(
  node: EdgeNode,
  refusals: Refusals,
  entries: readonly DocEntry[],
  reached: number,
): Promise<Ack> {
  const startedAt = performance.now();
  const planned = plan((key) => node.store.get(key), entries, node.self);
  settle(refusals, entries, planned.rejected);

  // Data first: a structure that fails takes seconds, and no site shall wait for it. The revision is reached only when
  // both are done, so a crash in between repeats them.
  if (planned.data.length > 0) {
    await node.store.commit(planned.data, planned.structure.length > 0 ? node.store.revision : reached);
    await node.bump(planned.data.map(({ key }) => key));
  }
  // What is asked for again for this machine's reasons does not wait: nobody would bring it once more.
  const mayWait = reached > node.store.revision;
  const structural = planned.effect === 'structure' ? await restructure(node, planned, refusals, mayWait) : [];
  // The data is here; the structure comes with the next attempt, for which whoever follows asks.
  if (structural === 'later') return ackOf(refusals, node.store.revision, performance.now() - startedAt);
  if (structural.length > 0 || reached !== node.store.revision) await node.store.commit(structural, reached);
  await node.bump(structural.map(({ key }) => key));
  return ackOf(refusals, node.store.revision, performance.now() - startedAt);
}

/** Answers the changes that may be kept: all or, when nginx cannot serve them, none. */
async function restructure(
  node: EdgeNode,
  { structure }: Plan,
  refusals: Refusals,
  mayWait: boolean,
): Promise<Plan['structure'] | 'later'> {
  try {
    const wanted = await node.structureWith(structure);
    if (wanted !== null) await node.restructure(wanted, mayWait);
    return structure;
  } catch (error) {
    if (error instanceof TooSoon) return 'later';
    for (const change of structure) {
      const { key, revision, sha256, body } = change;
      refusals.set(key, { key, revision, error: reason(error), sha256: body === null ? null : sha256, change });
    }
    return [];
  }
}

function settle(refusals: Refusals, entries: readonly DocEntry[], rejected: readonly Rejection[]): void {
  for (const { key } of entries) refusals.delete(key);
  for (const rejection of rejected) refusals.set(rejection.key, rejection);
}

function ackOf(refusals: Refusals, revision: number, tookMs: number): Ack {
  return {
    revision,
    state: refusals.size > 0 ? 'rejected' : 'applied',
    rejected: reportOf(refusals),
    tookMs,
  };
}

export const reportOf = (refusals: Refusals) =>
  Array.from(refusals.values())
    .slice(0, REPORTED)
    .map(({ key, revision, error }) => ({ key, revision, error: error.slice(0, 1000) }));

/** The digest the node would have had nothing been refused: what the control plane has is this, or something is amiss. */
export function digestWithout(refusals: Refusals, { store }: EdgeNode): string {
  let { digest } = store;
  for (const { key, sha256 } of refusals.values()) {
    const known = store.get(key);
    if (known !== undefined) digest = toggle(digest, key, known.sha256);
    if (sha256 !== null) digest = toggle(digest, key, sha256);
  }
  return digest;
}

/** The same without the node's own document, as the control plane counts a zone. */
export function zoneDigestWithout(refusals: Refusals, node: EdgeNode): string {
  const own = nodeKey(node.self.nodeID);
  const hash = refusals.get(own)?.sha256 ?? node.store.get(own)?.sha256;
  const digest = digestWithout(refusals, node);
  return hash === undefined || refusals.get(own)?.sha256 === null ? digest : toggle(digest, own, hash);
}
