// The operation log as people read it, and two people who edit one thing.
import { mkdir } from 'node:fs/promises';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults } from '../support/accessibility.ts';
import { unique } from '../support/build.ts';
import { startConsoles, type Consoles } from '../support/consoles.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

const field = (page: Page, name: string) => page.getByRole('dialog').locator(`[name="${name}"]`);

describe('the operation log', () => {
  test('tells who did what, narrows, and shows each change before and after', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    const call = consoles.app.as(zone.client).call;
    const name = unique('renamed');
    await call(zones.update, { body: { id: zone.id, name, memo: '<b>hostile</b>' } });
    await call(zones.create, { body: { name: unique('zone') } });
    const { page } = await consoles.openAs(zone.client, 'userManagement/logOperation');
    await page.getByRole('row').filter({ hasText: 'client/zone' }).first().waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);

    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Method' }).click();
    await page.getByRole('button', { name: 'PUT' }).click();
    await page.getByText('1–1 of 1').waitFor();
    expect(new URL(page.url()).searchParams.get('method')).toBe('PUT');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Call' }).click();
    await page.getByRole('textbox', { name: 'Call' }).fill('ZONE');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1–1 of 1').waitFor();

    await page.locator('tbody tr button').filter({ hasText: '/' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Zone · 1 changed').waitFor();
    expect(await dialog.locator('del').allInnerTexts()).toEqual(expect.arrayContaining([zone.name]));
    expect(await dialog.locator('ins').allInnerTexts()).toEqual(expect.arrayContaining([name, '<b>hostile</b>']));
    await mkdir('.data/screens', { recursive: true });
    await page.screenshot({ path: '.data/screens/audit-detail.png' });
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.context().close();
  });

  test('has a filter for a moment, by the reader’s clock', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    await consoles.app.as(zone.client).call(zones.update, { body: { id: zone.id, memo: 'x' } });
    const { page } = await consoles.openAs(zone.client, 'userManagement/logOperation');
    await page.getByRole('row').filter({ hasText: 'client/zone' }).first().waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Until' }).click();
    await page.getByLabel('Until').last().fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Nothing matches').waitFor();
    expect(new URL(page.url()).searchParams.get('endTime')).toMatch(/^20(19|20)-/);
    await page.context().close();
  });
});

describe('two people who edit one thing', () => {
  const openForm = async (zone: Awaited<ReturnType<Consoles['app']['build']['zone']>>) => {
    // The refused save is a failed request, which the browser's console tells of.
    const { page } = await consoles.openAs(zone.client, 'nodeManage/zonesList', { expects: /412/ });
    await page
      .getByRole('row')
      .filter({ hasText: zone.name })
      .getByRole('button', { name: /Actions/ })
      .click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await field(page, 'memo').waitFor();
    return page;
  };

  test('see each other’s change, choose field by field, and lose nothing', { timeout: 240_000 }, async () => {
    const zone = await consoles.app.build.zone();
    const [first, second] = [await openForm(zone), await openForm(zone)];
    const [theirs, mine] = [unique('theirs'), unique('mine')];
    await field(first, 'name').fill(theirs);
    await field(first, 'memo').fill('their memo');
    await first.getByRole('button', { name: 'Save', exact: true }).click();
    await first.getByRole('dialog').waitFor({ state: 'hidden' });

    await field(second, 'name').fill(mine);
    await second.getByRole('button', { name: 'Save', exact: true }).click();
    const notice = second.getByRole('alert').filter({ hasText: 'Somebody changed this meanwhile' });
    await notice.waitFor();
    await notice.getByText('Taken over: Memo').waitFor();
    expect(await field(second, 'name').inputValue()).toBe(mine);
    expect(await field(second, 'memo').inputValue()).toBe('their memo');
    await notice.getByLabel(`Theirs: ${theirs}`).check();
    expect(await field(second, 'name').inputValue()).toBe(theirs);
    await notice.getByLabel(`Yours: ${mine}`).check();
    expect(await accessibilityFaults(second)).toEqual([]);
    await second.screenshot({ path: '.data/screens/two-editors.png' });
    await second.getByRole('button', { name: 'Save', exact: true }).click();
    await second.getByRole('dialog').waitFor({ state: 'hidden' });
    const saved = await consoles.app.installation.db.zone.findUniqueOrThrow({ where: { id: zone.id } });
    expect([saved.name, saved.memo]).toEqual([mine, 'their memo']);
    for (const page of [first, second]) await page.context().close();
  });
});
