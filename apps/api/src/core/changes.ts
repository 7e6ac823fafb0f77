// The outbox: changes for nodes are recorded in the transaction that makes them, so each committed change is published
// and no other. A trigger wakes the publisher on commit.
import { assertWeight } from './document-weight.ts';

interface Outbox {
  outbox: { createMany(args: { data: { zoneId: string; key: string }[] }): PromiseLike<unknown> };
}

/** Records documents to compile. Call it after their rows are written or deleted. */
export async function changed(tx: Outbox, zoneId: string, ...keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  await assertWeight(tx, keys);
  await tx.outbox.createMany({ data: [...new Set(keys)].map((key) => ({ zoneId, key })) });
}
