// Work of the control plane that no request starts. Tests run it at once instead of waiting for its timer.
import { claimMessage, deliver } from '@edgeloom/api/alerts/deliver.ts';
import type { MonitorReport } from '@edgeloom/contract/edge/monitors.ts';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import { DeliveryError } from '@edgeloom/api/alerts/delivery-error.ts';
import { raiseAlerts as runPass } from '@edgeloom/api/jobs/raise-alerts.job.ts';
import { openLog } from '@edgeloom/api/core/log.ts';
import { startMailDelivery } from '@edgeloom/api/jobs/deliver-mail.job.ts';
import { claimExport, runExport } from '@edgeloom/api/log-exports/run-export.ts';
import { receiveReport } from '@edgeloom/api/monitors/reports.ts';
import { withClient } from '@edgeloom/api/node-link/transactions.ts';
import { openNodeProbe } from '@edgeloom/api/steering/node-probe.ts';
import { steerAll } from '@edgeloom/api/steering/run.ts';
import { withdraw } from '@edgeloom/api/zone-settings/trials.ts';

export { claimBackup, runBackup } from '@edgeloom/api/db-backup/run-backup.ts';
export { tellEnds } from '@edgeloom/api/acme/notices.ts';
export { claimOrder } from '@edgeloom/api/acme/order.ts';
export { clearEndedChallenges } from '@edgeloom/api/acme/challenge.ts';
export { orderDue } from '@edgeloom/api/acme/renew.ts';
export { askRenewals } from '@edgeloom/api/acme/renewal-info.ts';
export { tidy } from '@edgeloom/api/acme/tidy.ts';
export { sweepSessions } from '@edgeloom/api/core/auth/sweep-sessions.ts';
export { changed } from '@edgeloom/api/core/changes.ts';
export { noteLicenseTime } from '@edgeloom/api/core/installation-license.ts';
export { openProofs } from '@edgeloom/api/core/enabled-names.ts';
export { takeDue } from '@edgeloom/api/dns-state/due-names.ts';
export type { WantedSet } from '@edgeloom/api/dns-state/sets.ts';
export { wantSets } from '@edgeloom/api/dns-state/want-sets.ts';
export { adoptChanges } from '@edgeloom/api/http/audit.ts';
export { checkDueCnames } from '@edgeloom/api/jobs/check-cnames.job.ts';
export { fetchDueListSources } from '@edgeloom/api/jobs/fetch-list-sources.job.ts';
export { checkDueProofs, sweepProofs } from '@edgeloom/api/jobs/check-name-proofs.job.ts';
export { endSwitches } from '@edgeloom/api/jobs/end-switches.job.ts';
export { claimMessage, deliver } from '@edgeloom/api/alerts/deliver.ts';
export { forgetAlerts } from '@edgeloom/api/jobs/raise-alerts.job.ts';
export { expireAccounts } from '@edgeloom/api/jobs/expire-accounts.job.ts';
export { expireSites } from '@edgeloom/api/jobs/expire-sites.job.ts';
export { notifyExpiringSites } from '@edgeloom/api/jobs/notify-expiring-sites.job.ts';
export { checkCustomer, limitTraffic } from '@edgeloom/api/jobs/limit-traffic.job.ts';
export { forgetVersions } from '@edgeloom/api/jobs/forget-versions.job.ts';
export { removeEndedExceptions } from '@edgeloom/api/jobs/remove-ended-exceptions.job.ts';
export { startDnsReconciler } from '@edgeloom/api/jobs/reconcile-dns.job.ts';
export { lookFor } from '@edgeloom/api/modules/domains/name-proofs.service.ts';
export { tidyBlocks } from '@edgeloom/api/node-link/block-pushes.ts';
export { removeTombstones } from '@edgeloom/api/node-link/tombstones.ts';
export { publishZones } from '@edgeloom/api/node-link/upkeep.ts';

/** Passes of steering, which store the DNS answers of all groups. Nodes are not probed. */
export function steering({ pool }: Installation) {
  const nodeProbe = openNodeProbe(
    () => undefined,
    () => false,
  );
  return () => steerAll(pool, nodeProbe);
}

/** Handles a report as if this monitor had sent it. */
export const receiveMonitorReport = (installation: Installation, monitorId: string, report: MonitorReport) =>
  receiveReport(installation, monitorId, report);

/** Rolls a zone's change on trial back, as its rollout does after an error. */
export const withdrawTrial = ({ pool }: Installation, zoneId: string, version: number, note = '') =>
  withClient(pool, (client) => withdraw(client, zoneId, version, { note, messageCode: null }));

/**
 * Begins and ends alerts. Nodes could report for ten minutes, unless the test says how their link is: after an
 * outage, their alerts neither begin nor end.
 */
export async function raiseAlerts(
  installation: Installation,
  { link = 'settled' }: { link?: 'settled' | 'up' | 'down' } = {},
) {
  if (link === 'settled')
    await installation.pool
      .query(`INSERT INTO alert_node_link (up_since, seen_at) VALUES (now() - interval '10 minutes', now())
      ON CONFLICT (id) DO UPDATE SET up_since = excluded.up_since, seen_at = excluded.seen_at`);
  await runPass(installation, { isNodeLinkUp: async () => link !== 'down' });
}

/** Delivers all messages of alerts that are due. Errors of receivers are stored with them. */
export async function deliverAlerts(
  installation: Installation,
  stopping = new AbortController().signal,
): Promise<void> {
  for (const type of ['telegram', 'webhook'] as const)
    for (
      let next = await claimMessage(installation.pool, type);
      next;
      next = await claimMessage(installation.pool, type)
    )
      await deliver(installation, next, stopping).catch((error: unknown) => {
        if (!(error instanceof DeliveryError)) throw error;
      });
}

/** Delivers mail as another process does. */
export const startMailProcess = (installation: Installation) =>
  startMailDelivery(installation, openLog(installation.env));

/** Writes all exports of logs that wait. */
export async function writeLogExports(installation: Installation): Promise<void> {
  const { signal } = new AbortController();
  for (let next = await claimExport(installation.pool); next; next = await claimExport(installation.pool))
    await runExport(installation, next, signal);
}
