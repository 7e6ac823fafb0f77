// Keeps operators' DNS records in sync. Runs in every process with a lock per account. Accounts are handled
// concurrently, so a slow one delays only its own names.
import type { FastifyBaseLogger } from 'fastify';
import type { Installation } from '../core/installation.ts';
import { pendingSettings } from '../dns-state/accounts.ts';
import { planNames } from '../dns-state/plan.ts';
import { reconcile } from '../dns-state/reconcile.ts';
import { openSettingLocks } from '../dns-state/setting-locks.ts';
import { listen } from '../core/listen.ts';

const LOOK_AGAIN_MS = 2000;
const ACCOUNTS_AT_ONCE = 50;

export function startDnsReconciler(
  installation: Installation,
  log: Pick<FastifyBaseLogger, 'warn'>,
): { stop: () => Promise<void> } {
  const locks = openSettingLocks(installation.env.DATABASE_URL);
  const running = new Map<string, Promise<unknown>>();
  let looking: Promise<void> | null = null;
  let isWoken = false;
  let isStopping = false;
  const stopping = () => isStopping;

  async function reconcileAll() {
    while (isWoken && !isStopping) {
      isWoken = false;
      const faults = await planNames(installation.pool);
      if (faults.length > 0)
        log.warn({ err: faults[0] }, `names of ${faults.length} operators not worked out; they are tried again`);
      for (const id of await pendingSettings(installation)) {
        if (running.has(id) || running.size >= ACCOUNTS_AT_ONCE) continue;
        const work = locks
          .withLock(id, (lock) => reconcile(installation, id, lock, stopping))
          .catch((error: unknown) => log.warn({ err: error, setting: id }, 'DNS not reconciled'))
          .finally(() => running.delete(id));
        running.set(id, work);
      }
    }
  }
  const wake = () => {
    isWoken = true;
    looking ??= reconcileAll()
      .catch((error: unknown) => log.warn({ err: error }, 'DNS changes could not be read'))
      .finally(() => (looking = null));
  };
  const listener = listen(installation.env.DATABASE_URL, { dns: wake });
  const timer = setInterval(wake, LOOK_AGAIN_MS).unref();

  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await listener.stop();
      await looking;
      await Promise.all(running.values());
      await locks.stop();
    },
  };
}
