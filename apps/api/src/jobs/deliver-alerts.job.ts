// Delivers messages of alerts in every process, each under a lease. Telegram and webhooks have slots of their own, so
// that an outage of Telegram does not delay webhooks.
import type { FastifyBaseLogger } from 'fastify';
import { claimMessage, deliver, type ChannelType } from '../alerts/deliver.ts';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';

/** A receiver that does not respond takes a slot for ten seconds. */
const MAX_CONCURRENT = 20;

export function startAlertDelivery(installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) {
  const start = (type: ChannelType) =>
    startLeasedWork({
      databaseUrl: installation.env.DATABASE_URL,
      channel: 'alert_messages',
      maxConcurrent: MAX_CONCURRENT,
      claim: () => claimMessage(installation.pool, type),
      run: (message, stopping) => deliver(installation, message, stopping),
      failures: { run: 'a message of alerts was not delivered', claim: 'messages of alerts could not be claimed' },
      log,
    });
  const works = [start('telegram'), start('webhook')];
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) };
}
