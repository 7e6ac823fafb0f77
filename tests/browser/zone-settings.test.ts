// An operator edits nginx settings of a zone, from the first error to the history.
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { nginxDefaults, zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { apiClients, type SignedInAccount } from '../support/builders/api-clients.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { setSessionCookies, type Screen, type WindowOptions } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

/** Opens a page whose clock the test can set forward, so that it polls. */
async function openWithClock(who: SignedInAccount, place: string, look?: WindowOptions): Promise<Screen> {
  const screen = await consoles.open(who.kind, look);
  await setSessionCookies(screen, consoles.base[who.kind], who);
  await screen.page.clock.install();
  await screen.page.goto(`/${who.kind}/${place}`);
  return screen;
}

test(
  'a snippet is validated while typing, reviewed before publishing, and restored',
  { timeout: 300_000 },
  async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=nginx`);
    const editor = page.getByRole('textbox', { name: 'http' });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(text);
    };
    await write('keepalive_timeout 20s;\nload_module x.so;\n');
    await page.locator('.cm-lintRange-error').waitFor();
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByText('http, line 2: load_module is not allowed').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Publish/ }).isDisabled()).toBe(true);
    await keepPicture(page, 'zone-nginx-refused');

    await page.getByRole('button', { name: 'Keep editing' }).click();
    await write('keepalive_timeout 20s;\nadd_header X-Team north;\n');
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByText('Edge nodes · nginx').waitFor();
    await page.getByLabel('Reason').fill('phones lose their connections');
    await keepPicture(page, 'zone-nginx-review');
    await page.getByRole('button', { name: /^Publish/ }).click();
    await page.getByText('Published', { exact: true }).waitFor();

    await page.getByRole('link', { name: 'Versions' }).click();
    await keepPicture(page, 'zone-versions');
    await page.getByText('phones lose their connections').waitFor();
    await page
      .getByRole('row', { name: /Initial settings/ })
      .getByRole('button')
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Restore this version' }).click();
    // The review shows the effect, and a reason is required.
    const review = page.getByRole('region', { name: 'Review changes' });
    await review.getByText('keepalive_timeout 20s;').waitFor();
    await review.getByRole('button', { name: 'Restore this version' }).click();
    await review.getByText('Required').waitFor();
    await page.getByLabel('Reason').fill('it was the network');
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByText('it was the network').waitFor();

    await page.getByRole('link', { name: 'Kill switches' }).click();
    await page.getByRole('button', { name: 'Turn off HTTP/3' }).click();
    await page.getByLabel('Reason').fill('a firewall');
    await page.getByRole('button', { name: 'Turn off', exact: true }).click();
    await page.getByText('a firewall').waitFor();
    await keepPicture(page, 'zone-switches');

    await page.getByRole('link', { name: /^Ports/ }).click();
    await page.getByRole('row', { name: /HTTPS/ }).getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    const form = page.getByRole('dialog');
    const preview = form.getByRole('region', { name: 'Review changes' });
    await preview.getByText('80, 443 HTTPS').waitFor();
    await form.getByRole('button', { name: 'Remove', exact: true }).click();
    await form.locator('[aria-invalid="true"][name="reason"]').waitFor();
    await form.getByLabel('Reason').fill('nobody speaks it');
    await form.getByRole('button', { name: 'Remove', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add port' }).click();
    await form.getByLabel('Port').fill('8443');
    await form.getByText('HTTPS', { exact: true }).click();
    await preview.getByText('8443 HTTPS').waitFor();
    await keepPicture(page, 'zone-port-foretold');
    await form.getByLabel('Reason').fill('for the other office');
    await form.getByRole('button', { name: 'Add port' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Versions' }).click();
    await page.getByText('nobody speaks it').waitFor();
    await page.getByText('for the other office').waitFor();
  },
);

// Regression: the preview left PROXY protocol at the former number.
test(
  'the preview of a renumbered port moves its PROXY protocol, as the change does',
  { timeout: 300_000 },
  async () => {
    const { build, installation } = consoles.app;
    const zone = await build.zone();
    const settings = { visitorAddress: { proxy: 'cloudflare', proxyProtocolPorts: [443] } };
    await installation.db.zone.update({ where: { id: zone.id }, data: { settings } });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=ports`);
    await page.getByRole('row', { name: /HTTPS/ }).getByRole('button').first().click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Port').fill('8443');
    const preview = form.getByRole('region', { name: 'Review changes' });
    await preview.getByText('PROXY protocol ports').waitFor();
    await expect.poll(() => preview.getByText('8443', { exact: true }).count()).toBe(1);
    await page.context().close();
  },
);

