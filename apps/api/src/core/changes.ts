// What must be told to the nodes, written down in the transaction that changes it: no change is ever unpublished, and
// nothing is published that was rolled back. A trigger on the table wakes the publisher when the transaction commits.
interface Outbox {
  outbox: { createMany(args: { data: { zoneId: string; key: string }[] }): PromiseLike<unknown> };
}

/** These documents of the zone are to be compiled again. Say so too when a row is gone: then its document goes. */
export async function changed(tx: Outbox, zoneId: string, ...keys: string[]): Promise<void> {
  if (keys.length > 0) await tx.outbox.createMany({ data: [...new Set(keys)].map((key) => ({ zoneId, key })) });
}
