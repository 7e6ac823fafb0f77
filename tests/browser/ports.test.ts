// A customer edits the ports of a site.
import { ports, sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { portKey } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

async function siteWithPorts(portLimit = 10) {
  const { build, as, installation } = consoles.app;
  const zone = await build.zone({ ports: [80, 8080], tlsPorts: [443, 8443] });
  const site = await build.site({ product: await build.product({ zone, portLimit }) });
  const { call } = as(site.owner);
  const rows = async () => (await call(ports.list, { params: site.params, query: { portType: '4' } })).data;
  return { site, call, rows, installation, address: `sitesManagement/sitesSetting/${site.id}/${site.name}?view=ports` };
}

test('a forward is created, sent to the nodes, edited, disabled and removed', async () => {
  const { site, rows, installation, address } = await siteWithPorts();
  const { page } = await consoles.openAs(site.owner, address, { language: 'en', expectedErrors: /400/ });
  await page.getByText('No forwards yet').waitFor();
  await keepPicture(page, 'ports-empty');
  await page.getByRole('button', { name: 'Add forward' }).first().click();
  const form = page.getByRole('dialog');
  // Blurring the invalid field must not move the pressed button away.
  await form.getByLabel('Port', { exact: true }).focus();
  await form.getByRole('button', { name: 'Add origin' }).click();
  await form.getByText('Required').waitFor();
  await form.getByRole('button', { name: 'Remove origin' }).last().click();
  await form.getByLabel('Port', { exact: true }).fill('8080');
  const add = form.getByRole('button', { name: 'Add forward' });
  await add.click();
  await form.getByText('Required').first().waitFor();
  await form.getByLabel('Address 1').fill('192.0.2.1');
  await form.getByLabel('Port 1').fill('22');
  // A new origin starts with the first origin's port.
  await form.getByRole('button', { name: 'Add origin' }).click();
  await form.getByLabel('Address 2').fill('2001:db8::1');
  await form.getByLabel('Weight 2').fill('70');
  await form.getByRole('button', { name: 'Role 2' }).click();
  await page.getByRole('menuitem', { name: 'Backup' }).click();
  await form.getByLabel('Memo').fill('jump host');
  await keepPicture(page, 'ports-form');
  await add.click();
  // The message names the zone's port.
  await page.getByText("This port is one of the zone's web ports").first().waitFor();
  await form.getByLabel('Port', { exact: true }).fill('8022');
  await add.click();
  await page.getByText('1 of 10 forwards').waitFor();
  const [made] = await rows();
  expect(made).toMatchObject({
    port: 8022,
    memo: 'jump host',
    upstreams: [{ port: 22 }, { weight: 70, backup: true }],
  });
  expect(await outboxKeys(installation, site.zoneId)).toEqual([portKey(made?.id ?? '')]);

  const row = page.getByRole('row').filter({ hasText: '8022' });
  await row.click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await expect.poll(() => form.getByLabel('Address 2').inputValue()).toBe('2001:db8::1');
  await form.getByRole('button', { name: 'Remove origin 2001:db8::1' }).click();
  await form.getByRole('button', { name: 'Add origin' }).click();
  await form.getByLabel('Address 2').fill('192.0.2.3');
  await form.getByRole('button', { name: 'Save' }).click();
  await eventually(async () =>
    expect((await rows())[0]?.upstreams.map(({ address: at }) => at)).toEqual(['192.0.2.1', '192.0.2.3']),
  );
  await form.waitFor({ state: 'detached' });

  await row.getByRole('switch').click({ force: true });
  await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
  await eventually(async () => expect((await rows())[0]?.enabled).toBe(false));
  await row.click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await eventually(async () => expect(await rows()).toEqual([]));
});

test('several forwards are created at once, validated line by line, with server errors at their lines', async () => {
  const { site, rows, address } = await siteWithPorts();
  await consoles.app.build.forward({ site: await consoles.app.build.site({ product: site.product }), port: 8023 });
  const { page } = await consoles.openAs(site.owner, address, { language: 'en', expectedErrors: /409/ });
  await page.getByRole('button', { name: 'Add several' }).click();
  const form = page.getByRole('dialog');
  const box = form.getByRole('textbox', { name: 'Forwards' });
  await box.fill('8022 192.0.2.1:22\n5353/udp 192.0.2.1\n999 192.0.2.1:22');
  await form.getByText('Not a valid origin. Use address:port.').waitFor();
  await form.getByText('The port must be 1000–65000 and not reserved').waitFor();
  await keepPicture(page, 'ports-many');
  await box.fill('8022 192.0.2.1:22 # games, eu\n8023 192.0.2.1:23');
  await form.getByRole('button', { name: 'Add several' }).click();
  // The port is in use by another customer, who is not named.
  await page.getByText('8023 192.0.2.1:23').last().waitFor();
  expect(await rows()).toEqual([]);
  await keepPicture(page, 'ports-refused');
});

test('a site opens a port of its zone, and sees its limit of forwards', async () => {
  const { site, call, address } = await siteWithPorts(1);
  await consoles.app.build.forward({ site, port: 20_022, memo: 'a memo that says what it is for' });
  const { page } = await consoles.openAs(site.owner, address, { language: 'zh-TW' });
  await page.getByText('1 / 1 條轉發').waitFor();
  await expect.poll(() => page.getByRole('button', { name: '新增轉發' }).count()).toBe(0);
  await page.getByRole('switch', { name: '8443 HTTPS' }).click({ force: true });
  await eventually(async () => {
    const { data } = await call(sitePorts.list, { params: site.params });
    expect(data.filter(({ open }) => open).map(({ port }) => port)).toEqual([80, 443, 8443]);
  });
  await keepPicture(page, 'ports-zh');
});

test('a field shows its error when it is left after a press that became a scroll', async () => {
  const { site, address } = await siteWithPorts();
  const { page } = await consoles.openAs(site.owner, address, { language: 'en' });
  await page.getByRole('button', { name: 'Add forward' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Port', { exact: true }).focus();
  // A touch that scrolls sends these events.
  for (const type of ['pointerdown', 'pointercancel']) await form.getByText('Memo').dispatchEvent(type);
  await page.keyboard.press('Tab');
  await form.getByText('Required').waitFor();
  await expect.poll(() => form.getByLabel('Port', { exact: true }).getAttribute('aria-invalid')).toBe('true');
});