// Regression: page shortcuts took a c f j k r / and ? from the editor, because its shadow root hid the input.
test('every key typed into a code editor is entered there', { timeout: 300_000 }, async () => {
  const typed = 'abcdefghijklmnopqrstuvwxyz / ? CFJKR g d';
  const zone = await consoles.app.build.zone();
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=nginx`);
  const pages = [`nodeManage/zonesList/${zone.id}?tab=nginx`, 'systemManagement/nginxSetting'];
  for (const address of casesOfRun(pages, pages.length)) {
    await page.goto(`/client/${address}`);
    for (const part of casesOfRun(['http', 'worker'], 2)) {
      await page.getByRole('radio', { name: part }).locator('xpath=..').click();
      const editor = page.getByRole('textbox', { name: part });
      await editor.click();
      for (const key of typed) await page.keyboard.press(key === ' ' ? 'Space' : key);
      await expect.poll(() => editor.textContent()).toBe(typed);
    }
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Discard' }).click();
  }
  await page.context().close();
});

// Regression: the editor kept discarded text, and the next key restored all of it.
test(
  'discarding removes a draft, and an empty number field restores the current value',
  { timeout: 300_000 },
  async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=nginx`);
    const editor = page.getByRole('textbox', { name: 'http' });
    await editor.click();
    await page.keyboard.insertText('keepalive_timeout 20s;');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => editor.textContent()).toBe('');
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');

    await page.getByRole('link', { name: 'Resources' }).click();
    const workers = page.getByLabel('Processes');
    await workers.fill('4');
    await workers.fill('');
    await workers.blur();
    await expect.poll(() => workers.inputValue()).toBe('4');
    await page.keyboard.press('ControlOrMeta+s');
    const review = page.getByRole('region', { name: 'Review changes' });
    await review.getByText('one per core').waitFor();
    await review.getByRole('button', { name: 'Keep editing' }).press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Review');
    await page.keyboard.press('Enter');
    await review.getByLabel('Reason').fill('it has four cores');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByText('Published', { exact: true }).waitFor();
    await page.context().close();
  },
);

// Regression: limits were shown and typed as plain numbers of bytes.
test('sizes are shown and typed with a unit, and stored in bytes', { timeout: 300_000 }, async () => {
  const { build, as, installation } = consoles.app;
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const { page } = await consoles.openAs(site.client, `nodeManage/zonesList/${site.zone.id}?tab=resources`);
  const upload = page.getByLabel('Maximum upload');
  await upload.fill('1.5');
  await expect.poll(() => upload.inputValue()).toBe('1.5 MiB');
  await page.getByLabel('Cache size').fill('20');
  await expect.poll(() => page.getByLabel('Cache size').inputValue()).toBe('20 GiB');
  await expect.poll(() => page.getByLabel('Index memory').inputValue()).toMatch(/^[\d.,]+ MiB$/);
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.goto(`/client/nodeManage/nodesList/${node.id}?tab=cache`);
  await page.getByLabel('Cache size').fill('2.5');
  await expect.poll(() => page.getByLabel('Cache size').inputValue()).toBe('2.5 GB');
  await page.getByRole('button', { name: 'Save' }).click();
  const stored = () => installation.db.edgeNode.findUniqueOrThrow({ where: { id: node.id } });
  await expect.poll(async () => Number((await stored()).cacheMaxBytes)).toBe(2_500_000_000);
  await page.context().close();

  const { minBytes, webpMinBytes, webpMaxBytes } = await as(site.owner).call(compression.get, { params: site.params });
  const place = `sitesManagement/sitesSetting/${site.id}/x?view=gzip`;
  const { page: owned } = await consoles.openAs(site.owner, place, { language: 'en' });
  for (const [label, bytes] of [
    ['Minimum size', minBytes],
    ['Smallest image', webpMinBytes],
    ['Largest image', webpMaxBytes],
  ] as const)
    await expect
      .poll(() => owned.getByLabel(label).inputValue())
      .toBe(`${(bytes / 1024).toLocaleString('en', { maximumFractionDigits: 2 })} KiB`);
  await owned.context().close();
});

