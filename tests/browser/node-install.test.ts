// An operator watches a node installation.
import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { horizontalOverflow } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';
import { startFakeMachines, type FakeMachines } from '../support/fakes/fake-machines.ts';

let consoles: Consoles;
let machines: FakeMachines;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  // No worker runs the jobs; the test writes their results.
  consoles = await startConsoles({ NODE_ALLOW: '127.0.0.0/8' });
  onEnd(() => consoles.stop());
  machines = await startFakeMachines('secret', () => Promise.resolve());
  onEnd(() => machines.stop());
}, 180_000);
afterAll(stopAll);

test('a node is installed on one page, which shows errors in place of the output and keeps the input', async () => {
  const { build, as, installation } = consoles.app;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const { page } = await consoles.openAs(zone.client, 'nodeManage/nodesList', {
    language: 'en',
    expectedErrors: /status of 502/,
  });
  const dialog = page.getByRole('dialog');
  const problem = page.getByRole('alert');
  const log = page.getByRole('log');
  await page.getByRole('link', { name: 'Install node' }).first().waitFor();
  await page.keyboard.press('c');
  await page.waitForURL('**/nodesList/new/install');
  await page.getByLabel('Address', { exact: true }).fill('127.0.0.1');
  await page.getByLabel('Name', { exact: true }).fill('tpe-05');
  await page.getByLabel('SSH port').fill('9');
  await page.keyboard.press('Enter');
  await page.getByText('Required').waitFor();
  await page.getByLabel('Password', { exact: true }).last().fill('secret');
  await page.keyboard.press('Enter');
  await problem.getByText('The host key could not be read').waitFor();
  await problem.getByText(/ECONNREFUSED 127\.0\.0\.1:9/).waitFor();
  await problem.getByRole('button', { name: 'Try again from here' }).waitFor();
  await expect.poll(() => page.getByRole('region', { name: 'Messages' }).locator('[data-tone]').count()).toBe(0);
  await keepPicture(page, 'install-unreachable');
  await page.getByRole('button', { name: 'Address and credentials' }).click();
  await expect.poll(() => page.getByLabel('Address', { exact: true }).inputValue()).toBe('127.0.0.1');
  await page.getByLabel('SSH port').fill(String(machines.port));
  await page.getByRole('button', { name: 'Next' }).click();
  await log.getByText(/SHA256:/).waitFor();
  await keepPicture(page, 'install-host-key');
  await page.getByRole('button', { name: 'The key matches' }).click();
  await page.getByRole('combobox', { name: 'Zone' }).click();
  await page.getByRole('option').first().click();
  await keepPicture(page, 'install-form');
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByRole('heading', { name: 'Install tpe-05' }).waitFor();
  await page.getByText('0 of').waitFor();
  await expect.poll(() => new URL(page.url()).pathname).toMatch(/nodesList\/[\w-]{36}\/install$/);
  const id = (await installation.db.edgeNode.findFirstOrThrow({ where: { name: 'tpe-05' } })).id;
  const stored = await call(nodes.get, { params: { nodeID: id } });
  expect(stored.ssh).toMatchObject({ port: machines.port, user: 'root', hasPassword: true });
  expect(stored.ssh?.fingerprint).toMatch(/^SHA256:/);

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
  await log.getByText('clock: right').waitFor();
  await say('check', { output: 'clock: right\n<b>port 80</b> is free\n' });
  await log.getByText('<b>port 80</b> is free').waitFor();
  await keepPicture(page, 'install-steps');
  await say('check', { state: 'failed', fault: 'portTaken', message: '443 is held by "caddy"', endedAt: new Date() });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'failed', endedAt: new Date() } });
  await problem.getByText(/A port is already in use/).waitFor();
  await problem.getByText('443 is held by "caddy"').waitFor();
  await keepPicture(page, 'install-failed');

  // Leaving the page and returning shows the same installation.
  await page.getByRole('navigation').getByRole('link', { name: 'Nodes' }).first().click();
  await page.locator('tbody tr[data-new]:focus').getByText('tpe-05').waitFor();
  await page.getByRole('link', { name: 'Uninitialized' }).click();
  await page.getByRole('link', { name: 'tpe-05' }).click();
  await page.getByRole('link', { name: 'Install tpe-05' }).click();
  await log.getByText('<b>port 80</b> is free').waitFor();
  await problem.getByRole('button', { name: 'Try again from here' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  expect((await db.nodeJob.findUniqueOrThrow({ where: { id: jobId } })).state).toBe('waiting');

  // A rejected credential is corrected in the same place.
  const before = await db.edgeNode.findUniqueOrThrow({ where: { id } });
  await say('connect', { state: 'failed', fault: 'credentials', message: 'root was not let in' });
  await say('check', { state: 'waiting', fault: null, message: null });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'failed', endedAt: new Date() } });
  await problem.getByText(/The machine rejects the credentials/).waitFor();
  await problem.getByRole('button', { name: 'Change address or credentials' }).click();
  await page.getByLabel('Password', { exact: true }).last().fill('another');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  const after = await db.edgeNode.findUniqueOrThrow({ where: { id } });
  expect(after.sshPasswordSealed).not.toEqual(before.sshPasswordSealed);

  // The machine's host key differs from the confirmed one.
  const other = `SHA256:${'A'.repeat(43)}`;
  await call(nodes.update, { body: { id, ssh: { fingerprint: other } } });
  await say('connect', { state: 'failed', fault: 'hostKey', message: `expected is ${other}` });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'failed', endedAt: new Date() } });
  await page.reload();
  await problem.getByRole('button', { name: 'Compare the host key' }).click();
  await problem.getByText(`Expected: ${other}`).waitFor();
  await keepPicture(page, 'install-other-key');
  await page.getByRole('button', { name: 'Accept this key' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await eventually(async () =>
    expect((await db.nodeJob.findUniqueOrThrow({ where: { id: jobId } })).state).toBe('cancelled'),
  );
  await problem.getByText('The installation was stopped').waitFor();
  expect((await call(nodes.get, { params: { nodeID: id } })).ssh?.fingerprint).toBe(stored.ssh?.fingerprint);

  // An installed node is put on a line from the same page.
  await call(groups.create, { params: { zoneId: zone.id }, body: { name: 'Taiwan core' } });
  await db.nodeJob.update({ where: { id: jobId }, data: { state: 'completed', endedAt: new Date() } });
  await page.reload();
  await page.getByRole('button', { name: 'Add to a line' }).click();
  await expect.poll(() => dialog.getByRole('combobox', { name: 'Group' }).inputValue()).toBe('Taiwan core');
  await dialog.getByRole('combobox', { name: 'Line' }).click();
  await page.getByRole('option', { name: 'Chunghwa Telecom' }).click();
  await keepPicture(page, 'install-on-line');
  await dialog.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('serves Taiwan core · Chunghwa Telecom · weight 50').waitFor();
  await page.getByRole('link', { name: 'Groups & lines' }).last().click();
  await page.getByRole('button', { name: /tpe-05/ }).waitFor();
});

