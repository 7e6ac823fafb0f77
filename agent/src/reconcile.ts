// Makes the node match its documents. Applying the same documents again changes nothing.
import { toggle } from '@edgeloom/contract/edge/digest.ts';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { Ack, DocEntry } from '@edgeloom/contract/edge/messages.ts';
import type { EdgeNode } from './edge-node.ts';
import { reason } from './log.ts';
import { ReloadTooSoonError } from './nginx/pace.ts';
import { plan } from './plan.ts';
import type { Plan, Rejection } from './plan.ts';

/** Currently rejected documents with their reasons, until a valid one arrives. */
export type Refusals = Map<string, Rejection>;

/** More are not read by people. The digest reveals that there are more. */
const MAX_REPORTED = 100;

export async function reconcile(
  node: EdgeNode,
  refusals: Refusals,
  entries: readonly DocEntry[],
  reached: number,
): Promise<Ack> {
  const startedAt = performance.now();
  const planned = plan((key) => node.store.get(key), entries, node.self);
  settle(refusals, entries, planned.rejected);

  // Data first, because a failing structure takes seconds and must not delay sites.
  // The revision is reached when both are done, so a crash in between repeats both.
  if (planned.data.length > 0) {
    await node.store.commit(planned.data, planned.structure.length > 0 ? node.store.revision : reached);
    await node.bump(planned.data.map(({ key }) => key));
  }
  // Retries caused by this machine do not wait, because no push would repeat them.
  const mayWait = reached > node.store.revision;
  const structural = planned.effect === 'structure' ? await restructure(node, planned, refusals, mayWait) : [];
  // The data is applied. The follower requests the structure again.
  if (structural === 'later') return ackOf(refusals, node.store.revision, performance.now() - startedAt);
  if (structural.length > 0 || reached !== node.store.revision) await node.store.commit(structural, reached);
  await node.bump(structural.map(({ key }) => key));
  return ackOf(refusals, node.store.revision, performance.now() - startedAt);
}

/** Returns the changes that may be kept: all of them, or none when nginx cannot serve them. */
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
    if (error instanceof ReloadTooSoonError) return 'later';
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
    .slice(0, MAX_REPORTED)
    .map(({ key, revision, error }) => ({ key, revision, error: error.slice(0, 1000) }));

/** The digest with every document accepted. It equals the control plane's, unless something is wrong. */
export function digestWithout(refusals: Refusals, { store }: EdgeNode): string {
  let { digest } = store;
  for (const { key, sha256 } of refusals.values()) {
    const known = store.get(key);
    if (known !== undefined) digest = toggle(digest, key, known.sha256);
    if (sha256 !== null) digest = toggle(digest, key, sha256);
  }
  return digest;
}

/** The same without the node's own document, as the control plane computes it for a zone. */
export function zoneDigestWithout(refusals: Refusals, node: EdgeNode): string {
  const own = nodeKey(node.self.nodeID);
  const hash = refusals.get(own)?.sha256 ?? node.store.get(own)?.sha256;
  const digest = digestWithout(refusals, node);
  return hash === undefined || refusals.get(own)?.sha256 === null ? digest : toggle(digest, own, hash);
}
