// An operator adds a monitor in the console.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';

let consoles: Consoles;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  consoles = await startConsoles();
  onEnd(() => consoles.stop());
}, 180_000);
afterAll(stopAll);

test('a monitor is added, with the command that installs it, and waits for its machine', async () => {
  const { client } = await consoles.app.build.client();
  const { page } = await consoles.openAs(client, 'monitorManagement/monitorNodeList', { language: 'en' });
  await page.getByRole('button', { name: 'Add monitor node' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('outside');
  await page.getByLabel('Address', { exact: true }).fill('192.0.2.10');
  await keepPicture(page, 'monitor-form');
  await page.keyboard.press('Enter');
  await page.getByText('EDGELOOM_TOKEN=').waitFor();
  await keepPicture(page, 'monitor-command');
  await page.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('link', { name: /Uninitialized/ }).click();
  await page.getByRole('row', { name: /outside/ }).waitFor();
  expect(await page.getByRole('row', { name: /outside/ }).innerText()).toContain('192.0.2.10');
  await keepPicture(page, 'monitor-nodes');
});
