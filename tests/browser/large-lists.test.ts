// Lists, choices and counts with more entries than one page of the API has.
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unique } from '../support/builders/build.ts';
import { domainsOf, rowsOf, siteWith } from '../support/builders/domain-lists.ts';
import { longTest } from '../support/builders/long-run.ts';
import { chooseByKeyboard } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

describe('options', () => {
  // Regression: options after the thousandth could not be selected.
  test('are searched on the server, show their number, and keep the selected name', async () => {
    const site = await consoles.app.build.site();
    const { db } = consoles.app.installation;
    const zones = Array.from({ length: 1060 }, (_, i) => ({
      name: `zone ${String(i).padStart(4, '0')}`,
      clientId: site.clientId,
      keySealed: 'none',
    }));
    await db.zone.createMany({ data: zones });
    const { page } = await consoles.openAs(site.client, 'nodeManage/productsList');
    await page.locator('main header').getByRole('button', { name: 'Add product' }).click();
    const field = page.getByRole('dialog').getByRole('combobox', { name: 'Zone' });
    await field.click();
    await page.getByText(/^Type to search 1,0\d\d more$/).waitFor();
    await keepPicture(page, 'choices');
    await field.pressSequentially('1059');
    await page.getByRole('option', { name: 'zone 1059' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('zone 1059');
    await page.keyboard.press('Tab');
    await expect.poll(() => field.inputValue()).toBe('zone 1059');
    await page.context().close();
  });

  test('of a filter are searched, too, and a link shows the selected name', async () => {
    const site = await consoles.app.build.site();
    const others = Array.from({ length: 60 }, (_, i) => ({
      name: `zone ${String(i).padStart(2, '0')}`,
      clientId: site.clientId,
      keySealed: 'none',
    }));
    await consoles.app.installation.db.zone.createMany({ data: others });
    const { page } = await consoles.openAs(site.client, 'nodeManage/sitesList');
    await page.getByRole('button', { name: 'Filter' }).press('Enter');
    await chooseByKeyboard(page, 'Zone');
    const popover = page.getByRole('dialog', { name: 'Zone' });
    await popover.getByText('Type to search 11 more').waitFor();
    await popover.getByRole('textbox').fill('zone 59');
    await popover.getByRole('button', { name: 'zone 59' }).click();
    const chip = page.getByRole('button', { name: 'Zone is zone 59' });
    await chip.waitFor();
    await page.reload();
    await expect.poll(() => chip.count()).toBe(1);
    await page.context().close();
  });
});

// Lists of 500 rows were read in place of a count, a search or the one row.
describe('an installation with hundreds of zones, nodes and products', { timeout: 180_000 }, () => {
  const MANY = 510;
  async function manyZones(length = MANY) {
    const { build, installation } = consoles.app;
    const tenant = await build.client();
    const others = Array.from({ length }, (_, i) => ({
      name: `zone ${i}`,
      clientId: tenant.clientId,
      keySealed: 'none',
      createdAt: new Date(2020, 0, 1),
    }));
    await installation.db.zone.createMany({ data: others });
    return { tenant, zone: await build.zone({ tenant, name: 'Last zone' }) };
  }

  test('counts all nodes, names every zone, and finds any node for a sub-node', async () => {
    const { tenant, zone } = await manyZones();
    const { db } = consoles.app.installation;
    const name = (i: number) => `node ${String(i).padStart(3, '0')}`;
    await db.edgeNode.createMany({
      data: Array.from({ length: MANY }, (_, i) => ({ zoneId: zone.id, name: name(i), ip: '192.0.2.1' })),
    });
    const { page, browserErrors } = await consoles.openAs(tenant.client, 'nodeManage/nodesList');
    const states = page.getByRole('list', { name: 'Nodes by state' });
    await expect.poll(() => states.getByRole('listitem').allInnerTexts()).toEqual([String(MANY)]);
    await expect.poll(() => page.locator('tbody th').innerText()).toContain(`${MANY} nodes · serial`);
    await keepPicture(page, 'many-nodes');

    await page.goto(`/client/nodeManage/zonesList/${zone.id}`);
    await page.getByRole('heading', { level: 1, name: 'Last zone' }).waitFor();
    await page.goto('/client/nodeManage/zonesList/01990000-0000-7000-8000-000000000000');
    await page.getByText('This zone does not exist').waitFor();
    expect(browserErrors()).toEqual([expect.stringContaining('404')]);

    const main = await db.edgeNode.findFirstOrThrow({ where: { zoneId: zone.id, name: name(0) } });
    const taken = await db.edgeNode.findFirstOrThrow({ where: { zoneId: zone.id, name: name(1) } });
    await db.edgeNode.update({ where: { id: taken.id }, data: { parentId: main.id } });
    await page.goto(`/client/nodeManage/nodesList/${main.id}`);
    await page.getByRole('button', { name: 'Add sub-nodes' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByRole('combobox', { name: 'Nodes' });
    await field.click();
    await page.getByText(/^Type to search \d+ more$/).waitFor();
    await expect.poll(() => page.getByRole('option', { name: name(1) }).count()).toBe(0);
    await page.keyboard.type(name(MANY - 1));
    await page.getByRole('option', { name: name(MANY - 1) }).click();
    await page.keyboard.press('Escape');
    await keepPicture(page, 'many-sub-nodes');
    await dialog.getByRole('button', { name: 'Add sub-nodes' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: name(MANY - 1) }).waitFor();
    await page.context().close();
  });

  longTest('asks for the CNAME label with any product that takes one', async () => {
    const { build, installation } = consoles.app;
    const product = await build.product({ name: 'Last product' });
    await installation.db.product.update({ where: { id: product.id }, data: { cnameMode: 'custom' } });
    await installation.db.product.createMany({
      data: Array.from({ length: MANY }, (_, i) => ({
        name: `product ${i}`,
        clientId: product.clientId,
        zoneId: product.zoneId,
        createdAt: new Date(2020, 0, 1),
      })),
    });
    const { page } = await consoles.openAs(product.client, 'nodeManage/sitesList');
    await page.locator('main header').getByRole('button', { name: 'Add site' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Product' }).click();
    await page.keyboard.type('Last');
    await page.getByRole('option', { name: 'Last product' }).click();
    await expect.poll(() => dialog.getByRole('textbox', { name: 'CNAME label' }).count()).toBe(1);
    await page.context().close();
  });

  test('compares any version of a site, found by its number', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const { site, id, params } = await build.domain();
    const siteId = params.siteId;
    for (let version = await db.siteVersion.count({ where: { siteId } }); version < MANY; version += 1)
      await db.domain.update({ where: { id }, data: { tags: [String(version)] } });
    const place = `sitesManagement/sitesSetting/${siteId}/x?view=versions&from=${MANY - 1}&to=${MANY}`;
    const { page } = await consoles.openAs(site.owner, place);
    const from = page.getByRole('combobox', { name: 'From' });
    await expect.poll(() => from.inputValue()).toContain(`${MANY - 1} · `);
    await from.click();
    const choices = page.getByRole('listbox', { name: 'From' });
    await choices.getByText(`Type to search ${MANY - 50} more`).waitFor();
    await choices.getByRole('option', { name: '0 · before the first version' }).waitFor();
    await from.press('Control+a');
    await page.keyboard.type('3');
    await choices.getByRole('option', { name: /^3 · / }).waitFor();
    await keepPicture(page, 'version-choices');
    await choices.getByRole('option', { name: /^3 · / }).click();
    await page.waitForURL(/from=3&/);
    await expect.poll(() => from.inputValue()).toContain('3 · ');
    await page.getByText('Items that differ: 1').waitFor();
    await page.context().close();
  });

  longTest('compares any version of a zone, found by its number', async () => {
    const { build, installation } = consoles.app;
    const zone = await build.zone();
    const { call } = consoles.app.as(zone.client);
    const params = { zoneId: zone.id };
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    const { db } = installation;
    const { content, version: last } = await db.zoneVersion.findFirstOrThrow({
      where: { zoneId: zone.id },
      orderBy: { version: 'desc' },
    });
    const old = { zoneId: zone.id, content: content ?? {}, state: 'past', author: 'someone' };
    const data = Array.from({ length: 121 - last }, (_, i) => ({ ...old, version: last + 1 + i }));
    await db.zoneVersion.createMany({ data });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=versions&from=120&to=121`);
    const from = page.getByRole('combobox', { name: 'From' });
    await expect.poll(() => from.inputValue()).toContain('120 · ');
    await from.click();
    const choices = page.getByRole('listbox', { name: 'From' });
    await choices.getByText('Type to search 71 more').waitFor();
    await expect.poll(() => choices.getByRole('option', { name: /^3 · / }).count()).toBe(0);
    await from.press('Control+a');
    await page.keyboard.type('3');
    await choices.getByRole('option', { name: /^3 · / }).click();
    await page.waitForURL(/from=3&/);
    await expect.poll(() => from.inputValue()).toContain('3 · ');
    await page.context().close();
  });

  // Regression: the dialog knew the first thousand zones only, and showed a hundred of them.
  test('finds any zone for a create command, and says when the palette has more results', async () => {
    const { tenant } = await manyZones(1050);
    const { page } = await consoles.openAs(tenant.client, 'dashboard');
    await page.locator('main h1').waitFor();
    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type('zone 10');
    await page.getByText('Zones (first 6)').waitFor();
    await keepPicture(page, 'palette-first');
    await page.getByRole('option', { name: 'Show all Zones' }).click();
    await page.waitForURL(/zonesList\?q=zone\+10/);
    await page.getByText('1–10 of 61').waitFor();

    await page.keyboard.press('Control+k');
    await page.locator('#palette-input:focus').waitFor();
    await page.keyboard.type('> add zone port');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Which zone?' });
    const field = dialog.getByRole('combobox', { name: 'Which zone?' });
    await expect.poll(() => field.inputValue()).not.toBe('');
    await field.click();
    await page.getByText('Type to search 1,001 more').waitFor();
    await keepPicture(page, 'palette-which-zone');
    await field.press('Control+a');
    await page.keyboard.type('zone 1049');
    await page.getByRole('option', { name: 'zone 1049' }).click();
    await dialog.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('heading', { level: 1, name: 'zone 1049' }).waitFor();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Port' }).waitFor();
    await page.context().close();
  });

  test('says how many zones can be chosen at most, and names all that are', async () => {
    const { tenant } = await manyZones(1050);
    const { build, installation } = consoles.app;
    const { db } = installation;
    const zones = await db.zone.findMany({
      where: { clientId: tenant.clientId },
      orderBy: { name: 'desc' },
      take: 1000,
    });
    const sub = await build.subClient(tenant, zones);
    const { page } = await consoles.openAs(tenant.client, `userManagement/users/${sub.id}?tab=zones`);
    await page.getByText('At most 1,000 can be chosen').waitFor();
    const isNamed = (zone: { name: string } | undefined) =>
      page
        .getByText(zone?.name ?? '', { exact: true })
        .first()
        .isVisible();
    await expect.poll(() => isNamed(zones.at(-1))).toBe(true);
    await expect.poll(() => isNamed(zones.at(0))).toBe(true);
    await page.context().close();
  });

  longTest('offers any enabled domain to a simulated request', async () => {
    const site = await consoles.app.build.site();
    const names = Array.from(
      { length: 60 },
      (_, i) => `n${String(i).padStart(2, '0')}.${site.id.slice(-8)}.example.com`,
    );
    await consoles.app.installation.db.domain.createMany({
      data: names.map((name) => ({ siteId: site.id, name, enabled: true, enabledName: name })),
    });
    const { page } = await consoles.openAs(site.owner, domainsOf(site).replace('domains', 'simulate'));
    const field = page.getByRole('combobox', { name: 'URL' });
    await field.click();
    await page.getByText('Type to search 10 more').waitFor();
    await keepPicture(page, 'simulate-names');
    await page.keyboard.type('https://n59');
    await page.getByRole('option', { name: `https://${names.at(-1)}/` }).click();
    await expect.poll(() => field.inputValue()).toBe(`https://${names.at(-1)}/`);
    await page.context().close();
  });

  test('counts all running jobs of a site, and lists them page by page', async () => {
    const site = await consoles.app.build.site();
    const { db } = consoles.app.installation;
    const job = { siteId: site.id, kind: 'purgeURLs', createdBy: 'someone', endedAt: new Date(0) };
    const data = Array.from({ length: 1030 }, (_, i) => ({
      ...job,
      title: `job ${i}`,
      state: 'completed',
      createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, i)),
    }));
    await db.job.createMany({ data });
    const { page } = await consoles.openAs(site.owner, domainsOf(site));
    const tray = page.getByRole('button', { name: /^Jobs/ });
    await expect.poll(() => tray.innerText()).toMatch(/1,030/);
    await tray.click();
    const dialog = page.getByRole('dialog', { name: 'Jobs' });
    await dialog.getByText('job 1029 ·').waitFor();
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('job 1004 ·').waitFor();
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(25);
    await keepPicture(page, 'jobs-pages');
    await page.keyboard.press('Escape');
    // Regression: a running job older than 25 others was not counted.
    await db.job.updateMany({
      where: { siteId: site.id, title: 'job 0' },
      data: { state: 'processing', endedAt: null },
    });
    await page.reload();
    await expect.poll(() => page.title()).toMatch(/^\(1\) /);
    await page.getByRole('button', { name: /^Purge URLs/ }).waitFor();
    await page.context().close();
  });

  longTest('lists the sub-accounts of a site and the jobs of a node page by page', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await build.site();
    const sub = await build.subUser(site.owner, [site]);
    const { kind, clientId, parentId, roleId } = await db.account.findUniqueOrThrow({ where: { id: sub.id } });
    const name = (i: number) => `member ${String(i).padStart(3, '0')}`;
    const made = await db.account.createManyAndReturn({
      data: Array.from({ length: 30 }, (_, i) => ({
        kind,
        clientId,
        parentId,
        roleId,
        name: name(i),
        login2faType: 2,
        email: `${unique('member')}@example.com`,
      })),
    });
    await db.siteAssignment.createMany({ data: made.map(({ id }) => ({ siteId: site.id, accountId: id })) });
    const own = await consoles.openAs(site.owner, domainsOf(site).replace('domains', 'overview'));
    await own.page.getByRole('link', { name: name(0) }).waitFor();
    await expect.poll(() => own.page.getByRole('link', { name: name(29) }).count()).toBe(0);
    await keepPicture(own.page, 'site-users');
    await own.page.getByRole('button', { name: 'Next page' }).click();
    await own.page.getByRole('link', { name: name(29) }).waitFor();
    await own.page.context().close();

    const node = await build.node({ zone: site.zone });
    const job = { nodeId: node.id, kind: 'uninstall', state: 'failed', endedAt: new Date(0) };
    await db.nodeJob.createMany({
      data: Array.from({ length: 7 }, (_, i) => ({
        ...job,
        createdBy: `person ${i}`,
        createdAt: new Date(Date.UTC(2026, 0, 1, 0, i)),
      })),
    });
    const { page } = await consoles.openAs(site.client, `nodeManage/nodesList/${node.id}`);
    await page.getByText('person 6').waitFor();
    await page.getByText('person 2').waitFor();
    await expect.poll(() => page.getByText('person 1').count()).toBe(0);
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('person 0').waitFor();
    await keepPicture(page, 'node-jobs-pages');
    await page.context().close();
  });

  test('lists all domains of a module, page by page', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await siteWith(consoles, rowsOf(MANY));
    const module = await build.module(site, 'customHeader');
    const made = await db.domain.findMany({ where: { siteId: site.id }, orderBy: { name: 'asc' } });
    await db.domainModule.createMany({
      data: made.map(({ id }) => ({ domainId: id, kind: 'customHeader', moduleId: module.id })),
    });
    const { page } = await consoles.openAs(site.owner, domainsOf(site).replace('domains', 'headers'));
    await page.getByRole('button', { name: `${MANY} domains` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('10 more domains use it').waitFor();
    await dialog.getByRole('button', { name: 'Show all' }).click();
    await dialog.getByRole('link', { name: made[0]?.name ?? '', exact: true }).waitFor();
    await keepPicture(page, 'domains-of-module');
    const next = dialog.getByRole('button', { name: 'Next page' });
    for (let page = 1; page < Math.ceil(MANY / 50); page += 1) {
      await expect.poll(() => next.isEnabled()).toBe(true);
      await next.click();
    }
    await dialog.getByRole('link', { name: made.at(-1)?.name ?? '', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: made.at(-1)?.name ?? '' }).waitFor();
    await page.context().close();
  });

  longTest('has pages for the events of a certificate, and a list of its domains', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const site = await build.site();
    const certificate = await build.certificate(site, ['*.example.org'], { name: 'wild' });
    await db.certificateEvent.createMany({
      data: Array.from({ length: 130 }, (_, i) => ({
        certificateId: certificate.id,
        at: new Date(Date.UTC(2026, 0, 1, 0, i)),
        step: 'placed',
        detail: `step ${i}`,
      })),
    });
    const domain = { siteId: site.id, enabled: false, certificateId: certificate.id };
    await db.domain.createMany({
      data: Array.from({ length: 1003 }, (_, i) => ({ ...domain, name: `n${i}.example.org` })),
    });
    await build.domain({ site, name: 'other.example.net', enabled: false });
    const { page } = await consoles.openAs(site.owner, domainsOf(site).replace('domains', 'certs'));
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'wild', exact: true }).click();
    await dialog.getByText('step 129').waitFor();
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('step 0', { exact: true }).waitFor();
    await expect.poll(() => dialog.getByRole('listitem').count()).toBe(30);
    await keepPicture(page, 'certificate-events');
    await page.keyboard.press('Escape');

    await page.getByRole('row').filter({ hasText: 'wild' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Assign to domains' }).click();
    await dialog.getByText('3 more domains use this certificate and are not listed here.').waitFor();
    await dialog.getByRole('link', { name: '1,003 domains' }).click();
    await page.getByRole('button', { name: 'Certificate is wild' }).waitFor();
    await page.getByText('1–25 of 1,003').waitFor();
    await keepPicture(page, 'domains-of-certificate');
    await page.context().close();
  });

  longTest('shows how many more certificates cover the names of new domains', async () => {
    const { build } = consoles.app;
    const site = await build.site();
    const names = Array.from({ length: 104 }, (_, i) => `n${i}.${site.id.slice(-8)}.example.org`);
    for (const name of names) await build.certificate(site, [name], { name });
    await build.certificate(site, [`*.${site.id.slice(-8)}.example.org`], { name: 'wild' });
    const { page } = await consoles.openAs(site.owner, domainsOf(site, '&tab=new'), {
      expectedErrors: /status of 4\d\d/,
    });
    await page.getByRole('textbox', { name: 'Domains', exact: true }).fill(names.join('\n'));
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    await page.getByLabel('Address 1').fill('192.0.2.1');
    await next.click();
    await page.getByLabel('A certificate of this site', { exact: true }).first().click();
    await page.getByText('5 more certificates cover some of these names.').waitFor();
    await expect
      .poll(() => page.getByRole('combobox', { name: 'A certificate of this site' }).inputValue())
      .toBe('wild: 104 of 104');
    await keepPicture(page, 'certificate-choices');
    await page.context().close();
  });

  longTest('shows the first nodes that do not block, how many more there are, and all of them', async () => {
    const { build, installation } = consoles.app;
    const { db } = installation;
    const zone = await build.zone();
    const ipset = { enabled: true, timeout: 600, max: 1000 };
    await db.zone.update({ where: { id: zone.id }, data: { settings: { ipset } } });
    const names = Array.from({ length: 60 }, (_, i) => `node ${String(i).padStart(2, '0')}`);
    await db.edgeNode.createMany({
      data: names.map((name) => ({ zoneId: zone.id, name, ip: '192.0.2.1', joinedAt: new Date() })),
    });
    const made = await db.edgeNode.findMany({ where: { zoneId: zone.id }, select: { id: true } });
    const fault = 'nft: not found';
    await db.blockHolder.createMany({ data: made.map(({ id }) => ({ nodeId: id, revision: 0n, size: 0, fault })) });
    const { page } = await consoles.openAs(zone.client, `nodeManage/zonesList/${zone.id}?tab=ipset`);
    await page.getByText('and 55 more').waitFor();
    await expect.poll(() => page.getByText(fault).count()).toBe(5);
    await keepPicture(page, 'ipset-faults');
    await page.getByRole('button', { name: 'Show all nodes' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('node 49').waitFor();
    await expect.poll(() => dialog.getByText(fault).count()).toBe(50);
    await dialog.getByRole('button', { name: 'Next page' }).click();
    await dialog.getByText('node 59').waitFor();
    await expect.poll(() => dialog.getByText(fault).count()).toBe(10);
    await page.context().close();
  });

  test('offers every line there is', async () => {
    const zone = await consoles.app.build.zone();
    const { page } = await consoles.openAs(zone.client, `nodeManage/resolutionTitle?zone=${zone.id}`);
    await page.getByRole('button', { name: 'Add group' }).first().click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Lines' }).click();
    const option = page.getByRole('listbox', { name: 'Lines' }).getByRole('option', { name: 'Zambia' });
    await expect.poll(() => option.count()).toBe(1);
    await page.context().close();
  });
});