// Regression: switching to another section lost unsaved changes without a prompt.
test(
  'the defaults of new zones survive a change of section, are reviewed before saving, and show nginx errors at their line',
  { timeout: 300_000 },
  async () => {
    const { client } = await consoles.app.build.client();
    const look = { language: 'en' as const, expectedErrors: /status of 400/ };
    const { page } = await consoles.openAs(client, 'systemManagement/nginxSetting', look);
    const write = async (part: string, text: string) => {
      await page.getByRole('radio', { name: part }).locator('xpath=..').click();
      await page.getByRole('textbox', { name: part }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.press('Delete');
      await page.keyboard.insertText(text);
    };
    await write('http', 'keepalive_timeout 20s;\n');
    await write('worker', 'worker_shutdown_timeout 10s;\nuser root;\n');
    await page.getByText('2 unsaved changes').waitFor();
    const save = page.getByRole('button', { name: 'Save' });
    const review = () => page.getByRole('button', { name: 'Review' }).click();
    await review();
    await page.getByText('worker, line 2: user is not allowed').waitFor();
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await write('worker', 'worker_shutdown_timeout soon;\n');
    await review();
    await keepPicture(page, 'nginx-defaults-review');
    await save.click();
    await page.getByText(/^worker, line 1: nginx reports: /).waitFor();
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await write('worker', 'worker_shutdown_timeout 10s;\n');
    await review();
    await save.click();
    await page.getByText('Changes saved').waitFor();
    const { call } = consoles.app.as(client);
    const readDefault = async (part: 'http' | 'worker') =>
      (await call(nginxDefaults.get, { params: { part } })).content;
    expect(await readDefault('http')).toBe('keepalive_timeout 20s;\n');
    expect(await readDefault('worker')).toBe('worker_shutdown_timeout 10s;\n');
  },
);

// Regression: nginx validated input that the form already knew to be invalid.
test('an invalid list is not reviewed; its field gets focus', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=firewall`);
  const list = page.getByRole('textbox', { name: 'Block list' });
  await list.fill('203.0.113.0/24\nnot-an-address');
  await page.getByRole('button', { name: 'Review' }).click();
  await expect.poll(() => list.evaluate((box) => box === document.activeElement)).toBe(true);
  // The draft goes with its reader to another tab, and the summary there leads back to the field.
  await page.getByRole('link', { name: 'Protocols' }).click();
  await page.getByRole('switch', { name: 'HTTP/2' }).waitFor();
  await page.getByRole('button', { name: 'Review' }).press('Enter');
  const summary = page.getByRole('alert').filter({ hasText: 'Please check the form input: 1 error' });
  await keepPicture(page, 'zone-errors-elsewhere');
  await summary.getByRole('button', { name: 'Firewall: Block list' }).press('Enter');
  await page.waitForURL(/tab=firewall/);
  await expect.poll(() => list.evaluate((box) => box === document.activeElement)).toBe(true);
  await expect.poll(() => list.inputValue()).toBe('203.0.113.0/24\nnot-an-address');
  await list.fill(Array.from({ length: 128 }, (_, i) => `${i + 64}.0.0.0/8`).join('\n'));
  await page.getByText('Together these cover half of all addresses').waitFor();
  await list.fill('203.0.113.7\n203.0.113.7');
  await page.getByText('Duplicate IP').first().waitFor();
  await page.getByRole('button', { name: 'Review' }).press('Enter');
  await page.getByRole('alert').getByRole('button', { name: 'Firewall: Block list' }).waitFor();
  await list.fill('203.0.113.0/24\n198.51.100.7');
  await page.getByRole('button', { name: 'Review' }).click();
  // The review lists the addresses, which are in no nginx file.
  await page.locator('[data-code]').getByText('198.51.100.7').first().waitFor();
  await page.getByLabel('Reason').fill('a scan');
  await page.getByRole('button', { name: /^Publish/ }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await page.context().close();
});

longTest(
  'the review of a list counts the lines that stay, and marks only a new last line',
  { timeout: 300_000 },
  async () => {
    const zone = await consoles.app.build.zone();
    const networks = Array.from({ length: 20 }, (_, i) => `198.51.${i}.0/24`);
    const body = { level: 0 as const, whitelist: [], blacklist: networks, synProtection: false, reason: 'a scan' };
    await consoles.app.as(zone.client).call(zoneSettings.setFirewall, { params: { zoneId: zone.id }, body });
    const place = `nodeManage/zonesList/${zone.id}?tab=firewall`;
    const { page } = await consoles.openAs(zone.client, place, { language: 'zh-CN' });
    await page.getByRole('textbox', { name: '黑名单' }).fill([...networks, '192.0.2.0/24'].join('\n'));
    await page.getByRole('button', { name: '预览更改' }).click();
    await page.getByText('17 行未变动').first().waitFor();
    await expect.poll(() => page.locator('[data-code] .cm-changedLine').allTextContents()).toEqual(['192.0.2.0/24']);
    await keepPicture(page, 'zone-firewall-review-zh');
    await page.context().close();
  },
);

// Regression: the later of two saves overwrote the earlier one.
test('a concurrent change is shown with its author before publishing', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const { page } = await openWithClock(zone.client, `nodeManage/zonesList/${zone.id}?tab=https`);
  const http2 = page.getByRole('switch', { name: 'HTTP/2' });
  await http2.click({ force: true });
  const body = { soakSeconds: 90, reason: 'care' };
  await consoles.app.as(zone.client).call(zoneSettings.soak, { params: { zoneId: zone.id }, body });
  await page.clock.fastForward('00:05');
  const warning = page.getByText(`${zone.client.email} published version 2 while you were editing`);
  await warning.waitFor();
  await expect.poll(() => http2.isChecked()).toBe(false);
  await page.getByRole('button', { name: 'Review' }).click();
  await warning.waitFor();
  await keepPicture(page, 'zone-meanwhile');
  await page.getByLabel('Reason').fill('an old balancer');
  await page.getByRole('button', { name: /^Publish/ }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await expect.poll(() => warning.count()).toBe(0);
  await page.context().close();
});

// Regression: the draft did not store the version that it was based on.
test('a draft that survived the end of a session shows who changed the zone since', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const place = `nodeManage/zonesList/${zone.id}?tab=https`;
  const screen = await openWithClock(zone.client, place, { expectedErrors: /status of 401/ });
  const { page } = screen;
  await page.getByRole('switch', { name: 'HTTP/2' }).click({ force: true });
  await page.getByRole('button', { name: 'Review' }).waitFor();
  const { db } = consoles.app.installation;
  await db.session.updateMany({ where: { accountId: zone.client.id }, data: { revokedAt: new Date() } });
  await page.clock.fastForward('00:05');
  await page.waitForURL('**/client/login?next=*');
  const { signIn } = apiClients(consoles.app.installation, consoles.app);
  const again = await signIn(await db.account.findUniqueOrThrow({ where: { id: zone.client.id } }));
  const body = { soakSeconds: 90, reason: 'care' };
  await consoles.app.as(again).call(zoneSettings.soak, { params: { zoneId: zone.id }, body });
  await setSessionCookies(screen, consoles.base.client, again);
  await page.goto(`/client/${place}`);
  await page.getByText(`${zone.client.email} published version 2 while you were editing`).waitFor();
  await expect.poll(() => page.getByRole('switch', { name: 'HTTP/2' }).isChecked()).toBe(false);
  await page.context().close();
});

// Regression: versions could only be compared with the current one.
test('any two versions of a zone are compared, and the comparison has a URL', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const { call } = consoles.app.as(zone.client);
  const params = { zoneId: zone.id };
  const blacklist = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'];
  for (const count of [1, 2, 3]) {
    const list = { level: 0 as const, whitelist: [], blacklist: blacklist.slice(0, count), synProtection: false };
    await call(zoneSettings.setFirewall, { params, body: { ...list, reason: 'a scan' } });
  }
  await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=versions`);
  const row = (version: number) => page.locator('main [data-row]').nth(5 - version);
  for (const version of [4, 2]) await row(version).getByRole('checkbox').click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Compare', exact: true }).click();
  const shown = page.getByRole('region', { name: 'Difference between two versions' });
  await shown.getByText('+2 lines').waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.hasAttribute('data-comparison'))).toBe(true);
  const added = shown.locator('[data-code="Block list, Version 4"] .cm-merge-b .cm-changedLine');
  await expect.poll(() => added.allTextContents()).toEqual(['198.51.100.0/24', '203.0.113.0/24']);
  await keepPicture(page, 'zone-versions-compared');
  await shown.getByRole('button', { name: 'Swap' }).click();
  await shown.getByText('−2 lines').waitFor();
  await page.reload();
  await shown.getByText('−2 lines').waitFor();
  await expect.poll(() => new URL(page.url()).search).toBe('?tab=versions&from=4&to=2');
  await shown.getByRole('combobox', { name: 'From' }).click();
  await page.getByRole('option', { name: /^5 · / }).click();
  await shown.getByText('HTTP/2').waitFor();
  await shown.getByRole('button', { name: 'All versions' }).click();
  await row(1).getByRole('button').last().click();
  await page.getByRole('menuitem', { name: 'Compare with current' }).click();
  await shown.getByText('+3 lines').waitFor();
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
  await page.setViewportSize({ width: 360, height: 740 });
  await keepPicture(page, 'zone-versions-compared-360');
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
  expect(await accessibilityViolations(page)).toEqual([]);

  // The oldest version has no predecessor. Regression: its link led nowhere.
  await consoles.app.installation.db.zoneVersion.deleteMany({ where: { zoneId: zone.id, version: 1 } });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`/client/nodeManage/zonesList/${zone.id}?tab=versions`);
  const offered = async (i: number) => {
    await page.locator('main [data-row]').nth(i).getByRole('button').last().click();
    await page.getByRole('menuitem', { name: 'Compare with current' }).waitFor();
    const names = await page.getByRole('menuitem').allTextContents();
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    return names;
  };
  await page.getByText('Initial settings').waitFor();
  expect(await offered(3)).not.toContain('View changes');
  expect(await offered(2)).toContain('View changes');
  await page.context().close();
});

