// An operator watches a machine become a node.
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConsoles, type Consoles } from '../support/consoles.ts';
import { eventually } from '../support/eventually.ts';
import { keepPicture } from '../support/pictures.ts';

let consoles: Consoles;
beforeAll(async () => {
  // Nobody carries jobs on here: what they come to is written below.
  consoles = await startConsoles({ NODE_ALLOW: '127.0.0.0/8' });
}, 180_000);
afterAll(() => consoles.stop());

test('the form leads to the steps; what the machine says appears as it is said, and a step that failed is tried again', async () => {
  const { build, as, installation } = consoles.app;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const body = { name: 'tpe-05', ip: '127.0.0.1', zoneID: zone.id };
  const { id } = await call(nodes.create, { body });
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/${id}`, {
    language: 'en',
    expects: /status of 502/,
  });
  await page.getByRole('button', { name: 'Install over SSH' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('SSH port').fill('9');
  await dialog.getByRole('button', { name: 'Look at it' }).click();
  await page.getByText('Node Communication Error').first().waitFor();
  await page.getByLabel('Messages').getByRole('button', { name: 'Close' }).click();
  await dialog.getByLabel('Password', { exact: true }).last().fill('secret');
  await keepPicture(page, 'install-form');
  await dialog.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByRole('heading', { name: 'Install tpe-05' }).waitFor();
  const shown = await call(nodes.get, { params: { nodeID: id } });
  expect(shown.ssh).toMatchObject({ port: 9, user: 'root', hasPassword: true });

  const [job] = (await call(nodeJobs.list, { params: { nodeID: id } })).data;
  const jobId = job?.id ?? '';
  const { db } = installation;
  const say = (name: string, data: object) => db.nodeJobStep.updateMany({ where: { jobId, name }, data });
  await db.nodeJob.update({
    where: { id: jobId },
    data: { state: 'processing', system: { id: 'rocky', version: '9.4', arch: 'x86_64' } },
  });
  await say('connect', { state: 'done', output: 'connected as root\n', startedAt: new Date(), endedAt: new Date() });
  await say('detect', { state: 'done', startedAt: new Date(), endedAt: new Date() });
  await say('check', { state: 'running', output: 'clock: right\n', startedAt: new Date() });
  const log = page.getByRole('log');
  await log.getByText('clock: right').waitFor();
  await page.getByText('rocky 9.4 · x86_64').waitFor();
  await say('check', { output: 'clock: right\n<b>port 80</b> is free\n' });
  await log.getByText('<b>port 80</b> is free').waitFor();
  await keepPicture(page, 'install-steps');
  await say('check', { state: 'failed', fault: 'portTaken', message: '443 is held by "caddy"', endedAt: new Date() });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'failed', endedAt: new Date() } });
  await page.getByText('A port is taken').waitFor();
  await page.getByText('443 is held by "caddy"').waitFor();
  await page.getByRole('button', { name: 'Retry from here' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  expect((await db.nodeJob.findUniqueOrThrow({ where: { id: jobId } })).state).toBe('waiting');
  await page.getByRole('button', { name: 'Stop' }).click();
  await eventually(async () =>
    expect((await db.nodeJob.findUniqueOrThrow({ where: { id: jobId } })).state).toBe('cancelled'),
  );
  await page.getByText('Stopped').first().waitFor();

  // Once it is there, it is put on a line from where it was installed.
  await call(groups.create, { params: { zoneId: zone.id }, body: { name: 'Taiwan core' } });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'completed', endedAt: new Date() } });
  await page.reload();
  await page.getByRole('button', { name: 'Put on a line' }).click();
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Group' }).inputValue()).toBe('Taiwan core');
  await dialog.getByRole('combobox', { name: 'Line' }).click();
  await page.getByRole('option', { name: 'Chunghwa Telecom' }).click();
  await keepPicture(page, 'install-on-line');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('stands on Taiwan core · Chunghwa Telecom · weight 50').waitFor();
  await page.getByRole('link', { name: 'Groups & lines' }).last().click();
  await page.getByRole('button', { name: /tpe-05/ }).waitFor();
});

test('a new node is brought by a line that is pasted there, or over SSH; many at once where credentials are stored', async () => {
  const { build, as, installation } = consoles.app;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const ssh = { port: 22, user: 'root', password: 'secret' };
  const body = { ip: '127.0.0.1', zoneID: zone.id };
  const stored = await call(nodes.create, { body: { ...body, name: 'tpe-06', ssh } });
  const bare = await call(nodes.create, { body: { ...body, ip: '127.0.0.2', name: 'tpe-07' } });
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/${bare.id}`, { language: 'en' });
  await page.getByRole('button', { name: 'New join token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByText(/^\(echo EDGELOOM_TOKEN=[\w-]+; curl -fsSL .*\/api\/v1\/node\/install\.sh\) \| sudo sh$/)
    .waitFor();
  await keepPicture(page, 'install-line');
  await dialog.getByText('Over SSH').click();
  await dialog.getByLabel('SSH port').waitFor();
  await keepPicture(page, 'install-ways');

  await page.goto('/client/nodeManage/nodesList?tab=waiting');
  for (const { name } of [stored, bare]) await page.getByRole('checkbox', { name: `Select ${name}` }).click();
  const selected = page.getByRole('toolbar', { name: 'Actions for the selected rows' });
  await selected.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByRole('dialog').getByText('Install tpe-06?').waitFor();
  await keepPicture(page, 'install-many');
  await page.getByRole('dialog').getByRole('button', { name: 'Install', exact: true }).click();
  const jobs = () => installation.db.nodeJob.findMany({ where: { nodeId: { in: [stored.id, bare.id] } } });
  await eventually(async () => expect((await jobs()).map(({ nodeId }) => nodeId)).toEqual([stored.id]));
});
