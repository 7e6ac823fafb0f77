// A customer creates modules, assigns them to a domain, and sees where they are used.
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import {
  cors,
  customHeaders,
  domainModules,
  redirects,
  tokenAuths,
} from '@edgeloom/contract/modules/modules.endpoints.ts';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { horizontalOverflow } from '../support/services/browser.ts';
import { longTest } from '../support/builders/long-run.ts';
import { startConsoles, type Consoles } from '../support/services/consoles.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { keepPicture } from '../support/assertions/screenshots.ts';

let consoles: Consoles;
beforeAll(async () => {
  consoles = await startConsoles();
}, 400_000);
afterAll(() => consoles.stop());

/** Distance of a drawer's fields from its edges, in pixels. */
const insetOf = async (page: Page) => {
  const drawer = page.getByRole('dialog');
  await drawer.locator('form').waitFor();
  return drawer.evaluate((dialog) => {
    const edge = dialog.getBoundingClientRect();
    const boxes = [...dialog.querySelectorAll('form :is(input, textarea, button, label)')]
      .map((element) => element.getBoundingClientRect())
      .filter(({ width }) => width > 0);
    return Math.min(...boxes.flatMap((box) => [box.left - edge.left, edge.right - box.right]));
  });
};

async function customer() {
  const { build } = consoles.app;
  const site = await build.site({ name: 'Shop' });
  const domain = await build.domain({ site });
  const at = `sitesManagement/sitesSetting/${site.id}/Shop`;
  return { site, domain, at, call: consoles.app.as(site.owner).call };
}

