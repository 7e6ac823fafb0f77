// A real API with both listeners and without a node link. Tests use app.ts; benches use this file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildApp } from '@edgeloom/api/app.ts';
import { openInstallation, type Installation } from '@edgeloom/api/core/installation.ts';
import { openLog } from '@edgeloom/api/core/log.ts';
import { readEnv } from '@edgeloom/api/core/env.ts';
import { openLimits } from '@edgeloom/api/http/limits.ts';
import { openIdentities } from '@edgeloom/api/core/auth/identities.ts';
import { startMailDelivery } from '@edgeloom/api/jobs/deliver-mail.job.ts';
import type { Checks } from '@edgeloom/api/modules/system/health.ts';
import { apiClients, type ApiClients } from '../builders/api-clients.ts';
import { builder, type Build } from '../builders/build.ts';
import type { Services } from './start-services.ts';
import { unlimited } from '../builders/unlimited-rates.ts';

export interface TestApp {
  installation: Installation;
  /** URLs of the listeners, without /api/v1. */
  url: string;
  adminUrl: string;
  mailDir: string;
  /** Typed client of an account: `as(site.owner).call(domains.list, { params })`. */
  as: ApiClients['as'];
  build: Build;
  close: () => Promise<void>;
}

export async function startApp(
  { natsUrl, secretsDir }: Pick<Services, 'natsUrl' | 'secretsDir'>,
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<TestApp> {
  const mailDir = await mkdtemp(path.join(tmpdir(), 'edgeloom-mail-'));
  const env = readEnv({
    DATABASE_URL: databaseUrl,
    NATS_URL: natsUrl,
    SECRETS_DIR: secretsDir,
    MAIL_DIR: mailDir,
    BACKUP_DIR: path.join(mailDir, 'backups'),
    LOG_LEVEL: 'silent',
    DATABASE_POOL: '10',
    // Searches of a busy machine end before they have read the whole period, otherwise.
    LOG_SEARCH_MS: '20000',
    ...unlimited,
    ...settings,
  });
  const log = openLog(env);
  const opened = await openInstallation(env);
  // A worker keeps the modules of all its test files, and with them what they refer to. What is revoked or emptied at
  // the end would be 40 MB for each file.
  const db = Proxy.revocable(opened.db, {});
  const { proxy: installation, revoke } = Proxy.revocable({ ...opened, db: db.proxy }, {});
  const identities = await openIdentities(installation.pool, env.DATABASE_URL, log);
  const checks: Checks = new Map([['postgres', { isVital: true, check: () => installation.pool.query('SELECT 1') }]]);
  const limits = openLimits(installation);
  const apps = await Promise.all(
    (['public', 'admin'] as const).map((listener) =>
      buildApp(installation, { listener, identities, checks, limits, log }),
    ),
  );
  // Passkeys depend on the port, so browser tests choose the port. Otherwise any free port is used.
  const ports = [settings['PORT'], settings['ADMIN_PORT']].map((port) => Number(port ?? 0));
  const [url = '', adminUrl = ''] = await Promise.all(
    apps.map((app, i) => app.listen({ host: '127.0.0.1', port: ports[i] ?? 0 })),
  );
  const mailDelivery = startMailDelivery(installation, log);
  const { as, signIn } = apiClients(installation, { url, adminUrl });
  return {
    installation,
    url,
    adminUrl,
    mailDir,
    as,
    build: builder(installation, signIn),
    async close() {
      await Promise.all(apps.map((app) => app.close()));
      await mailDelivery.stop();
      await identities.close();
      await installation.close();
      await rm(mailDir, { recursive: true });
      db.revoke();
      revoke();
      apps.length = 0;
    },
  };
}
