// The lock of the installation's license.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { licenseFile } from '../../../../tests/support/builders/license-file.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { dryRun } from './dry-run-transaction.ts';
import { readInstallationLicense, readLoadedLicense } from './installation-license.ts';
import { licenseIn } from './license.ts';

const { build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

test('a dry run counts without waiting for additions of others, and still finds the limit', async () => {
  const { clientId } = await build.site();
  const { machineCode } = await readInstallationLicense(installation);
  const { privateKey } = generateKeyPairSync('ed25519');
  const document = licenseFile(privateKey, { machineCode, siteLimit: (await db.site.count()) + 1 });
  await db.installationLicense.updateMany({ data: { document } });
  await db.$transaction(async (adding) => {
    await licenseIn(adding, clientId).assertRoom('sites', 1);
    const count = (more: number, isDryRun: boolean) =>
      db.$transaction((tx) => licenseIn(tx, clientId, isDryRun).assertRoom('sites', more));
    await count(1, true);
    await expect(count(2, true)).rejects.toMatchObject({ reason: 'SITE_LIMIT' });
    await dryRun(pool, 10_000, () => count(1, false));
  });
});

test('only what the license limits is counted for the dashboard', async () => {
  await build.site();
  const { machineCode } = await readInstallationLicense(installation);
  const { privateKey } = generateKeyPairSync('ed25519');
  const document = licenseFile(privateKey, { machineCode, siteLimit: 9, nodeLimit: 0 });
  await db.installationLicense.updateMany({ data: { document } });
  expect((await readLoadedLicense(installation))?.uses).toEqual({ sites: await db.site.count() });
});
