import { issue } from '@edgeloom/api/acme/issue.ts';
import { claimOrder, type Deps } from '@edgeloom/api/acme/order.ts';

const CONCURRENT = 8;

/** Works through the due certificate orders, as one process does. Resolves when none is left. */
export async function processDueOrders(
  deps: Deps,
  now: () => Date,
  log: { warn: (...args: unknown[]) => void },
  signal = new AbortController().signal,
): Promise<void> {
  const worker = async () => {
    for (let claimed = await claimOrder(deps.pool, now()); claimed; claimed = await claimOrder(deps.pool, now()))
      await issue(deps, claimed.order, claimed.claim, { now, signal }).catch((error: unknown) => log.warn(error));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
}