// Regression: a reload lost the input.
test('a reload keeps the input of an installation, but no password', async () => {
  const zone = await consoles.app.build.zone();
  const { page } = await consoles.openAs(zone.client, 'nodeManage/nodesList/new/install', { language: 'en' });
  page.on('dialog', (dialog) => void dialog.accept());
  const address = page.getByLabel('Address', { exact: true });
  const password = page.getByLabel('Password', { exact: true }).last();
  await address.fill('127.0.0.9');
  await page.getByLabel('Name', { exact: true }).fill('tpe-09');
  await password.fill('do-not-store-me');
  await page.reload();
  await page.getByText('Draft restored').waitFor();
  await expect.poll(() => address.inputValue()).toBe('127.0.0.9');
  await expect.poll(() => password.inputValue()).toBe('');
  await password.fill('do-not-store-me');
  const stored = await page.evaluate(() => {
    window.dispatchEvent(new Event('pagehide'));
    return JSON.stringify({ ...sessionStorage, ...localStorage });
  });
  expect(stored).toContain('tpe-09');
  expect(stored).not.toContain('do-not-store-me');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.reload();
  await expect.poll(() => address.inputValue()).toBe('');
  await page.context().close();
});

test('a node is added by a pasted command or over SSH, and several at once with stored credentials', async () => {
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
  await dialog.getByRole('link', { name: 'Install over SSH' }).click();
  await page.getByLabel('SSH port').waitFor();
  await expect.poll(() => page.getByLabel('Address', { exact: true }).inputValue()).toBe('127.0.0.2');
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

  const phone = await consoles.openAs(zone.client, `nodeManage/nodesList/${bare.id}/install`, {
    language: 'zh-TW',
    theme: 'dark',
    width: 390,
    expectedErrors: /status of 502/,
  });
  await phone.page.getByLabel('SSH 連接埠').fill('9');
  await phone.page.getByLabel('密碼', { exact: true }).last().fill('secret');
  await phone.page.keyboard.press('Enter');
  // The error scrolls into view, although the output is below the steps.
  await phone.page.locator('[role="alert"]:focus').getByText('無法讀取主機指紋').waitFor();
  await expect.poll(() => horizontalOverflow(phone.page)).toBe(0);
  await keepPicture(phone.page, 'install-phone');
});

