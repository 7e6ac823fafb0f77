// The live tail, saved searches, exports and destinations of logs.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { addLogs, addSessions, logLine, sessionLine } from '../support/builders/traffic.ts';
import { writeLogExports } from '../support/services/background-work.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
let site: BuiltSite;
let send: (...uris: string[]) => Promise<void>;

beforeAll(async () => {
  consoles = await startConsoles();
  const { build, installation } = consoles.app;
  site = await build.site({ name: 'Glow Select' });
  const node = await build.node({ zone: site.zone });
  send = (...uris) =>
    addLogs(
      installation.pool,
      node.id,
      uris.map((uri) => logLine(site.id, { uri, status: uri.startsWith('/error') ? 502 : 200, cache: 'HIT' })),
    );
  await send('/first', '/error/first');
}, 400_000);
afterAll(() => consoles.stop());

const rows = (page: Page) => page.locator('tbody tr[data-row]');

test('the list follows new requests that match, and can be paused', { timeout: 240_000 }, async () => {
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger?status=5xx');
  await page.getByText('/error/first').waitFor();
  await page.getByRole('switch', { name: 'Live' }).press('Space');
  await page.getByText('Waiting for requests').waitFor();
  await page.getByRole('status').getByText('Live').waitFor();
  await send('/ok', '/error/a');
  await page.getByText('/error/a').waitFor();
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByRole('button', { name: 'Pause' }).click();
  await send('/error/b', '/error/c');
  await page.getByText('Paused · 2 new requests').waitFor();
  await expect.poll(() => rows(page).count()).toBe(1);
  await keepPicture(page, 'logs-live-paused-1440');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(() => rows(page).count()).toBe(3);
  await page.context().close();

  const phone = await consoles.openAs(site.owner, 'dataAnalysis/logger?live=true', {
    width: 360,
    theme: 'dark',
    language: 'zh-TW',
  });
  await phone.page.getByText('等待請求').waitFor();
  await phone.page.getByRole('status').getByText('即時').waitFor();
  await send('/phone');
  await phone.page.getByText('/phone').waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'logs-live-360-dark-zh-TW');
  expect(await accessibilityViolations(phone.page)).toEqual([]);
  await phone.page.context().close();
});

test('a search is saved for the account, opened in another browser and removed', { timeout: 240_000 }, async () => {
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger?status=5xx&not.uri=health');
  await page.getByRole('button', { name: 'Saved searches' }).click();
  await page.getByText('No saved searches yet').waitFor();
  await page.getByRole('textbox', { name: 'Name of this search' }).fill('Errors');
  await page.keyboard.press('Enter');
  await page.getByText('Search saved').waitFor();
  await page.context().close();

  const other = await consoles.openAs(site.owner, 'dataAnalysis/logger?method=POST');
  await other.page.getByRole('button', { name: 'Saved searches' }).click();
  await other.page.getByRole('button', { name: 'Errors', exact: true }).click();
  await expect.poll(() => new URL(other.page.url()).searchParams.getAll('status')).toEqual(['5xx']);
  const { searchParams } = new URL(other.page.url());
  expect([searchParams.getAll('not.uri'), searchParams.getAll('method')]).toEqual([['health'], []]);
  await other.page.getByRole('button', { name: 'Saved searches' }).click();
  await other.page.getByRole('button', { name: 'Remove the saved search Errors' }).click();
  await other.page.getByText('No saved searches yet').waitFor();
  await other.page.context().close();
});

test('an export is started from the search and downloaded', { timeout: 240_000 }, async () => {
  const { page } = await consoles.openAs(site.owner, 'dataAnalysis/logger');
  await page.getByText('/first', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('cell', { name: 'Waiting' }).waitFor();
  await writeLogExports(consoles.app.installation);
  await page.getByRole('cell', { name: 'Ready' }).waitFor();
  await keepPicture(page, 'log-exports-1440');
  expect(await accessibilityViolations(page)).toEqual([]);
  await rows(page).first().click({ button: 'right' });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^Logs .*\.csv\.gz$/);
  await page.context().close();
});

test('findings and sessions are exported from their tabs, with their filters', { timeout: 240_000 }, async () => {
  const { build, installation } = consoles.app;
  const guarded = await build.site();
  const node = await build.node({ zone: guarded.zone });
  const finding = { cause: 'waf', rule: 'sqli-union-select', status: 403 };
  await addLogs(installation.pool, node.id, [
    logLine(guarded.id, { uri: '/ordinary' }),
    logLine(guarded.id, finding),
    logLine(guarded.id, { ...finding, rule: 'monitor/sqli-union-select', status: 200 }),
  ]);
  await addSessions(installation.pool, node.id, [sessionLine(guarded.id), sessionLine(guarded.id, { status: 502 })]);
  const { page } = await consoles.openAs(guarded.owner, 'dataAnalysis/logger?tab=waf&action=blocked');
  const start = async () => {
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV' }).click();
    await page.getByRole('button', { name: 'Show', exact: true }).waitFor();
  };
  await start();
  await keepPicture(page, 'waf-log-export-1440');
  await page.goto('/user/dataAnalysis/logger?tab=sessions&outcome=failed');
  await start();
  await writeLogExports(installation);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  for (const log of ['Firewall', 'Layer-4 sessions']) {
    const row = rows(page).filter({ has: page.getByRole('cell', { name: log, exact: true }) });
    await row.getByRole('cell', { name: 'Ready' }).waitFor();
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
  }
  await keepPicture(page, 'log-exports-of-three-logs-1440');
  expect(await accessibilityViolations(page)).toEqual([]);
  await rows(page).filter({ hasText: 'Firewall' }).click({ button: 'right' });
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^Logs Firewall .*\.csv\.gz$/);
  await page.context().close();
  const phone = await consoles.openAs(guarded.owner, 'dataAnalysis/logger?tab=sessions', {
    width: 360,
    theme: 'dark',
    language: 'zh-TW',
  });
  await expect.poll(() => phone.page.getByRole('list', { name: '四層連線' }).getByRole('listitem').count()).toBe(2);
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'layer-4-sessions-360-dark-zh-TW');
  expect(await accessibilityViolations(phone.page)).toEqual([]);
  await phone.page.goto('/user/dataAnalysis/logExport');
  await phone.page.getByText('防火牆').waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBeLessThanOrEqual(0);
  await keepPicture(phone.page, 'log-exports-360-dark-zh-TW');
  await phone.page.context().close();
});

test('a destination is added, tested and shows why it fails', { timeout: 240_000 }, async () => {
  const address = `sitesManagement/sitesSetting/${site.id}/x?view=logPush`;
  const { page } = await consoles.openAs(site.owner, address, { expectedErrors: /status of 400/ });
  await page.getByText('No destinations yet').waitFor();
  await page.getByRole('button', { name: 'Add destination' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Collector');
  await page.getByRole('textbox', { name: 'URL' }).fill('https://10.0.0.1/in');
  await keepPicture(page, 'log-push-form-1440');
  await page.getByRole('button', { name: 'Add destination' }).last().click();
  await page
    .getByText(/address is not allowed/i)
    .first()
    .waitFor();
  await page.getByRole('textbox', { name: 'URL' }).fill('https://collector.invalid/in');
  await page.getByRole('button', { name: 'Add destination' }).last().click();
  await page.getByRole('cell', { name: 'No deliveries yet' }).waitFor();
  await rows(page).first().click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Send a test' }).click();
  await page.getByText('Collector: The address is not allowed').waitFor();
  await keepPicture(page, 'log-push-1440');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.context().close();
});