// Regression: another zone's page showed this zone's draft.
test('a draft stays with its zone', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone({ name: 'North' });
  const other = await consoles.app.build.zone({ tenant: zone, name: 'South' });
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=https`);
  const http2 = page.getByRole('switch', { name: 'HTTP/2' });
  await page.evaluate((to) => {
    const state = { ...history.state, idx: history.state.idx + 1 };
    history.pushState(state, '', to);
    dispatchEvent(new PopStateEvent('popstate', { state }));
  }, `/client/nodeManage/zonesList/${other.id}?tab=https`);
  await page.getByRole('heading', { name: 'South', level: 1 }).waitFor();
  await page.evaluate(() => history.back());
  await page.getByRole('heading', { name: 'North', level: 1 }).waitFor();
  await http2.click({ force: true });
  await page.getByRole('button', { name: 'Review' }).waitFor();
  await page.evaluate(() => history.forward());
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { name: 'South', level: 1 }).waitFor();
  await expect.poll(() => http2.isChecked()).toBe(true);
  await expect.poll(() => page.getByRole('button', { name: 'Review' }).count()).toBe(0);
  await page.context().close();
});

test('anti-CC is set by a preset, previewed as a visitor sees it, and published', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const place = `nodeManage/zonesList/${zone.id}?tab=anticc`;
  const { page } = await consoles.openAs(zone.client, place);
  await page.getByRole('button', { name: 'Strict' }).click();
  await page.getByRole('radio', { name: 'Picture code' }).click();
  await page.getByText('Type the 5 characters in the image').waitFor();
  await expect.poll(() => page.getByLabel('Requests per address').inputValue()).toBe('120 requests');
  await page.getByRole('textbox', { name: 'Paths' }).fill('api');
  await page.getByText('Start with / and leave out ? and #').waitFor();
  await page.getByRole('textbox', { name: 'Paths' }).fill('/api/');
  await keepPicture(page, 'zone-anti-cc');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('300 requests').waitFor();
  await keepPicture(page, 'zone-anti-cc-review');
  await page.getByLabel('Reason').fill('a flood');
  await page.getByRole('button', { name: /^Publish/ }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Strict' }).getAttribute('aria-pressed')).toBe('false');
  const looks = [
    { language: 'zh-TW', width: 1440, theme: 'light', text: '請輸入圖中的 5 個字元' },
    { language: 'en', width: 390, theme: 'dark', text: 'Type the 5 characters in the image' },
  ] as const;
  for (const { text, ...look } of casesOfRun(looks, looks.length)) {
    const { page: other } = await consoles.openAs(zone.client, place, look);
    await other.getByText(text).waitFor();
    await keepPicture(other, `zone-anti-cc-${look.language}`);
  }
});

test(
  'addresses are blocked by hand, searched, unblocked, and unblocked all at once',
  { timeout: 300_000 },
  async () => {
    const zone = await consoles.app.build.zone();
    const place = `nodeManage/zonesList/${zone.id}?tab=ipset`;
    const { page } = await consoles.openAs(zone.client, place);
    await page.getByRole('switch', { name: 'Enable the block set' }).click({ force: true });
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByLabel('Reason').fill('bots');
    await page.getByRole('button', { name: /^Publish/ }).click();
    await page.getByText('No blocked addresses').waitFor();
    await page.getByRole('button', { name: 'Block addresses' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'IP addresses' }).fill('203.0.113.7\n203.0.113.7');
    await form.getByText('duplicate IP').first().waitFor();
    await form.getByRole('textbox', { name: 'IP addresses' }).fill('203.0.113.7\n203.0.113.8\n2001:db8::5');
    await form.getByRole('button', { name: 'Block addresses' }).click();
    await page.getByText('3 of 50,000 blocked').waitFor();
    await page.getByText('2001:db8:0:0::/64').waitFor();
    await keepPicture(page, 'zone-ipset');
    await page
      .getByRole('row', { name: /203\.0\.113\.7/ })
      .getByRole('button')
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Unblock' }).click();
    await page.getByText('2 of 50,000 blocked').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('3 of 50,000 blocked').waitFor();
    await page.getByRole('row', { name: /203\.0\.113\.7/ }).waitFor();
    const looks = [
      { language: 'zh-TW', width: 1440, theme: 'light', text: '已封鎖 3 / 50,000' },
      { language: 'en', width: 390, theme: 'dark', text: '3 of 50,000 blocked' },
    ] as const;
    for (const { text, ...look } of casesOfRun(looks, looks.length, 1)) {
      const { page: other } = await consoles.openAs(zone.client, place, look);
      await other.getByText(text).waitFor();
      await keepPicture(other, `zone-ipset-${look.language}`);
    }
    await page.getByRole('button', { name: 'Empty' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Empty' }).click();
    await page.getByText('No blocked addresses').waitFor();
    const { data } = await consoles.app.as(zone.client).call(ipset.get, { params: { zoneId: zone.id } });
    expect(data).toEqual([]);
  },
);

test('all nodes that hold up the rotation of a zone key can be shown', { timeout: 300_000 }, async () => {
  const { build, installation } = consoles.app;
  const zone = await build.zone();
  const names = Array.from({ length: 25 }, (_, i) => `node ${String(i).padStart(2, '0')}`);
  await installation.db.edgeNode.createMany({
    data: names.map((name) => ({
      zoneId: zone.id,
      name,
      ip: '192.0.2.1',
      publicKey: `${zone.id} ${name}`,
      joinedAt: new Date(),
    })),
  });
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=key`);
  await page.getByText('The agents of 25 nodes are too old to change keys').waitFor();
  await page.getByText('and 5 more').waitFor();
  await expect.poll(() => page.getByText('node 20').count()).toBe(0);
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByText('node 24').waitFor();
  await expect.poll(() => page.getByText(/^node \d\d$/).count()).toBe(25);
  await keepPicture(page, 'zone-key-nodes');
  await page.context().close();
});

