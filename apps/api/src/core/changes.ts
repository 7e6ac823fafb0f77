// What must be told to the nodes, written down in the transaction that changes it: no change is ever unpublished, and
// nothing is published that was rolled back. A trigger on the table wakes the publisher when the transaction commits.
import { assertWeight } from './document-weight.ts';

interface Outbox {
  outbox: { createMany(args: { data: { zoneId: string; key: string }[] }): PromiseLike<unknown> };
}

/** Records documents to compile again, after their rows are written; also when a row is gone, and its document with it. */
export async function changed(tx: Outbox, zoneId: string, ...keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  await assertWeight(tx, keys);
  await tx.outbox.createMany({ data: [...new Set(keys)].map((key) => ({ zoneId, key })) });
}
