// An operator adds a monitor in the console.
import type { MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { receiveMonitorReport } from '../support/services/background-work.ts';
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

test('the page of a node shows what each of its monitors finds', async () => {
  const { build, installation } = consoles.app;
  const { db } = installation;
  const zone = await build.zone();
  const { clientId } = zone;
  const monitor = {
    enabled: true,
    type: 3,
    url: null,
    port: 443,
    content: null,
    interval: 30,
    failAction: 'pause',
    host: null,
    tlsName: null,
    userAgent: '',
    status: null,
    timeout: 5,
  };
  const { id: nodeId } = await build.node({ zone });
  await db.edgeNode.update({ where: { id: nodeId }, data: { monitor, ip: '192.0.2.1', joinedAt: new Date() } });
  const { id: groupId } = await db.monitorGroup.create({ data: { clientId, name: 'outside' } });
  await db.monitorGroupZone.create({ data: { zoneId: zone.id, groupId } });
  const findings = [
    { name: 'Frankfurt', failures: 3, successes: 0, error: 'connect ECONNREFUSED 192.0.2.1:443' },
    { name: 'Taipei', failures: 0, successes: 0, error: 'connect ENETUNREACH' },
    { name: 'Tokyo', failures: 0, successes: 9, error: null },
  ];
  const addMonitor = async (name: string) => {
    const data = { clientId, name, ip: '192.0.2.10', joinedAt: new Date() };
    const { id: monitorId } = await db.monitorNode.create({ data });
    await db.monitorGroupMember.create({ data: { groupId, monitorId } });
    return (results: MonitorResult[]) =>
      receiveMonitorReport(installation, monitorId, { version: '1.0.0', plan: '', results });
  };
  for (const { name, ...result } of findings) {
    const report = await addMonitor(name);
    const reply = await report([]);
    const version = 'plan' in reply ? (reply.checks?.[0]?.version ?? '') : '';
    await report([{ nodeID: nodeId, version, tookMs: 12, ...result }]);
  }
  await addMonitor('Sydney');
  // Monitors that do not report are soon offline.
  await db.monitorState.updateMany({ data: { lastSeenAt: new Date(Date.now() + 3_600_000) } });
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/${nodeId}`, { language: 'en' });
  const row = (name: string) => page.getByRole('row', { name });
  await row('Frankfurt').waitFor();
  expect(await row('Frankfurt').innerText()).toMatch(/Failing.*ECONNREFUSED/s);
  expect(await row('Taipei').innerText()).toContain('Cannot check');
  expect(await row('Tokyo').innerText()).toContain('Working');
  expect(await row('Sydney').innerText()).toContain('Offline');
  await keepPicture(page, 'monitor-results');
});