test('the proxy in front of a zone is chosen, corrected and published', { timeout: 300_000 }, async () => {
  const zone = await consoles.app.build.zone();
  const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=firewall`);
  await page.getByRole('combobox', { name: 'Proxy in front of the nodes' }).click();
  await page.getByRole('option', { name: 'Another proxy or load balancer' }).click();
  await page.getByLabel('Trusted networks').fill('192.0.2.0/24\n0.0.0.0/0');
  await page.getByLabel('Address header').fill('X Visitor');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('Enter an address or network, at most as wide as /8').waitFor();
  await page.getByText('Enter a header name such as X-Token').waitFor();
  await page.getByRole('combobox', { name: 'PROXY protocol ports' }).click();
  await page.getByRole('option', { name: '443', exact: true }).click();
  await page.keyboard.press('Escape');
  await page.getByText('Packets that the kernels').scrollIntoViewIfNeeded();
  await keepPicture(page, 'zone-visitor-address');
  // A hidden field is not at fault.
  const choose = async (name: string) => {
    await page.getByRole('combobox', { name: 'Proxy in front of the nodes' }).click();
    await page.getByRole('option', { name }).click();
  };
  await choose('Cloudflare');
  await expect.poll(() => page.getByLabel('Address header').count()).toBe(0);
  await choose('Another proxy or load balancer');
  await expect.poll(() => page.getByLabel('Address header').inputValue()).toBe('X-Forwarded-For');
  await page.getByLabel('Trusted networks').fill('192.0.2.0/24');
  await page.getByLabel('Address header').fill('x-forwarded-for');
  await page.getByRole('combobox', { name: 'PROXY protocol ports' }).click();
  await page.getByRole('option', { name: '443', exact: true }).click();
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('Another proxy or load balancer').waitFor();
  await keepPicture(page, 'zone-visitor-address-review');
  await page.getByLabel('Reason').fill('a balancer');
  await page.getByRole('button', { name: /^Publish/ }).click();
  await page.getByText('Published', { exact: true }).waitFor();
  await expect.poll(() => page.getByLabel('Address header').inputValue()).toBe('X-Forwarded-For');
});