test('a header module is created, assigned to a domain, and shown on its page', async () => {
  const { site, domain, at, call } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=headers`, { language: 'en' });
  await page.getByRole('button', { name: 'Add header module' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Security');
  await page.getByLabel('Name of header 1').fill('X-Frame-Options');
  await page.getByLabel('Value of header 1').fill('DENY');
  await page.getByRole('button', { name: 'Add header', exact: true }).click();
  await page.getByLabel('Name of header 2').fill('Content-Length');
  await page.getByLabel('Value of header 2').fill('1');
  await page.getByRole('dialog').getByRole('button', { name: 'Add header module' }).click();
  await page.getByText('The edge sets this header itself').waitFor();
  await page.getByLabel('Remove header 2').click();
  await page.getByRole('radio', { name: 'Chosen domains' }).check();
  await page.getByText('A module without domains has no effect.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Add header module' }).click();
  await page.getByText('X-Frame-Options: DENY').waitFor();

  await page.getByRole('button', { name: 'Applies to no domain' }).click();
  await page.getByLabel('All current domains of the site').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: '1 domain' }).waitFor();
  const params = { ...site.params, kind: 'customHeader' as const };
  expect(await call(domainModules.list, { params })).toMatchObject({ data: [{ domainName: domain.name }] });
  await expect.poll(() => page.getByLabel('Remove Security').isDisabled()).toBe(true);

  await page.goto(`/user/${at}/${domain.name}?tab=rules`);
  const picker = page.getByRole('combobox', { name: 'Headers' });
  await eventually(async () => expect(await picker.inputValue()).toBe('Security'));
  await picker.click();
  await page.getByRole('option', { name: 'None' }).click();
  await eventually(async () => expect(await call(domainModules.list, { params })).toMatchObject({ total: 0 }));
});

test('a new module applies to all domains, or to those that have none of its kind', async () => {
  const { site, domain, at, call } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=cors`, { language: 'en' });
  const add = async (name: string) => {
    await page.getByRole('button', { name: 'Add CORS module' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Allowed origins').fill('https://app.example.com');
  };
  const submit = () => page.getByRole('dialog').getByRole('button', { name: 'Add CORS module' }).click();
  await add('First');
  await expect.poll(() => page.getByRole('radio', { name: 'All domains' }).isChecked()).toBe(true);
  await submit();
  await page.getByRole('button', { name: '1 domain' }).waitFor();

  const later = await consoles.app.build.domain({ site });
  await add('Second');
  await expect
    .poll(() => page.getByRole('radio', { name: 'Domains without a module of this kind' }).isChecked())
    .toBe(true);
  await keepPicture(page, 'new-module');
  await submit();
  await page.getByRole('heading', { name: 'Second' }).waitFor();
  const { data } = await call(domainModules.list, { params: { ...site.params, kind: 'cors' } });
  expect(Object.fromEntries(data.map(({ domainName, moduleName }) => [domainName, moduleName]))).toEqual({
    [domain.name]: 'First',
    [later.name]: 'Second',
  });
});

test('a CORS module reads as a sentence, and a conflicting edit is not lost', async () => {
  const { site, at, call } = await customer();
  const made = { name: 'App', allowOrigins: ['https://app.example.com'], allowCredentials: true };
  const { data } = await call(cors.create, { params: site.params, body: { cors: [made] } });
  const { page } = await consoles.openAs(site.owner, `${at}?view=cors`, {
    language: 'en',
    expectedErrors: /status of 412/,
  });
  await page.getByText('https://app.example.com').waitFor();
  await expect
    .poll(() => page.locator('main li li').textContent())
    .toBe('IF a script comes fromhttps://app.example.comTHENallowGET HEAD POST, with credentials, cached for 600 s');
  await page.getByLabel('Edit App').click();
  await page.getByLabel('Preflight cache time').fill('60');
  const [first] = data;
  await call(cors.update, { params: site.params, body: { cors: [{ ...made, id: first?.id ?? '', maxAge: 5 }] } });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Someone else changed this').waitFor();
});

test('a rewrite module is created in its form and reads as sentences, in order', async () => {
  const { site, at } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=rewrite`, { language: 'en' });
  await page.getByRole('button', { name: 'Add rewrite module' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Backend');
  await page.getByLabel('Path 1', { exact: true }).fill('/api');
  await page.getByLabel('New path 1').fill('https://elsewhere.example');
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByLabel('Path 2', { exact: true }).fill('/old');
  await page.getByLabel('New path 2').fill('/new');
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Add rewrite module' });
  await submit.click();
  await page.getByText('Enter a path', { exact: true }).waitFor();
  await page.getByLabel('New path 1').fill('/v2');
  await page.getByLabel('Move rule 2 up').click();
  await submit.click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await expect
    .poll(() => page.locator('main li li').allTextContents())
    .toEqual([
      'IF path is or starts with /oldTHENrequest from the origin/new/…',
      'IF path is or starts with /apiTHENrequest from the origin/v2/…',
    ]);
});

test('a module and site settings are copied to another site, with errors at their fields', async () => {
  const { site, at, call } = await customer();
  const other = await consoles.app.build.site({ name: 'Outlet', product: site.product, owner: site.owner });
  const header = { direction: 'response' as const, action: 'set' as const, name: 'X-A', value: '1' };
  await call(customHeaders.create, { params: site.params, body: { modules: [{ name: 'Mine', headers: [header] }] } });
  await call(cacheRules.create, {
    params: site.params,
    body: { rules: [{ type: 'prefix', value: ['/a/'], cacheTime: 60 }] },
  });
  const { page } = await consoles.openAs(site.owner, `${at}?view=headers`, { language: 'en' });
  const choose = async (field: string, option: string) => {
    // Selects with few options have no search input, so click the box.
    await page.getByRole('combobox', { name: field }).press('ArrowDown');
    await page.getByRole('option', { name: option }).click();
    await page.keyboard.press('Escape');
  };
  await page.getByRole('button', { name: 'Copy Mine to other sites' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByText('Required', { exact: true }).waitFor();
  await choose('Sites', 'Outlet');
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await call(customHeaders.list, { params: other.params })).toMatchObject({ data: [{ name: 'Mine' }] });

  await page.goto(`/user/${at}?view=overview`);
  await page.getByRole('button', { name: 'Copy to other sites' }).click();
  await choose('Settings', 'Cache rules');
  await choose('Sites', 'Outlet');
  await keepPicture(page, 'copy-settings');
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.waitFor({ state: 'hidden' });
  expect(await call(cacheRules.list, { params: other.params })).toMatchObject({ total: 1 });
});

test('modules are readable without write permission', async () => {
  const { site, at, call } = await customer();
  const header = { direction: 'response' as const, action: 'set' as const, name: 'X-A', value: '1' };
  await call(customHeaders.create, { params: site.params, body: { modules: [{ name: 'Mine', headers: [header] }] } });
  const sub = await consoles.app.build.subUser(site.owner, [site], {
    permissions: ['site:read', 'module:read', 'domain:read'],
  });
  const { page } = await consoles.openAs(sub, `${at}?view=headers`, { language: 'en' });
  await page.getByText('X-A: 1').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Add header module' }).count()).toBe(0);
  await expect.poll(() => page.getByLabel('Edit Mine').count()).toBe(0);
});

test('redirects are imported from a file, invalid lines first, and targets are replaced after a preview', async () => {
  const { site, at, call } = await customer();
  const module = await consoles.app.build.module(site, 'urlRedirect');
  const params = { ...site.params, moduleId: module.id };
  const look = { language: 'en' as const, expectedErrors: /status of 400/ };
  const { page } = await consoles.openAs(site.owner, `${at}?view=redirects`, look);
  await page.getByRole('link', { name: '0 redirects' }).click();
  await page.getByRole('button', { name: 'Import CSV' }).click();
  const lines = Array.from({ length: 300 }, (_, i) => `/from/${i},https://old.example.com/${i}`);
  expect(await insetOf(page)).toBeGreaterThanOrEqual(16);
  await page.getByLabel('Lines').fill(['source,target', ...lines, '/bad,javascript:1'].join('\n'));
  await page.getByText('1 line to fix.').waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Add 301 redirects' }).isDisabled()).toBe(true);
  await page.getByLabel('Lines').fill(['source,target', ...lines].join('\n'));
  await page.getByRole('button', { name: 'Add 300 redirects' }).click();
  await page.getByText('300 of 3,000').waitFor();
  await page.locator('tbody tr[data-new]:focus').waitFor();

  await page.getByRole('button', { name: 'Replace in targets' }).click();
  expect(await insetOf(page)).toBeGreaterThanOrEqual(16);
  await page.getByLabel('Find', { exact: true }).fill('https://old.example.com');
  await page.getByLabel('Replace with').fill('https://new.example.com');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('300 targets change').waitFor();
  await page.getByText('https://new.example.com/0', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change 300 targets' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const changed = await call(redirects.list, { params, query: { keyword: 'new.example.com' } });
  expect(changed.total).toBe(300);

  await page.getByRole('button', { name: 'Add redirect' }).click();
  await page.getByLabel('Source', { exact: true }).fill('/self');
  await page.getByLabel('Target', { exact: true }).fill('/self');
  await page.getByRole('dialog').getByRole('button', { name: 'Add redirect' }).click();
  await page.getByText('This would create a loop').waitFor();
});

test('a token module is created from a preset, its keys are swapped, and the tester signs URLs and explains rejections', async () => {
  const { site, at, call } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=tokens`, { language: 'en' });
  await page.getByRole('button', { name: 'Add token module' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name', { exact: true }).fill('Paid');
  await form.getByRole('combobox', { name: 'Token format' }).click();
  await page.getByRole('option', { name: 'Tencent Cloud D' }).click();
  await form.getByText('…?sign={sign}&t={time}').waitFor();
  await form.getByLabel('Key 1 of entry 1', { exact: true }).fill('one key');
  await form.getByRole('button', { name: 'Add token module' }).click();
  await expect
    .poll(() => form.getByLabel('Key 1 of entry 1', { exact: true }).getAttribute('aria-invalid'))
    .toBe('true');
  await form.getByLabel('Key 1 of entry 1', { exact: true }).fill('the-first-key');
  await form.getByRole('button', { name: 'Add a second key' }).click();
  await form.getByLabel('Key 2 of entry 1', { exact: true }).fill('the-second-key');
  await keepPicture(page, 'token-form');
  await form.getByRole('button', { name: 'Add token module' }).click();
  await page.getByLabel('Edit Paid').waitFor();
  const stored = async () => (await call(tokenAuths.list, { params: site.params })).data[0]?.auths[0]?.keys ?? [];
  const before = await stored();
  expect(before).toHaveLength(2);

  await page.getByLabel('Edit Paid').click();
  await form.getByText('Stored').first().waitFor();
  await expect.poll(() => form.innerHTML()).not.toMatch(/the-(first|second)-key/);
  await form.getByRole('button', { name: 'Make the secondary key primary' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await stored()).toEqual(before.toReversed()));

  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await form.getByLabel('URL without a token').fill('https://www.example.com/film.mp4');
  await form.getByRole('button', { name: 'Sign', exact: true }).click();
  const asked = form.getByLabel('URL that the visitor requests');
  await eventually(async () => expect(await asked.inputValue()).toMatch(/film\.mp4\?sign=[0-9a-f]{32}&t=\d{10}$/));
  await form.getByRole('button', { name: 'Check' }).click();
  await form.getByText('Signed with the key “Primary”').waitFor();
  await keepPicture(page, 'token-tester');
  await asked.fill('https://www.example.com/film.mp4');
  await form.getByRole('button', { name: 'Check' }).click();
  await form.getByText('The token is missing. Expected: sign={sign}').waitFor();
});

/** Adds rows to the lists of a page, and publishes them before they are complete. */
function incompleteRules(page: Page) {
  const isMarked = () => page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'));
  const refuse = async (button: string, field: string) => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page
      .getByText(/^(Required|Wrong format)/)
      .first()
      .waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(field);
    expect(await isMarked()).toBe('true');
  };
  const add = async (button: string) => {
    await page.getByRole('button', { name: button }).first().click();
    // The editor opens without errors on untouched fields.
    await expect.poll(() => page.locator('[aria-invalid="true"]').count()).toBe(0);
  };
  return { isMarked, refuse, add };
}

// Regression: Publish did nothing until a field had lost focus.
test('publishing an incomplete rule opens it, shows the error and focuses its field', async () => {
  const { site, at } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=cache`);
  const { isMarked, refuse, add } = incompleteRules(page);
  await add('Add rule');
  await refuse('Publish', 'Values');
  await keepPicture(page, 'rule-refused');
  await page.getByRole('button', { name: 'Close rule 1' }).click();
  await refuse('Review', 'Values');
  await page.keyboard.type('/static/');
  await page.getByRole('button', { name: 'More options' }).click();
  await page.getByRole('combobox', { name: 'Cookies', exact: true }).click();
  await page.getByRole('option', { name: 'Vary by listed cookies' }).click();
  await page.getByRole('button', { name: 'More options' }).click();
  // Regression: the field with the error was collapsed.
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect.poll(isMarked).toBe('true');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.context().close();
});

longTest('publishing an incomplete limit or header rule shows the error and focuses its field', async () => {
  const { site, domain, at } = await customer();
  const { page } = await consoles.openAs(site.owner, `${at}?view=rates`);
  const { refuse, add } = incompleteRules(page);
  await add('Add limit');
  await refuse('Publish', 'Values');
  await page.getByRole('button', { name: 'Discard' }).click();

  await page.goto(`/user/${at}/${domain.name}?tab=hotlink`);
  await add('Add referrer rule');
  await page.getByLabel('Hosts').fill('friend.example');
  await add('Add header rule');
  await refuse('Publish', 'Header');
  await page.keyboard.type('User-Agent');
  await refuse('Publish', 'Value');
  // The other list is valid but is not published alone.
  await expect.poll(() => page.getByText('2 unsaved changes').count()).toBe(1);
  await page.context().close();
});

longTest('an unpublished draft survives a reload on a phone, in the dark theme and in Chinese', async () => {
  const { site, at } = await customer();
  await consoles.app.build.cacheRule(site, { value: ['png'] });
  const look = { language: 'zh-TW', width: 390, theme: 'dark' } as const;
  const { page } = await consoles.openAs(site.owner, `${at}?view=cache`, look);
  await page.getByRole('button', { name: '新增規則' }).first().click();
  await page.reload();
  await page.getByText('已還原草稿').waitFor();
  await expect.poll(() => horizontalOverflow(page)).toBe(0);
  await keepPicture(page, 'rules-restored-dark');
  await page.context().close();
});

test('an unpublished draft survives a reload, merged with rules added by others, until discarded', async () => {
  const { site, at, call } = await customer();
  const { build } = consoles.app;
  await build.cacheRule(site, { value: ['png'] });
  const { page } = await consoles.openAs(site.owner, `${at}?view=cache`);
  const rules = page.getByRole('main').getByRole('listitem');
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByLabel('Values').fill('/static/');
  await build.cacheRule(site, { value: ['woff2'] });
  await page.reload();
  await page.getByText('Draft restored').waitFor();
  await expect.poll(() => rules.allTextContents()).toHaveLength(3);
  await expect.poll(() => rules.nth(1).textContent()).toContain('/static/');
  await expect.poll(() => rules.nth(2).textContent()).toContain('woff2');
  await keepPicture(page, 'rules-restored');
  await page.getByText('1 unsaved change').waitFor();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByText('Rules published').waitFor();
  const published = await call(cacheRules.list, { params: site.params });
  expect(published.data.map(({ value }) => value.join())).toHaveLength(3);

  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.reload();
  await page.getByText('Draft restored').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('Draft restored').waitFor({ state: 'detached' });
  await page.reload();
  await expect.poll(() => rules.count()).toBe(3);
  await expect.poll(() => page.getByText('Draft restored').count()).toBe(0);

  // A reopened drawer restores the draft and shows changes saved by others since.
  await call(customHeaders.create, {
    params: site.params,
    body: {
      modules: [{ name: 'Security', headers: [{ direction: 'response', action: 'set', name: 'X-A', value: '1' }] }],
    },
  });
  await page.goto(`/user/${at}?view=headers`);
  const open = async () => {
    await page.getByRole('button', { name: 'Add header module' }).click();
    return page.getByRole('dialog').getByLabel('Name', { exact: true });
  };
  await (await open()).fill('Privacy');
  await page.reload();
  const name = await open();
  await page.getByRole('dialog').getByText('Draft restored').waitFor();
  await expect.poll(() => name.inputValue()).toBe('Privacy');
  await keepPicture(page, 'form-restored');
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => name.inputValue()).toBe('');
  await page.reload();
  await expect.poll(async () => (await open()).inputValue()).toBe('');
  await page.context().close();
});
