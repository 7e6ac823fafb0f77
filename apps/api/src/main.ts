// Reads the environment, opens the installation, starts both listeners and the node link, and stops them in reverse.
import { clickHouseOf } from './access-log/open.ts';
import { buildApp } from './app.ts';
import { openInstallation } from './core/installation.ts';
import { openLog } from './core/log.ts';
import { readEnv } from './core/env.ts';
import { openGeoip } from './geoip/geoip.ts';
import { adoptChanges } from './http/audit.ts';
import { openIdentities } from './core/auth/identities.ts';
import { sweepSessions } from './core/auth/sweep-sessions.ts';
import { sweepKeys } from './http/idempotency.ts';
import { openLimits } from './http/limits.ts';
import { startDbBackups } from './jobs/back-up-database.job.ts';
import { startListSources } from './jobs/fetch-list-sources.job.ts';
import { startCnameChecks } from './jobs/check-cnames.job.ts';
import { startNameProofChecks, sweepProofs } from './jobs/check-name-proofs.job.ts';
import { startMailDelivery } from './jobs/deliver-mail.job.ts';
import { endSwitches } from './jobs/end-switches.job.ts';
import { expireAccounts } from './jobs/expire-accounts.job.ts';
import { noteLicenseTime } from './core/installation-license.ts';
import { expireSites } from './jobs/expire-sites.job.ts';
import { notifyExpiringSites } from './jobs/notify-expiring-sites.job.ts';
import { forgetVersions } from './jobs/forget-versions.job.ts';
import { startIssuing } from './jobs/issue-certificates.job.ts';
import { startDnsReconciler } from './jobs/reconcile-dns.job.ts';
import { removeEndedExceptions } from './jobs/remove-ended-exceptions.job.ts';
import { startNodeJobs } from './jobs/run-node-jobs.job.ts';
import { startZoneKeys } from './jobs/change-zone-keys.job.ts';
import { startSteering } from './jobs/steer.job.ts';
import { startAlertDelivery } from './jobs/deliver-alerts.job.ts';
import { forgetAlerts, startAlerts } from './jobs/raise-alerts.job.ts';
import { startLogExports, sweepLogExports } from './jobs/run-log-exports.job.ts';
import { startTrafficLimits } from './jobs/limit-traffic.job.ts';
import { startLogPush, sweepLogSpool } from './jobs/push-logs.job.ts';
import { startRollouts } from './jobs/run-rollouts.job.ts';
import type { Checks } from './modules/system/health.ts';
import { startNodeLink, type NodeLink } from './node-link/start.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const env = readEnv();
const log = openLog(env);
const installation = await openInstallation(env);
const clickHouse = clickHouseOf(installation);
const identities = await openIdentities(installation.pool, env.DATABASE_URL, log);

let nodeLink: NodeLink | null = null;
const checks: Checks = new Map([
  ['postgres', { isVital: true, check: () => installation.pool.query('SELECT 1') }],
  ...(clickHouse ? ([['clickhouse', { isVital: false, check: () => clickHouse.ping() }]] as const) : []),
  [
    'nats',
    { isVital: false, check: async () => (nodeLink ? nodeLink.healthy() : Promise.reject(new Error('not linked'))) },
  ],
]);
const limits = openLimits(installation);
const [pub, admin] = await Promise.all([
  buildApp(installation, { listener: 'public', identities, checks, limits, log }),
  buildApp(installation, { listener: 'admin', identities, checks, limits, log }),
]);
// Set before the listeners respond, because the default action of a signal would cut running calls.
const stopSignal = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // Exits before the service manager's timeout, even if something does not stop.
      setTimeout(() => process.exit(1), 20_000).unref();
      resolve(signal);
    });
});
await pub.listen({ host: env.HOST, port: env.PORT });
await admin.listen({ host: env.ADMIN_HOST, port: env.ADMIN_PORT });

// Codes and links are mailed even without NATS.
const mailDelivery = startMailDelivery(installation, log);
const cnameChecks = startCnameChecks(installation, log);
const listSources = startListSources(installation, log);
const nameProofChecks = startNameProofChecks(installation, log);
const dnsReconciler = startDnsReconciler(installation, log);
const issuing = startIssuing(installation, log);
const nodeJobs = startNodeJobs(installation, log);
const logExports = startLogExports(installation, log);
const dbBackups = startDbBackups(installation, log);
const logPush = startLogPush(installation, log);
const trafficLimits = startTrafficLimits(installation, log);
const alertDelivery = startAlertDelivery(installation, log);
const steering = startSteering(installation, log);
const geoip = await openGeoip(env, log);
installation.geoip = geoip;
nodeLink = startNodeLink(installation, geoip, log);
const alerts = startAlerts(installation, nodeLink, log);
const rollouts = startRollouts(installation, log);
const zoneKeys = startZoneKeys(installation, log);
const sweeper = setInterval(() => {
  sweepKeys(installation.pool).catch((error: unknown) => log.warn({ err: error }, 'idempotency keys not swept'));
  adoptChanges(installation).catch((error: unknown) => log.warn({ err: error }, 'changes without an audit row stay'));
  forgetVersions(installation).catch((error: unknown) => log.warn({ err: error }, 'old versions stay'));
  removeEndedExceptions(installation).catch((error: unknown) =>
    log.warn({ err: error }, 'ended exceptions of firewalls stay'),
  );
  sweepProofs(installation).catch((error: unknown) => log.warn({ err: error }, 'proofs of names not swept'));
  sweepLogExports(installation).catch((error: unknown) => log.warn({ err: error }, 'exports of logs not swept'));
  notifyExpiringSites(installation, new Date()).catch((error: unknown) =>
    log.warn({ err: error }, 'expiring sites not announced'),
  );
  forgetAlerts(installation).catch((error: unknown) => log.warn({ err: error }, 'old alerts stay'));
  sweepSessions(installation).catch((error: unknown) => log.warn({ err: error }, 'sessions not swept'));
}, HOUR_MS).unref();
const expiry = setInterval(() => {
  expireAccounts(installation).catch((error: unknown) => log.warn({ err: error }, 'accounts not expired'));
  expireSites(installation).catch((error: unknown) => log.warn({ err: error }, 'sites not expired'));
  noteLicenseTime(installation).catch((error: unknown) => log.warn({ err: error }, 'time not noted'));
  sweepLogSpool(installation).catch((error: unknown) => log.warn({ err: error }, 'spooled logs not swept'));
  endSwitches(installation).catch((error: unknown) => log.warn({ err: error }, 'kill switches not ended'));
}, MINUTE_MS).unref();
log.info('ready');

log.info({ signal: await stopSignal }, 'stopping');
try {
  clearInterval(sweeper);
  clearInterval(expiry);
  // HTTP calls end first, then the services that they use.
  await Promise.all([pub.close(), admin.close()]);
  await nodeJobs.stop();
  await logExports.stop();
  await dbBackups.stop();
  await logPush.stop();
  await trafficLimits.stop();
  await alerts.stop();
  await alertDelivery.stop();
  await steering.stop();
  await rollouts.stop();
  await zoneKeys.stop();
  await nodeLink.stop();
  await issuing.stop();
  await mailDelivery.stop();
  await cnameChecks.stop();
  await listSources.stop();
  await nameProofChecks.stop();
  await dnsReconciler.stop();
  await identities.close();
  await clickHouse?.close();
  await installation.close();
  log.info('stopped');
  process.exit(0);
} catch (error) {
  log.error({ err: error }, 'did not stop cleanly');
  process.exit(1);
}
