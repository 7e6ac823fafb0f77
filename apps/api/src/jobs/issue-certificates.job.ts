// Orders and renews certificates. Runs in every process with a lease per order.
import type { FastifyBaseLogger } from 'fastify';
import { issue } from '../acme/issue.ts';
import { claimOrder } from '../acme/order.ts';
import { tellEnds } from '../acme/notices.ts';
import { orderDue } from '../acme/renew.ts';
import { clearEndedChallenges } from '../acme/challenge.ts';
import { askRenewals } from '../acme/renewal-info.ts';
import { tidy } from '../acme/tidy.ts';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';

const MAX_CONCURRENT = 8;
const RENEW_EVERY_MS = 60_000;
const TIDY_EVERY_MS = 3_600_000;

export function startIssuing(installation: Installation, log: FastifyBaseLogger): { stop: () => Promise<void> } {
  const now = () => new Date();
  const orders = startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'certificate_orders',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimOrder(installation.pool, now()),
    run: ({ order, claim }, signal) => issue(installation, order, claim, { now, signal }),
    failures: { run: 'a certificate order failed', claim: 'certificate orders could not be claimed' },
    log,
  });
  const upkeep = async () => {
    await askRenewals(installation, now());
    if ((await orderDue(installation.pool, now())) > 0) orders.wake();
    await tellEnds(installation, now());
    await clearEndedChallenges(installation);
  };
  const renew = () => {
    upkeep().catch((error: unknown) => log.warn({ err: error }, 'certificates could not be looked after'));
  };
  const clean = () => {
    tidy(installation.pool, now()).catch((error: unknown) =>
      log.warn({ err: error }, 'what is left of old orders could not be removed'),
    );
  };
  const timers = [setInterval(renew, RENEW_EVERY_MS).unref(), setInterval(clean, TIDY_EVERY_MS).unref()];
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await orders.stop();
    },
  };
}
