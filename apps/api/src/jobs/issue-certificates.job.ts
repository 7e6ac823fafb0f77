// Orders and renews certificates. Runs in every process with a lease per order.
import type { FastifyBaseLogger } from 'fastify';
import { issue } from '../acme/issue.ts';
import { claimOrder, type Here } from '../acme/order.ts';
import { tellEnds } from '../acme/notices.ts';
import { orderDue } from '../acme/renew.ts';
import { clearEnded } from '../acme/prove.ts';
import { askRenewals } from '../acme/renewal-info.ts';
import { tidy } from '../acme/tidy.ts';
import type { Installation } from '../core/installation.ts';
import { listen } from '../node-link/listen.ts';

const AT_ONCE = 8;
const LOOK_AGAIN_MS = 1000;
const RENEW_EVERY_MS = 60_000;
const TIDY_EVERY_MS = 3_600_000;

/** Handles due orders with limited concurrency. Returns when none is due, or on abort. */
export async function issueDue(
  here: Here,
  now: () => Date,
  log: Pick<FastifyBaseLogger, 'warn'>,
  signal = new AbortController().signal,
): Promise<void> {
  const worker = async () => {
    while (!signal.aborted) {
      const claimed = await claimOrder(here.pool, now());
      if (!claimed) return;
      await issue(here, claimed.order, claimed.claim, { now, signal }).catch((error: unknown) => {
        // Its lease expires, and the order is resumed.
        log.warn({ err: error, order: claimed.order.id }, 'an order was not carried out');
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export function startIssuing(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const now = () => new Date();
  let running: Promise<void> | null = null;
  const wake = () => {
    if (stopping.signal.aborted) return;
    running ??= issueDue(installation, now, log, stopping.signal)
      .catch((error: unknown) => log.warn({ err: error }, 'orders of certificates could not be read'))
      .finally(() => {
        running = null;
      });
  };
  const upkeep = async () => {
    await askRenewals(installation, now());
    if ((await orderDue(installation.pool, now())) > 0) wake();
    await tellEnds(installation, now());
    await clearEnded(installation);
  };
  const renew = () => {
    upkeep().catch((error: unknown) => log.warn({ err: error }, 'certificates could not be looked after'));
  };
  const clean = () => {
    tidy(installation.pool, now()).catch((error: unknown) =>
      log.warn({ err: error }, 'what is left of old orders could not be removed'),
    );
  };
  const listener = listen(installation.env.DATABASE_URL, { certificate_orders: wake });
  const timers = [
    setInterval(wake, LOOK_AGAIN_MS).unref(),
    setInterval(renew, RENEW_EVERY_MS).unref(),
    setInterval(clean, TIDY_EVERY_MS).unref(),
  ];
  return {
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      await listener.stop();
      await running;
    },
  };
}
