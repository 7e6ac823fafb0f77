// Delivers messages of alerts in every process, each leased by its due time.
import type { FastifyBaseLogger } from 'fastify';
import { claimMessage, deliver } from '../alerts/deliver.ts';
import type { Installation } from '../core/installation.ts';
import { startLeasedWork } from '../core/lease.ts';

/** A receiver that does not respond takes ten seconds. */
const MAX_CONCURRENT = 40;

export const startAlertDelivery = (installation: Installation, log: Pick<FastifyBaseLogger, 'warn'>) =>
  startLeasedWork({
    databaseUrl: installation.env.DATABASE_URL,
    channel: 'alert_messages',
    maxConcurrent: MAX_CONCURRENT,
    claim: () => claimMessage(installation.pool),
    run: (message) => deliver(installation, message),
    failures: { run: 'a message of alerts was not delivered', claim: 'messages of alerts could not be claimed' },
    log,
  });
