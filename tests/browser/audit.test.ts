// The operation log, and conflicting edits by two people.
import { readFile } from 'node:fs/promises';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityViolations } from '../support/assertions/accessibility.ts';
import { unique } from '../support/builders/build.ts';
import { horizontalOverflow, type WindowOptions } from '../support/services/browser.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

const field = (page: Page, name: string) => page.getByRole('dialog').locator(`[name="${name}"]`);

describe('the operation log', () => {
  const rowsOf = (page: Page) => page.locator('tbody tr');

  test('describes each call in a sentence, filters, and shows the request', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    const call = consoles.app.as(zone.client).call;
    const [name, other] = [unique('renamed'), unique('zone')];
    await call(zones.update, { body: { id: zone.id, name, memo: '<b>hostile</b>' } });
    await call(zones.create, { body: { name: other } });
    await expect(call(zones.create, { body: { name: other } })).rejects.toThrow();
    const { page } = await consoles.openAs(zone.client, 'userManagement/logOperation');
    await rowsOf(page).first().waitFor();
    const texts = await rowsOf(page).allInnerTexts();
    expect(texts.map((text) => text.split('\t').slice(1, 4).join(' | '))).toEqual([
      `${zone.client.email} | Tried to add zone ${other} | Failed: Zone Name Already Exists`,
      `${zone.client.email} | Added zone ${other} | `,
      `${zone.client.email} | Changed zone ${zone.name} | `,
    ]);
    // Existing objects link to their page.
    const link = page.getByRole('link', { name: other, exact: true });
    await expect.poll(() => link.getAttribute('href')).toMatch(/^\/client\/nodeManage\/zonesList\//);

    await page.getByPlaceholder('Account or object').fill(other);
    await page.getByText('1–2 of 2').waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Result' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('1–1 of 1').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('outcome')).toBe('done');
    await expect.poll(() => rowsOf(page).innerText()).toContain(`Added zone ${other}`);

    await page.goto('/client/userManagement/logOperation?method=PUT&url=ZONE');
    await page.getByText('1–1 of 1').waitFor();
    const dialog = page.getByRole('dialog');
    // A click on the row opens it, and so does Enter.
    await rowsOf(page).locator('td').nth(1).click();
    await dialog.getByText('Zone · 1 changed').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.locator('tbody tr:focus').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByText('Zone · 1 changed').waitFor();
    await expect.poll(() => dialog.innerText()).toContain('PUT /api/v1/client/zone');
    await expect.poll(() => dialog.locator('del').allInnerTexts()).toEqual(expect.arrayContaining([zone.name]));
    await expect
      .poll(() => dialog.locator('ins').allInnerTexts())
      .toEqual(expect.arrayContaining([name, '<b>hostile</b>']));
    await keepPicture(page, 'audit-detail');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();
  });

  test(
    'shows sentence, actor and time on phone and desktop, and exports the sentence',
    { timeout: 240_000 },
    async () => {
      const { build, as } = consoles.app;
      const site = await build.site({ name: 'Glow Select' });
      const call = as(site.owner).call;
      const { params } = site;
      const upstreams = [{ address: '192.0.2.1', port: 80 }];
      const names = ['a', 'b', 'c', 'd'].map((letter) => `${letter}.${unique('glow')}.example.com`);
      const { ids } = await call(domains.create, {
        params,
        body: { domains: names.map((name) => ({ name, upstreams })) },
      });
      await call(errorPages.create, {
        params,
        body: {
          errorPages: ([403, 500, 502] as const).map((code) => ({
            code,
            type: 'content' as const,
            value: '<h1>later</h1>',
          })),
        },
      });
      await call(domains.status, { params, body: { ids: ids.slice(0, 2), enabled: false } });
      await call(purge.all, { params });
      await expect(
        call(domains.create, { params, body: { domains: [{ name: names[0] ?? '', upstreams }] } }),
      ).rejects.toThrow();

      const look: WindowOptions = { width: 390, theme: 'dark', language: 'en' };
      const phone = await consoles.openAs(site.owner, 'userManagement/logOperation', look);
      const lines = phone.page.getByRole('listitem').filter({ hasText: 'Added 3 error pages to Glow Select' });
      await lines.waitFor();
      // The time is not truncated when the line has a result.
      const failed = phone.page.getByRole('listitem').filter({ hasText: 'Failed' });
      expect(await failed.locator('time').evaluate((time) => time.getBoundingClientRect().right)).toBeLessThan(
        await failed.getByText('Failed').evaluate((pill) => pill.getBoundingClientRect().left),
      );
      await expect
        .poll(() => lines.innerText())
        .toMatch(new RegExp(`${site.owner.email}\\s+·\\s+\\d{4}/\\d{2}/\\d{2} `));
      await keepPicture(phone.page, 'audit-phone-dark');
      expect(await accessibilityViolations(phone.page)).toEqual([]);
      await phone.page.context().close();

      const desk = await consoles.openAs(site.owner, 'userManagement/logOperation', { language: 'zh-TW' });
      await rowsOf(desk.page).filter({ hasText: '新增了 3 個錯誤頁面至 Glow Select' }).waitFor();
      await keepPicture(desk.page, 'audit-desk');
      const [download] = await Promise.all([
        desk.page.waitForEvent('download'),
        desk.page.getByRole('button', { name: '匯出' }).click(),
      ]);
      const file = await readFile(await download.path(), 'utf8');
      expect(file).toContain('新增了 3 個錯誤頁面至 Glow Select');
      expect(file).toContain(`/api/v1/user/site/${site.id}/setting/errorPages`);
      await desk.page.context().close();
    },
  );

  test('has one row for an action on more rows than a call takes', { timeout: 240_000 }, async () => {
    const { build, installation, as } = consoles.app;
    const site = await build.site({ name: 'Glow Select' });
    const names = Array.from({ length: 520 }, (_, i) => `n${i}.${unique('many')}.example.com`);
    await installation.db.domain.createMany({
      data: names.map((name) => ({ siteId: site.id, name, enabled: true })),
    });
    const list = await consoles.openAs(site.owner, `sitesManagement/sitesSetting/${site.id}/x?view=domains`);
    const bulk = list.page.getByRole('toolbar', { name: 'Actions for the selected rows' });
    await list.page.getByRole('checkbox', { name: 'Select this page' }).click();
    await bulk.getByRole('button', { name: 'Select all 520 that match' }).click();
    await bulk.getByText('520 selected').waitFor();
    await bulk.getByRole('button', { name: 'Turn off' }).click();
    const dialog = list.page.getByRole('dialog');
    await dialog.getByRole('textbox').fill('520');
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await list.page.getByText('520 domains turned off').waitFor();
    await list.page.context().close();
    const others = await Promise.all(
      ['Beta', 'Gamma'].map((name) => build.site({ product: site.product, owner: site.owner, name })),
    );
    const siteIDs = others.map(({ id }) => id);
    await as(site.owner).call(copies.settings, { params: site.params, body: { siteIDs, settings: ['cache'] } });

    const { page } = await consoles.openAs(site.owner, 'userManagement/logOperation');
    const row = rowsOf(page).filter({ hasText: 'Turned off 520 domains of Glow Select' });
    await row.waitFor();
    await page.getByText('1–2 of 2').waitFor();
    await expect
      .poll(() => rowsOf(page).first().innerText())
      .toMatch(/Copied settings of Glow Select to (Beta, Gamma|Gamma, Beta)/);
    await keepPicture(page, 'audit-actions-desk');
    await row.getByRole('button').first().click();
    const detail = page.getByRole('dialog');
    await detail.getByText('Calls (2)').waitFor();
    await keepPicture(page, 'audit-action-detail');
    expect(await accessibilityViolations(page)).toEqual([]);
    await detail.getByRole('listitem').last().getByRole('button').first().click();
    await detail.getByText('Turned off 20 domains of Glow Select').waitFor();
    await page.context().close();

    const look: WindowOptions = { width: 390, theme: 'dark', language: 'zh-TW' };
    const phone = await consoles.openAs(site.owner, 'userManagement/logOperation', look);
    const line = phone.page.getByRole('listitem').filter({ hasText: '停用了 Glow Select 的 520 個網域' });
    await line.waitFor();
    await keepPicture(phone.page, 'audit-actions-phone');
    await phone.page.context().close();
  });

  test('names columns and values in words, also in the drawer of a phone', { timeout: 240_000 }, async () => {
    const { build, as } = consoles.app;
    const site = await build.site({ name: 'Glow Select' });
    const other = await build.user(site);
    const { params } = await build.domain({ site });
    const { call } = as(site.owner);
    await call(domains.https, { params, body: { scheme: 'https', portMap: [], minTLS: 'TLSv1.3' } });
    await as(site.client).call(clientSites.update, { body: { id: site.id, userID: other.id } });

    const detailOf = async (who: typeof site.owner, look: WindowOptions) => {
      const { page } = await consoles.openAs(who, 'userManagement/logOperation', look);
      const isPhone = look.width === 390;
      const row = isPhone ? page.getByRole('main').getByRole('listitem') : rowsOf(page);
      await row.first().getByRole('button').last().click();
      await page.getByRole('menuitem').first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('table').waitFor();
      return { page, dialog };
    };
    const { page, dialog } = await detailOf(site.owner, { width: 390, theme: 'dark', language: 'zh-TW' });
    const lines = dialog.getByRole('row');
    await lines.filter({ hasText: '最低 TLS 版本' }).getByText('TLSv1.3').waitFor();
    await expect.poll(() => dialog.innerText()).not.toMatch(/minTls|updatedAt/);
    await expect.poll(() => horizontalOverflow(page)).toBe(0);
    await expect.poll(() => dialog.evaluate((drawer) => drawer.scrollWidth - drawer.clientWidth)).toBe(0);
    await keepPicture(page, 'audit-detail-phone-dark');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.context().close();

    const desk = await detailOf(site.client, {});
    const customer = desk.dialog.getByRole('row').filter({ hasText: 'Customer' });
    await customer.locator('del').getByText(site.owner.email, { exact: true }).waitFor();
    await customer.locator('ins').getByText(other.email, { exact: true }).waitFor();
    await expect.poll(() => desk.dialog.getByRole('table').innerText()).not.toContain(other.id);
    await keepPicture(desk.page, 'audit-detail-customer');
    await desk.page.context().close();
  });

  test('filters by time in the reader’s time zone', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    await consoles.app.as(zone.client).call(zones.update, { body: { id: zone.id, memo: 'x' } });
    const { page } = await consoles.openAs(zone.client, 'userManagement/logOperation');
    await page.getByRole('row').filter({ hasText: 'Changed zone' }).first().waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Until' }).click();
    await page.getByLabel('Until').last().fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Nothing matches').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('endTime')).toMatch(/^20(19|20)-/);
    await page.context().close();
  });
});

