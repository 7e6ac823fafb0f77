// Backups of the database in the settings of the only operator. A script stands in for pg_dump.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { dbBackup } from '@edgeloom/contract/db-backup/db-backup.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { claimBackup, runBackup } from '../support/services/background-work.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { testDir } from '../support/services/test-dir.ts';

let consoles: Consoles;
let dir: string;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dir = await testDir();
  const settings = { BACKUP_DIR: path.join(dir, 'backups'), PG_DUMP_BINARY: path.join(dir, 'pg_dump') };
  await writeFile(settings.PG_DUMP_BINARY, '#!/bin/sh\necho dump\n', { mode: 0o700 });
  consoles = await startConsoles(settings);
  onEnd(() => consoles.stop());
}, 400_000);
afterAll(stopAll);

test('an operator schedules backups, starts one, and sees its state and its file', async () => {
  const { app } = consoles;
  const { client } = await app.build.client();
  const screen = await consoles.openAs(client, 'systemManagement/systemSetting', {
    theme: 'light',
    language: 'en',
    expectedErrors: /status of 400/,
  });
  const { page } = screen;
  const part = page.getByRole('region', { name: 'Database backup' }).first();
  await part.getByText('No backups yet. Start one, or choose a period.').waitFor();
  const folder = path.join(dir, 'backups/weekly');
  await part.getByLabel('Folder').fill('/etc');
  await part.getByRole('button', { name: 'Save' }).click();
  await part
    .getByText(`Choose ${path.join(dir, 'backups')} or a folder in it`)
    .first()
    .waitFor();
  await part.getByLabel('Folder').fill(folder);
  await part.getByRole('combobox', { name: 'Period' }).click();
  await page.getByRole('option', { name: 'Weekly' }).click();
  await part.getByRole('button', { name: 'Save' }).click();
  const { call } = app.as(client);
  await eventually(async () => expect(await call(dbBackup.get)).toMatchObject({ period: 'week', path: folder }));

  await part.getByRole('button', { name: 'Back up now' }).click();
  await part.getByText('Waiting').waitFor();
  const claimed = await claimBackup(app.installation.pool);
  if (!claimed) throw new Error('no backup is due');
  await app.installation.db.dbBackup.updateMany({ data: { tables: 8, tablesDone: 2 } });
  await part.getByText('Running, 25.00%').waitFor();
  await keepPicture(page, 'db-backup-running');
  await runBackup(app.installation, claimed, new AbortController().signal);
  await part.getByText('Complete').waitFor();
  await part.getByRole('cell', { name: /^edgeloom-.*\.dump$/ }).waitFor();
  await keepPicture(page, 'db-backup');
  expect(await horizontalOverflow(page)).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);
  expect(screen.browserErrors()).toEqual([]);
});