test('an accepted host key is stored, although the first retry fails, and later retries send it', async () => {
  const { build, as, installation } = consoles.app;
  const { db } = installation;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const expected = `SHA256:${'A'.repeat(43)}`;
  const ssh = { port: machines.port, user: 'root', password: 'secret', fingerprint: expected };
  const { id } = await call(nodes.create, { body: { ip: '127.0.0.1', name: 'tpe-08', zoneID: zone.id, ssh } });
  await call(nodeJobs.initialize, { body: { ids: [id] } });
  const jobId = (await db.nodeJob.findFirstOrThrow({ where: { nodeId: id } })).id;
  const failWith = async (fault: 'hostKey' | 'credentials') => {
    await db.nodeJobStep.updateMany({ where: { jobId, name: 'connect' }, data: { state: 'failed', fault } });
    await db.nodeJob.update({ where: { id: jobId }, data: { state: 'failed', endedAt: new Date() } });
  };
  const storedKey = async () => (await call(nodes.get, { params: { nodeID: id } })).ssh?.fingerprint;
  await failWith('hostKey');
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/${id}/install`, {
    language: 'en',
    expectedErrors: /ERR_CONNECTION_REFUSED/,
  });
  const problem = page.getByRole('alert');
  await problem.getByRole('button', { name: 'Compare the host key' }).click();
  await problem.getByText(`Expected: ${expected}`).waitFor();

  await page.route('**/client/node', (route) => route.abort('connectionrefused'), { times: 1 });
  await page.getByRole('button', { name: 'Accept this key' }).click();
  await problem.getByText('The installation was not started').waitFor();
  expect(await storedKey()).toBe(expected);
  await problem.getByRole('button', { name: 'Try again from here' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  const accepted = await storedKey();
  expect(accepted).toMatch(/^SHA256:/);
  expect(accepted).not.toBe(expected);

  await failWith('credentials');
  await problem.getByRole('button', { name: 'Change address or credentials' }).click();
  await page.getByLabel('Password', { exact: true }).last().fill('another');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  expect(await storedKey()).toBe(accepted);
});

test('a host key that arrives after the address was changed is not shown for the new address', async () => {
  const { build, as } = consoles.app;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/new/install?zone=${zone.id}`, {
    language: 'en',
  });
  const held: Route[] = [];
  await page.route('**/node/hostKey', (route) => void held.push(route), { times: 1 });
  await page.getByLabel('Address', { exact: true }).fill('127.0.0.1');
  await page.getByLabel('Name', { exact: true }).fill('tpe-09');
  await page.getByLabel('SSH port').fill(String(machines.port));
  await page.getByLabel('Password', { exact: true }).last().fill('secret');
  await page.keyboard.press('Enter');
  await page.getByText('Reading the host key…').waitFor();
  await page.getByRole('button', { name: 'Address and credentials' }).click();
  await page.getByLabel('Address', { exact: true }).fill('127.0.0.2');
  await page.keyboard.press('Enter');
  const shown = page.getByRole('log').getByText(/SHA256:/);
  await shown.waitFor();
  const [late] = held;
  if (!late) throw new Error('the first reading was not held');
  const key = /SHA256:\S{43}/.exec((await shown.textContent()) ?? '')?.[0];
  const response = page.waitForResponse('**/node/hostKey');
  const fetched = await late.fetch();
  const body = (await fetched.text()).replace(/SHA256:[^"]{43}/, `SHA256:${'B'.repeat(43)}`);
  await late.fulfill({ response: fetched, body });
  await (await response).finished();
  await page.getByRole('button', { name: 'The key matches' }).click();
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  await page.getByRole('heading', { name: 'Install tpe-09' }).waitFor();
  const [node] = (await call(nodes.list, { query: { zoneID: zone.id } })).data;
  expect(node).toMatchObject({ ip: '127.0.0.2', ssh: { fingerprint: key } });
});

test('errors in fields that are not shown do not stop the next step', async () => {
  const { build, as } = consoles.app;
  const zone = await build.zone();
  const { call } = as(zone.client);
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/new/install?zone=${zone.id}`, {
    language: 'en',
  });
  await page.getByLabel('Address', { exact: true }).fill('127.0.0.3');
  await page.getByLabel('Name', { exact: true }).fill('tpe-10');
  await page.getByLabel('User', { exact: true }).fill('not a user');
  await page.getByText('Command', { exact: true }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Relay', { exact: true }).click();
  await page.getByLabel('Relay port').fill('0');
  await page.getByText('Edge', { exact: true }).click();
  await page.getByRole('button', { name: 'Create command' }).click();
  await page.getByText(/^\(echo EDGELOOM_TOKEN=/).waitFor();
  const [node] = (await call(nodes.list, { query: { zoneID: zone.id } })).data;
  expect(node).toMatchObject({ ip: '127.0.0.3', kind: 'edge', relayPort: 8443, ssh: null });
});

test('a refused address is named with its field and the reason, at the field', async () => {
  const zone = await consoles.app.build.zone();
  const { page } = await consoles.openAs(zone.client, `nodeManage/nodesList/new/install?zone=${zone.id}`, {
    language: 'zh-TW',
    expectedErrors: /status of 400/,
  });
  const address = page.getByLabel('位址', { exact: true });
  await address.fill('169.254.169.254');
  await page.getByLabel('名稱', { exact: true }).fill('tpe-11');
  await page.getByRole('textbox', { name: '密碼' }).fill('secret');
  await page.getByRole('button', { name: '下一步' }).click();
  await page.getByRole('alert').getByText('位址：不允許這個位址').waitFor();
  await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true');
});