describe('conflicting edits of two people', () => {
  const openForm = async (zone: Awaited<ReturnType<Consoles['app']['build']['zone']>>) => {
    // Chromium logs the refused save as an error.
    const { page } = await consoles.openAs(zone.client, 'nodeManage/zonesList', { expectedErrors: /412/ });
    await page
      .getByRole('row')
      .filter({ hasText: zone.name })
      .getByRole('button', { name: /Actions/ })
      .click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await field(page, 'memo').waitFor();
    return page;
  };

  test('show both changes, resolve them field by field, and lose nothing', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    const [first, second] = [await openForm(zone), await openForm(zone)];
    const [theirs, mine] = [unique('theirs'), unique('mine')];
    await field(first, 'name').fill(theirs);
    await field(first, 'memo').fill('their memo');
    await first.getByRole('button', { name: 'Save', exact: true }).click();
    await first.getByRole('dialog').waitFor({ state: 'hidden' });

    await field(second, 'name').fill(mine);
    await second.getByRole('button', { name: 'Save', exact: true }).click();
    const notice = second.getByRole('alert').filter({ hasText: 'Someone else changed this' });
    await notice.waitFor();
    await notice.getByText('Changed by them: Memo').waitFor();
    await expect.poll(() => field(second, 'name').inputValue()).toBe(mine);
    await expect.poll(() => field(second, 'memo').inputValue()).toBe('their memo');
    await notice.getByLabel(`Theirs: ${theirs}`).check();
    await expect.poll(() => field(second, 'name').inputValue()).toBe(theirs);
    await notice.getByLabel(`Yours: ${mine}`).check();
    expect(await accessibilityViolations(second)).toEqual([]);
    await keepPicture(second, 'two-editors');
    await second.getByRole('button', { name: 'Save', exact: true }).click();
    await second.getByRole('dialog').waitFor({ state: 'hidden' });
    const saved = await consoles.app.installation.db.zone.findUniqueOrThrow({ where: { id: zone.id } });
    expect([saved.name, saved.memo]).toEqual([mine, 'their memo']);
    for (const page of [first, second]) await page.context().close();
  });
});
